/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Buckets of latencies. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "replay/state.h"

static void test_floor_is_in_its_bucket(void **state)
{
	for (unsigned b = 0; b < LATENCY_BUCKETS; b++)
		assert_int_equal(state_latency_bucket(state_latency_floor(b)), b);
}

static void test_buckets_have_no_gaps(void **state)
{
	for (unsigned b = 1; b < LATENCY_BUCKETS; b++)
		assert_int_equal(state_latency_bucket(state_latency_floor(b) - 1), b - 1);
}

static void test_error_is_at_most_an_eighth(void **state)
{
	for (uint64_t ns = 8; ns < 1ULL << 33; ns = ns * 9 / 8 + 1) {
		uint64_t floor = state_latency_floor(state_latency_bucket(ns));

		assert_true(floor <= ns);
		assert_true(ns - floor <= ns / 8);
	}
}

static void test_largest_values_share_the_last(void **state)
{
	assert_int_equal(state_latency_bucket(UINT64_MAX), LATENCY_BUCKETS - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_floor_is_in_its_bucket),
		cmocka_unit_test(test_buckets_have_no_gaps),
		cmocka_unit_test(test_error_is_at_most_an_eighth),
		cmocka_unit_test(test_largest_values_share_the_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
