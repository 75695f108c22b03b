/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The map of 64-bit keys. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/map.h"

static void test_empty_map_finds_nothing(void **state)
{
	struct map m = { 0 };

	assert_null(map_find(&m, 0));
	map_remove(&m, 7);
	map_clear(&m);
}

static void test_set_replaces(void **state)
{
	struct map m = { 0 };

	assert_int_equal(map_set(&m, 5, 1), 0);
	assert_int_equal(map_set(&m, 5, 2), 0);
	assert_int_equal(*map_find(&m, 5), 2);
	assert_int_equal(m.count, 1);
	map_clear(&m);
}

static void test_place_says_whether_it_added(void **state)
{
	struct map m = { 0 };
	uint64_t *value;
	bool added;

	assert_int_equal(map_place(&m, 5, &value, &added), 0);
	assert_true(added);
	*value = 9;
	assert_int_equal(map_place(&m, 5, &value, &added), 0);
	assert_false(added);
	assert_int_equal(*value, 9);
	map_clear(&m);
}

static void test_next_walks_all(void **state)
{
	struct map m = { 0 };
	const struct map_entry *e;
	uint64_t sum = 0;
	size_t i = 0;

	for (uint64_t key = 1; key <= 100; key++)
		assert_int_equal(map_set(&m, key, key * 2), 0);
	while ((e = map_next(&m, &i)))
		sum += e->value;
	assert_int_equal(sum, 2 * 5050);
	map_clear(&m);
}

/* Against a plain array, so that removal in the middle of probe runs is met often. */
static void test_agrees_with_an_array(void **state)
{
	struct map m = { 0 };
	uint64_t values[256] = { 0 };
	size_t count = 0;

	srandom(1);
	for (unsigned i = 1; i < 200000; i++) {
		unsigned key = (unsigned)random() % 256;

		if (random() % 2) {
			count += !values[key];
			values[key] = i;
			assert_int_equal(map_set(&m, key << 20, i), 0);
		} else {
			count -= values[key] != 0;
			values[key] = 0;
			map_remove(&m, key << 20);
		}
		assert_int_equal(m.count, count);
		key = (unsigned)random() % 256;
		assert_int_equal(map_find(&m, key << 20) ? *map_find(&m, key << 20) : 0,
		                 values[key]);
	}
	map_clear(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_map_finds_nothing),
		cmocka_unit_test(test_set_replaces),
		cmocka_unit_test(test_place_says_whether_it_added),
		cmocka_unit_test(test_next_walks_all),
		cmocka_unit_test(test_agrees_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
