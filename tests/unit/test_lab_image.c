/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel images and programs, told by their first bytes. */

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/bytes.h"
#include "replay/lab_image.h"

#define IMAGE_BYTES 4096
#define LOADFLAGS 0x211
#define XLOADFLAGS 0x236

static void make_image(uint8_t *b)
{
	memset(b, 0, IMAGE_BYTES);
	store_le16(b, 0x5a4d); /* what EFI wants */
	store_le16(b + 0x1fe, 0xaa55);
	memcpy(b + 0x202, "HdrS", 4);
	store_le16(b + 0x206, 0x020f);
	b[LOADFLAGS] = 1;
	store_le16(b + XLOADFLAGS, 0x3f);
}

static void refused(const void *bytes, size_t size, const char *part)
{
	char why[160] = "";

	assert_int_equal(lab_image_check(bytes, size, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, part));
}

static void test_image(void **state)
{
	uint8_t b[IMAGE_BYTES];
	char why[160];

	make_image(b);
	assert_int_equal(lab_image_check(b, sizeof(b), why, sizeof(why)), 0);
	store_le16(b + XLOADFLAGS, 0);
	refused(b, sizeof(b), "32-bit");
	make_image(b);
	b[LOADFLAGS] = 0;
	refused(b, sizeof(b), "too old");
	make_image(b);
	store_le16(b + 0x206, 0x0203);
	refused(b, sizeof(b), "too old");
}

/* Cut anywhere in front of the header's end it is none, and nothing behind is read. */
static void test_cut_image(void **state)
{
	uint8_t b[IMAGE_BYTES];

	make_image(b);
	refused(b, 0, "empty");
	for (size_t size = 1; size < 0x250; size++)
		refused(b, size, "HdrS");
}

static void test_other_files(void **state)
{
	refused(ELFMAG "\2\1\1", 7, "not vmlinux");
	refused("\x1f\x8b\x08 gzip", 8, "gzip");
	refused("\x28\xb5\x2f\xfd", 4, "zstd");
	refused("!<arch>\ndebian-binary", 20, "dpkg -x");
	refused("root:x:0:0:root:/root:/bin/bash\n", 32, "no x86 kernel image");
}

struct program {
	Elf64_Ehdr head;
	Elf64_Phdr parts[2];
};

static struct program make_program(void)
{
	return (struct program){
		.head = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
		                       EV_CURRENT },
		          .e_type = ET_EXEC,
		          .e_machine = EM_X86_64,
		          .e_phoff = sizeof(Elf64_Ehdr),
		          .e_phentsize = sizeof(Elf64_Phdr),
		          .e_phnum = 2 },
		.parts = { { .p_type = PT_LOAD }, { .p_type = PT_NOTE } },
	};
}

static int check(const struct program *p, size_t size, const char *part)
{
	char why[160] = "";
	int r = lab_program_check(p, size, why, sizeof(why));

	if (r < 0)
		assert_non_null(strstr(why, part));
	return r;
}

static void test_program(void **state)
{
	struct program p = make_program();

	assert_int_equal(check(&p, sizeof(p), ""), 0);
	p.head.e_type = ET_DYN; /* static and position-independent */
	assert_int_equal(check(&p, sizeof(p), ""), 0);
	p.parts[1].p_type = PT_INTERP;
	assert_int_equal(check(&p, sizeof(p), "-static"), -EBADMSG);
	p = make_program();
	p.head.e_machine = EM_AARCH64;
	assert_int_equal(check(&p, sizeof(p), "another machine"), -EBADMSG);
	p = make_program();
	p.head.e_type = ET_REL;
	assert_int_equal(check(&p, sizeof(p), "not a program"), -EBADMSG);
	p = make_program();
	p.head.e_phentsize = 1;
	assert_int_equal(check(&p, sizeof(p), "not a program"), -EBADMSG);
}

/* Segments that lie beyond the bytes are not read. */
static void test_hostile_program(void **state)
{
	struct program p = make_program();
	char why[160];

	p.head.e_phoff = UINT64_MAX - 8;
	assert_int_equal(check(&p, sizeof(p), ""), 0);
	p.head.e_phoff = sizeof(p) - 8;
	p.head.e_phnum = UINT16_MAX;
	assert_int_equal(check(&p, sizeof(p), ""), 0);
	p = make_program();
	for (size_t size = 0; size < sizeof(p.head); size++)
		assert_int_equal(check(&p, size, "no program"), -EBADMSG);
	assert_int_equal(lab_program_check("#!/bin/sh\n", 10, why, sizeof(why)), -EBADMSG);
	assert_non_null(strstr(why, "script"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_image),           cmocka_unit_test(test_cut_image),
		cmocka_unit_test(test_other_files),     cmocka_unit_test(test_program),
		cmocka_unit_test(test_hostile_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
