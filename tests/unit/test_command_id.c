/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two commands have two names, and one has always the same. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/command_id.h"

static void id_of(char *const *argv, const char *path, char out[COMMAND_ID_SIZE])
{
	assert_int_equal(command_id(argv, path, out), 0);
	assert_int_equal(strlen(out), COMMAND_ID_SIZE - 1);
	assert_int_equal(strncmp(out, "command-", 8), 0);
	assert_int_equal(strspn(out + 8, "0123456789abcdef"), 32);
}

#define ARGV(...)                                                                                  \
	((char *const *)(const char *const[]){                                                     \
		__VA_ARGS__,                                                                       \
		NULL,                                                                              \
	})

static void test_same(void **state)
{
	char a[COMMAND_ID_SIZE], b[COMMAND_ID_SIZE];

	id_of(ARGV("ls", "-l"), NULL, a);
	id_of(ARGV("ls", "-l"), NULL, b);
	assert_string_equal(a, b);
}

static void test_folder_does_not_count(void **state)
{
	char a[COMMAND_ID_SIZE], b[COMMAND_ID_SIZE];

	id_of(ARGV("/usr/bin/ls", "-l"), NULL, a);
	id_of(ARGV("./ls", "-l"), NULL, b);
	assert_string_equal(a, b);
}

static void test_arguments_count(void **state)
{
	static const char *const lines[][5] = {
		{ "ls", "-l" },     { "ls", "-l", "" },  { "ls" },        { "ls-l" },
		{ "ls", "-", "l" }, { "ls", "-l", "x" }, { "lsx", "-l" }, { "ls", "-lx" },
	};
	char ids[ARRAY_SIZE(lines)][COMMAND_ID_SIZE];

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		id_of((char *const *)lines[i], NULL, ids[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	}
}

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void test_bytes_count(void **state)
{
	char path[] = "command_id_XXXXXX", a[COMMAND_ID_SIZE], b[COMMAND_ID_SIZE];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_file(path, "one program");
	id_of(ARGV("x"), path, a);
	write_file(path, "two program");
	id_of(ARGV("x"), path, b);
	assert_string_not_equal(a, b);
	write_file(path, "one program");
	id_of(ARGV("x"), path, b);
	assert_string_equal(a, b);
	unlink(path);
}

static void test_no_such_file(void **state)
{
	char out[COMMAND_ID_SIZE];

	assert_int_equal(command_id(ARGV("x"), "no/such/file", out), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_folder_does_not_count),
		cmocka_unit_test(test_arguments_count),
		cmocka_unit_test(test_bytes_count),
		cmocka_unit_test(test_no_such_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
