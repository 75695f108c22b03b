/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded calls as operations of one task, at translated addresses. */

#include "tests/unit/compile_sample.h"

static void test_map_touch_unmap(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 3 * PAGE);
	WRITE(&s, 7, BASE);
	READ(&s, 7, BASE + 2 * PAGE);
	UNMAP(&s, 7, BASE, 3 * PAGE);
	EXIT(&s, 7);
	compile_well(&s);
	expect(&s, 0, "mmap 0 3000 /3; touch 0 /1; touch 2000; munmap 0 3000; exit");
	assert_int_equal(counts(&s)->operations, 5);
	assert_int_equal(counts(&s)->calls[CALL_MMAP], 1);
	assert_int_equal(counts(&s)->touches, 2);
	assert_int_equal(counts(&s)->peak_bytes, 2 * PAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_touch_unmap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
