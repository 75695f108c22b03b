/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ordered ranges of replay/ranges.h, against an array that does the same slowly. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/ranges.h"

#define CELLS 64

static void same_as(const struct ranges *r, const uint64_t *cells)
{
	for (uint64_t i = 0; i < CELLS; i++) {
		const struct range *n = ranges_at(r, i);

		assert_int_equal(n ? n->value : 0, cells[i]);
	}
}

static size_t runs(const uint64_t *cells)
{
	size_t count = 0;

	for (size_t i = 0; i < CELLS; i++)
		count += cells[i] && (!i || cells[i - 1] != cells[i]);
	return count;
}

static void test_random_against_array(void **state)
{
	struct ranges r = { 0 }, copy = { 0 };
	uint64_t cells[CELLS] = { 0 }, seed = 12345;

	for (int i = 0; i < 20000; i++) {
		uint64_t start, end, value;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		start = (seed >> 33) % CELLS;
		end = start + (seed >> 40) % (CELLS - start + 1);
		value = (seed >> 60) % 4;
		if (value)
			assert_int_equal(ranges_set(&r, start, end, value), 0);
		else
			assert_int_equal(ranges_cut(&r, start, end), 0);
		for (uint64_t k = start; k < end; k++)
			cells[k] = value;
		same_as(&r, cells);
		assert_int_equal(r.count, runs(cells));
	}
	assert_int_equal(ranges_copy(&r, &copy), 0);
	same_as(&copy, cells);
	ranges_clear(&copy);
	ranges_clear(&r);
	assert_int_equal(r.count, 0);
}

static void test_neighbours_join(void **state)
{
	struct ranges r = { 0 };

	assert_int_equal(ranges_set(&r, 10, 20, 7), 0);
	assert_int_equal(ranges_set(&r, 30, 40, 7), 0);
	assert_int_equal(ranges_set(&r, 20, 30, 7), 0);
	assert_int_equal(r.count, 1);
	assert_true(ranges_cover(&r, 10, 40));
	assert_false(ranges_cover(&r, 9, 40));
	assert_true(ranges_overlap(&r, 0, 11));
	assert_false(ranges_overlap(&r, 0, 10));
	assert_int_equal(ranges_below(&r, 40)->start, 10);
	assert_null(ranges_below(&r, 39));
	ranges_clear(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_against_array),
		cmocka_unit_test(test_neighbours_join),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
