/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Archives for a guest, read back field by field. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "replay/lab_cpio.h"

#define HEAD 110

enum field { INODE, MODE, UID, GID, LINKS, MTIME, SIZE, DEVICE, DEVICE2, MAJOR, MINOR, NAME_SIZE };

static unsigned long field(const char *head, enum field f)
{
	char text[9] = "";

	memcpy(text, head + 6 + 8 * f, 8);
	return strtoul(text, NULL, 16);
}

struct archive {
	char *bytes;
	size_t size, at;
};

/* The next entry: its head and contents; checks what all have in common. */
static const char *next(struct archive *a, const char *name, const char **contents)
{
	const char *head = a->bytes + a->at;
	size_t length;

	assert_true(a->at + HEAD <= a->size);
	assert_memory_equal(head, "070701", 6);
	length = field(head, NAME_SIZE);
	assert_int_equal(length, strlen(name) + 1);
	assert_string_equal(head + HEAD, name);
	a->at = align_up(a->at + HEAD + length, 4);
	*contents = a->bytes + a->at;
	a->at = align_up(a->at + field(head, SIZE), 4);
	assert_true(a->at <= a->size);
	assert_int_equal(field(head, UID), 0);
	assert_int_equal(field(head, MTIME), 0);
	return head;
}

static int file_of(const char *text)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static void test_all_kinds(void **state)
{
	struct archive a = { 0 };
	FILE *f = open_memstream(&a.bytes, &a.size);
	struct lab_cpio c = { .to = f };
	_cleanup_close_ int fd = file_of("seven..");
	const char *head, *contents;

	assert_int_equal(lab_cpio_folder(&c, "dev"), 0);
	assert_int_equal(lab_cpio_device(&c, "dev/console", 5, 1), 0);
	assert_int_equal(lab_cpio_bytes(&c, "note", 0644, "abc", 3), 0);
	assert_int_equal(lab_cpio_bytes(&c, "none", 0600, NULL, 0), 0);
	assert_int_equal(lab_cpio_file(&c, "init", 0755, fd, 7), 0);
	assert_int_equal(lab_cpio_end(&c), 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(a.size, c.bytes);

	head = next(&a, "dev", &contents);
	assert_int_equal(field(head, MODE), S_IFDIR | 0755);
	head = next(&a, "dev/console", &contents);
	assert_int_equal(field(head, MODE), S_IFCHR | 0600);
	assert_int_equal(field(head, MAJOR), 5);
	assert_int_equal(field(head, MINOR), 1);
	head = next(&a, "note", &contents);
	assert_int_equal(field(head, MODE), S_IFREG | 0644);
	assert_int_equal(field(head, SIZE), 3);
	assert_memory_equal(contents, "abc", 3);
	head = next(&a, "none", &contents);
	assert_int_equal(field(head, SIZE), 0);
	head = next(&a, "init", &contents);
	assert_int_equal(field(head, MODE), S_IFREG | 0755);
	assert_memory_equal(contents, "seven..", 7);
	assert_int_equal(field(head, INODE), 5);
	next(&a, "TRAILER!!!", &contents);
	assert_int_equal(a.at, a.size);
	free(a.bytes);
}

/* A file that shrank while it was read must not become an archive that lies. */
static void test_short_file(void **state)
{
	char *bytes = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&bytes, &size);
	struct lab_cpio c = { .to = f };
	_cleanup_close_ int fd = file_of("short");

	assert_int_equal(lab_cpio_file(&c, "init", 0755, fd, 6), -EIO);
	fclose(f);
	free(bytes);
}

static void test_limits(void **state)
{
	_cleanup_fclose_ FILE *full = fopen("/dev/full", "w");
	struct lab_cpio c = { .to = full };
	_cleanup_close_ int fd = file_of("x");
	int r = 0;

	assert_non_null(full);
	assert_int_equal(lab_cpio_file(&c, "init", 0755, fd, UINT64_C(1) << 32), -EFBIG);
	for (int i = 0; i < 1000 && r >= 0; i++)
		r = lab_cpio_folder(&c, "dev");
	assert_int_equal(r, -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_kinds),
		cmocka_unit_test(test_short_file),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
