/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of argument values. */

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "traces/event.h"

static void test_values_have_names(void **state)
{
	static const struct {
		enum arg_type type;
		uint64_t value;
		const char *text;
	} rows[] = {
		{ ARG_ADDRESS, 0x7f00dead0000, "0x7f00dead0000" },
		{ ARG_SIZE, 0x7fb000, "0x7fb000" },
		{ ARG_SIZE, 0, "0x0" },
		{ ARG_PROT, 0, "PROT_NONE" },
		{ ARG_PROT, 3, "PROT_READ|PROT_WRITE" },
		{ ARG_PROT, 0x43, "PROT_READ|PROT_WRITE|0x40" },
		{ ARG_MMAP_FLAGS, 0x22, "MAP_PRIVATE|MAP_ANONYMOUS" },
		{ ARG_MMAP_FLAGS, 0x3, "MAP_SHARED_VALIDATE" },
		{ ARG_MMAP_FLAGS, 0x20022, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_STACK" },
		{ ARG_MMAP_FLAGS, 0x20, "MAP_ANONYMOUS" },
		{ ARG_MMAP_FLAGS, 0, "0" },
		{ ARG_MMAP_FLAGS, 0x54040022, "MAP_PRIVATE|MAP_ANONYMOUS|MAP_HUGETLB|0x54000000" },
		{ ARG_MREMAP_FLAGS, 3, "MREMAP_MAYMOVE|MREMAP_FIXED" },
		{ ARG_MREMAP_FLAGS, 0, "0" },
		{ ARG_ADVICE, 4, "MADV_DONTNEED" },
		{ ARG_ADVICE, 0, "MADV_NORMAL" },
		{ ARG_ADVICE, 103, "MADV_GUARD_REMOVE" },
		{ ARG_ADVICE, 77, "0x4d" },
		{ ARG_CLONE_FLAGS, 0x1200000, "CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID" },
		{ ARG_FAULT_CODE, 6, "W|user" },
		{ ARG_FAULT_CODE, 7, "W|user|present" },
		{ ARG_FAULT_CODE, 0x14, "X|user" },
		{ ARG_FAULT_CODE, 0, "R|kernel" },
		{ ARG_FAULT_CODE, 0x8004, "R|user|0x8000" },
		{ ARG_FD, 0xffffffff, "-1" },
		{ ARG_FD, 5, "5" },
		{ ARG_TASK, 4294967295, "4294967295" },
		{ ARG_INT, (uint64_t)-1, "-1" },
		{ ARG_RESULT, (uint64_t)-12, "ENOMEM" },
		{ ARG_RESULT, (uint64_t)-512, "ERESTARTSYS" },
		{ ARG_RESULT, (uint64_t)-4000, "-4000" },
		{ ARG_RESULT, (uint64_t)-4096, "-4096" },
		{ ARG_RESULT, 42, "42" },
		{ ARG_RESULT_ADDRESS, (uint64_t)-22, "EINVAL" },
		{ ARG_RESULT_ADDRESS, 0x7f0000000000, "0x7f0000000000" },
	};
	char text[128];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t len = event_value_format(text, sizeof(text), rows[i].type, rows[i].value);

		assert_string_equal(text, rows[i].text);
		assert_int_equal(len, strlen(text));
	}
}

static void test_long_text_is_cut(void **state)
{
	char text[10];

	memset(text, 'x', sizeof(text));
	assert_int_equal(event_value_format(text, sizeof(text), ARG_CLONE_FLAGS, UINT64_MAX), 9);
	assert_string_equal(text, "CLONE_NEW");
	assert_int_equal(event_value_format(text, 1, ARG_SIZE, 7), 0);
	assert_string_equal(text, "");
	assert_int_equal(event_value_format(text, 0, ARG_SIZE, 7), 0);
}

/* The longest value there is fits into what callers use. */
static void test_every_flag_at_once_fits(void **state)
{
	char text[EVENT_VALUE_MAX];
	size_t len = event_value_format(text, sizeof(text), ARG_CLONE_FLAGS, UINT64_MAX);

	assert_true(len < sizeof(text) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_have_names),
		cmocka_unit_test(test_long_text_is_cut),
		cmocka_unit_test(test_every_flag_at_once_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
