/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who came from whom. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/descendants.h"

static void test_stat(void **state)
{
	struct descendant d;

	assert_int_equal(descendants_parse_stat("12 (sh) S 7 12 12 0 -1", &d), 0);
	assert_int_equal(d.pid, 12);
	assert_int_equal(d.parent, 7);
}

static void test_name_like_a_line(void **state)
{
	struct descendant d;

	assert_int_equal(descendants_parse_stat("12 (a) R 99 (b c) Z 7 12", &d), 0);
	assert_int_equal(d.parent, 7);
}

static void test_nonsense(void **state)
{
	static const char *const bad[] = { "",          "12",         "12 (sh",    "(sh) S 7",
		                           "12 (sh) S", "x (sh) S 7", "0 (sh) S 7" };
	struct descendant d;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(descendants_parse_stat(bad[i], &d), -EINVAL);
}

static void test_generations_in_any_order(void **state)
{
	/* 100 is the root; 3 came from 4, 4 from 5, 5 from 100. */
	struct descendant all[] = { { 3, 4 },   { 4, 5 },   { 100, 1 },  { 1, 0 },
		                    { 200, 1 }, { 5, 100 }, { 201, 200 } };
	size_t found = descendants_select(all, ARRAY_SIZE(all), 100);

	assert_int_equal(found, 3);
	for (size_t i = 0; i < found; i++)
		assert_true(all[i].pid >= 3 && all[i].pid <= 5);
}

static void test_nobody(void **state)
{
	struct descendant all[] = { { 1, 0 }, { 100, 1 } };

	assert_int_equal(descendants_select(all, ARRAY_SIZE(all), 100), 0);
	assert_int_equal(descendants_select(all, 0, 100), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stat),     cmocka_unit_test(test_name_like_a_line),
		cmocka_unit_test(test_nonsense), cmocka_unit_test(test_generations_in_any_order),
		cmocka_unit_test(test_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
