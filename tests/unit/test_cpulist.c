/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of cpus. */

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/cpulist.h"

static void test_list(void **state)
{
	const uint32_t want[] = { 0, 1, 2, 3, 6, 4 };
	uint32_t *cpus = NULL, count = 0;

	assert_int_equal(cpulist_parse("0-3,6,4", &cpus, &count), 0);
	assert_int_equal(count, ARRAY_SIZE(want));
	assert_memory_equal(cpus, want, sizeof(want));
	free(cpus);
}

static void test_nonsense(void **state)
{
	const char *const bad[] = { "",   "a",    "1,",  "3-1",        "-1",
		                    "1-", "1024", "0 1", "4294967296", "0-1023,0" };
	uint32_t *cpus = NULL, count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(cpulist_parse(bad[i], &cpus, &count), -EINVAL);
	assert_null(cpus);
}

static void test_allowed(void **state)
{
	const uint32_t cpus[] = { (uint32_t)sched_getcpu(), CPULIST_MAX - 1 };
	uint32_t missing = 0;

	assert_int_equal(cpulist_check_allowed(cpus, 1, &missing), 0);
	assert_int_equal(cpulist_check_allowed(cpus, 2, &missing), -ENODEV);
	assert_int_equal(missing, CPULIST_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_allowed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
