/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes of folios to sweep. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/sweep.h"

static void test_sizes(void **state)
{
	struct sweep sweep;

	assert_int_equal(sweep_parse("16k,2m,64k", &sweep), 0);
	assert_int_equal(sweep.count, 3);
	assert_int_equal(sweep.orders[0], 2);
	assert_int_equal(sweep.orders[1], 9);
	assert_int_equal(sweep.orders[2], 4);
	assert_int_equal(sweep_parse("1M", &sweep), 0);
	assert_int_equal(sweep.orders[0], 8);
}

static void test_nonsense(void **state)
{
	const char *const bad[] = { "",        ",",   "16k,", "4k",
		                    "8k",      "24k", "4m",   "16k,16k",
		                    "16k;32k", "2m ", "-16k", "18446744073709551616k" };
	struct sweep sweep;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(sweep_parse(bad[i], &sweep), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
