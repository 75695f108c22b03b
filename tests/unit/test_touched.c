/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of pages. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/budget.h"
#include "traces/touched.h"

static int setup(void **state)
{
	*state = calloc(1, sizeof(struct touched));
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	touched_clear(*state);
	free(*state);
	return 0;
}

static uint64_t add(struct touched *t, uint64_t first, uint64_t end)
{
	uint64_t added;

	assert_int_equal(touched_add(t, first, end, &added), 0);
	return added;
}

static void test_add_counts_new_pages(void **state)
{
	assert_int_equal(add(*state, 500, 520), 20);
	assert_int_equal(add(*state, 510, 530), 10);
	assert_int_equal(touched_total(*state), 30);
}

static void test_huge_range_takes_little_memory(void **state)
{
	size_t before = budget_taken();

	assert_int_equal(add(*state, 3, 3 + (1ULL << 40)), 1ULL << 40);
	assert_true(budget_taken() - before < 64 << 10);
	assert_int_equal(touched_count(*state, 1ULL << 39, 1ULL << 41), (1ULL << 39) + 3);
}

static void test_hole_in_a_huge_range(void **state)
{
	add(*state, 0, 1ULL << 40);
	assert_int_equal(touched_remove(*state, 1000, 2000), 0);
	assert_true(touched_has(*state, 999));
	assert_false(touched_has(*state, 1000));
	assert_false(touched_has(*state, 1999));
	assert_true(touched_has(*state, 2000));
	assert_int_equal(touched_total(*state), (1ULL << 40) - 1000);
}

static void test_full_sets_do_not_mix(void **state)
{
	struct touched other = { 0 };

	add(*state, 0, 1 << 20);
	add(&other, 0, 1 << 20);
	assert_int_equal(touched_remove(*state, 7, 8), 0);
	assert_true(touched_has(&other, 7));
	touched_clear(&other);
}

static void test_copies_do_not_mix(void **state)
{
	struct touched copy = { 0 };

	add(*state, 0, 100);
	touched_copy(*state, &copy);
	add(&copy, 5000, 5001);
	assert_int_equal(touched_remove(*state, 0, 50), 0);
	assert_int_equal(touched_total(*state), 50);
	assert_int_equal(touched_total(&copy), 101);
	touched_clear(&copy);
}

static void test_runs_come_in_order(void **state)
{
	uint64_t first, end;

	add(*state, 10, 20);
	add(*state, 511, 1025);
	add(*state, 1ULL << 50, (1ULL << 50) + 1);
	assert_true(touched_next_run(*state, 0, &first, &end));
	assert_int_equal(first, 10);
	assert_int_equal(end, 20);
	assert_true(touched_next_run(*state, end, &first, &end));
	assert_int_equal(first, 511);
	assert_int_equal(end, 1025);
	assert_true(touched_next_run(*state, end, &first, &end));
	assert_int_equal(first, 1ULL << 50);
	assert_false(touched_next_run(*state, end, &first, &end));
}

static void test_move_keeps_the_pattern(void **state)
{
	add(*state, 100, 103);
	add(*state, 200, 201);
	assert_int_equal(touched_move(*state, 100, 300, 1ULL << 30), 0);
	assert_int_equal(touched_total(*state), 4);
	assert_true(touched_has(*state, (1ULL << 30) + 2));
	assert_true(touched_has(*state, (1ULL << 30) + 100));
	assert_false(touched_has(*state, 100));
}

static void test_ends_of_the_number_range(void **state)
{
	assert_int_equal(add(*state, UINT64_MAX - 1, UINT64_MAX), 0);
	assert_int_equal(add(*state, TOUCHED_END - 1, UINT64_MAX), 1);
	assert_int_equal(add(*state, 0, TOUCHED_END), TOUCHED_END - 1);
	assert_int_equal(touched_remove(*state, 1, UINT64_MAX), 0);
	assert_int_equal(touched_total(*state), 1);
}

static void test_memory_is_given_back(void **state)
{
	size_t before;

	add(*state, 0, 1 << 20); /* full nodes are kept for good */
	touched_clear(*state);
	before = budget_taken();
	for (uint64_t i = 0; i < 1000; i++)
		add(*state, i << 20, (i << 20) + 3);
	assert_int_equal(touched_remove(*state, 0, 1000 << 20), 0);
	assert_int_equal(budget_taken(), before);
}

static void test_budget_is_a_bound(void **state)
{
	const size_t others = BUDGET_BYTES - budget_taken() - (8 << 20);
	uint64_t added;
	int r = 0;

	assert_int_equal(budget_take(others), 0);
	for (uint64_t i = 0; i < 1 << 24 && r >= 0; i++)
		r = touched_add(*state, i << 33, (i << 33) + 1, &added);
	assert_int_equal(r, -E2BIG);
	assert_true(budget_taken() <= BUDGET_BYTES);
	budget_give(others);
}

#define MODEL 4096

static void test_agrees_with_an_array(void **state)
{
	bool in[MODEL] = { false };

	srandom(1);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t first = (uint64_t)random() % MODEL, end = (uint64_t)random() % MODEL;
		uint64_t changed = 0, count = 0;
		bool set = random() % 2;

		for (uint64_t n = first; n < end; n++) {
			changed += !in[n];
			in[n] = set;
		}
		if (set)
			assert_int_equal(add(*state, first, end), changed);
		else
			assert_int_equal(touched_remove(*state, first, end), 0);
		first = (uint64_t)random() % MODEL;
		end = (uint64_t)random() % MODEL;
		for (uint64_t n = first; n < end; n++)
			count += in[n];
		assert_int_equal(touched_count(*state, first, end), count);
		assert_int_equal(touched_has(*state, first), in[first]);
	}
}

#define SET_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SET_TEST(test_add_counts_new_pages),
		SET_TEST(test_huge_range_takes_little_memory),
		SET_TEST(test_hole_in_a_huge_range),
		SET_TEST(test_full_sets_do_not_mix),
		SET_TEST(test_copies_do_not_mix),
		SET_TEST(test_runs_come_in_order),
		SET_TEST(test_move_keeps_the_pattern),
		SET_TEST(test_ends_of_the_number_range),
		SET_TEST(test_memory_is_given_back),
		SET_TEST(test_budget_is_a_bound),
		SET_TEST(test_agrees_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
