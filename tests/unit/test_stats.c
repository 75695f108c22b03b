/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics against values worked out by hand, and the permutation test against brute force. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/permute.h"
#include "analysis/random.h"
#include "analysis/stats.h"
#include "common/cleanup.h"

static void assert_near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
		fail_msg("%.17g, not %.17g", got, want);
}

static void test_mean_and_deviation(void **state)
{
	const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct stats s = stats_of(v, ARRAY_SIZE(v));

	assert_int_equal(s.n, 8);
	assert_near(s.mean, 5);
	assert_near(s.stddev, sqrt(32.0 / 7));
	assert_near(s.min, 2);
	assert_near(s.max, 9);
	assert_near(stats_percent(&s), 20 * sqrt(32.0 / 7));
}

static void test_few_values(void **state)
{
	const double one[] = { 3 }, zeros[] = { 0, 0 }, around_zero[] = { -1, 1 };
	struct stats s = stats_of(one, 1);

	assert_near(s.mean, 3);
	assert_near(s.stddev, 0);
	s = stats_of(one, 0);
	assert_int_equal(s.n, 0);
	s = stats_of(zeros, 2);
	assert_near(stats_percent(&s), 0);
	s = stats_of(around_zero, 2);
	assert_true(isinf(stats_percent(&s)));
}

/* Their sum is not three times the value in binary; a deviation of rounding would not be one. */
static void test_equal_values_do_not_vary(void **state)
{
	const double v[] = { 0.1, 0.1, 0.1 };
	struct stats s = stats_of(v, 3);

	assert_true(s.stddev == 0 && s.mean == 0.1);
}

static void test_large_offset_keeps_deviation(void **state)
{
	const double v[] = { 1e9 + 1, 1e9 + 2, 1e9 + 3 };
	struct stats s = stats_of(v, 3);

	assert_near(s.stddev, 1);
}

static void test_percentile(void **state)
{
	double v[] = { 40, 10, 30, 20 };

	stats_sort(v, 4);
	assert_near(stats_percentile(v, 4, 0), 10);
	assert_near(stats_percentile(v, 4, 1), 40);
	assert_near(stats_percentile(v, 4, 0.5), 25);
	assert_near(stats_percentile(v, 4, 0.9), 37);
	assert_near(stats_percentile(v, 1, 0.9), 10);
}

static void test_bootstrap_interval(void **state)
{
	const double a[] = { 99, 100, 101, 100, 100, 98, 102 };
	const double b[] = { 109, 110, 111, 110, 110, 108, 112 };
	double low, high, again_low, again_high;

	assert_int_equal(stats_bootstrap_change(a, 7, b, 7, 0.99, &low, &high), 0);
	assert_true(low < 0.1 && high > 0.1 && low > 0.07 && high < 0.13);
	assert_int_equal(stats_bootstrap_change(a, 7, b, 7, 0.99, &again_low, &again_high), 0);
	assert_true(low == again_low && high == again_high);
	assert_int_equal(stats_bootstrap_change(a, 1, b, 7, 0.99, &low, &high), 1);
}

static void test_split_spread(void **state)
{
	const double equal[] = { 5, 5, 5, 5 }, two[] = { 90, 110 };

	assert_near(stats_split_spread(equal, 4), 0);
	/* The only halves are 90 and 110. */
	assert_near(stats_split_spread(two, 2), 0.2);
	assert_true(isinf(stats_split_spread(two, 1)));
}

static void test_choose(void **state)
{
	assert_int_equal(permute_choose(10, 5), 252);
	assert_int_equal(permute_choose(20, 10), 184756);
	assert_int_equal(permute_choose(5, 0), 1);
	assert_int_equal(permute_choose(4, 5), 0);
	assert_true(permute_choose(200, 100) == UINT64_MAX);
}

static void test_separated_groups_have_the_smallest_p(void **state)
{
	const double v[] = { 1.0, 1.1, 0.9, 1.05, 0.95, 2.0, 2.1, 1.9, 2.05, 1.95 };
	const struct permute_input in = { .metrics = 1, .na = 5, .nb = 5, .values = v };
	struct permute_info info;
	double p;

	assert_int_equal(permute_max_t(&in, &p, &info), 0);
	assert_true(info.exact);
	assert_int_equal(info.arrangements, 252);
	assert_near(p, 2.0 / 252);
}

static void test_no_difference_has_p_1(void **state)
{
	const double v[] = { 1, 2, 3, 1, 2, 3 };
	const struct permute_input in = { .metrics = 1, .na = 3, .nb = 3, .values = v };
	struct permute_info info;
	double p;

	assert_int_equal(permute_max_t(&in, &p, &info), 0);
	assert_near(p, 1);
}

/* The statistic by its definition, on values picked by a bit mask. */
static double naive_statistic(const double *v, size_t n, unsigned mask)
{
	double sum[2] = { 0 }, squares[2] = { 0 }, count[2] = { 0 }, all = 0, variance;

	for (size_t i = 0; i < n; i++) {
		sum[mask >> i & 1] += v[i];
		count[mask >> i & 1]++;
		all += v[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		double d = v[i] - sum[mask >> i & 1] / count[mask >> i & 1];

		squares[mask >> i & 1] += d * d;
	}
	variance = (squares[0] + squares[1]) / ((double)n - 2);
	variance = fmax(variance, pow(PERMUTE_FLOOR * all, 2));
	return fabs(sum[0] / count[0] - sum[1] / count[1]) /
	       sqrt(variance * (1 / count[0] + 1 / count[1]));
}

#define METRICS 4
#define VALUES 8

/* Step-down by its definition: hypothesis by hypothesis, over all masks with four bits. */
static void naive_max_t(const double *v, double *adjusted)
{
	bool done[METRICS] = { false };
	double least = 0;

	for (unsigned step = 0; step < METRICS; step++) {
		unsigned top = METRICS, reached = 0, all = 0;

		for (unsigned m = 0; m < METRICS; m++)
			if (!done[m] && (top == METRICS ||
			                 naive_statistic(v + m * VALUES, VALUES, 0xf0) >
			                         naive_statistic(v + top * VALUES, VALUES, 0xf0)))
				top = m;
		for (unsigned mask = 0; mask < 256; mask++) {
			double largest = 0;

			if (__builtin_popcount(mask) != 4)
				continue;
			for (unsigned m = 0; m < METRICS; m++)
				if (!done[m])
					largest = fmax(largest, naive_statistic(v + m * VALUES,
					                                        VALUES, mask));
			all++;
			reached += largest >=
			           naive_statistic(v + top * VALUES, VALUES, 0xf0) * (1 - 1e-9);
		}
		least = fmax(least, (double)reached / all);
		adjusted[top] = least;
		done[top] = true;
	}
}

static void test_agrees_with_brute_force(void **state)
{
	struct random random = { 7 };
	double v[METRICS * VALUES], got[METRICS], want[METRICS];
	const struct permute_input in = { .metrics = METRICS, .na = 4, .nb = 4, .values = v };
	struct permute_info info;

	for (unsigned round = 0; round < 20; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(v); i++)
			/* Small whole numbers, so that ties happen; one metric has an effect. */
			v[i] = 100 + (double)random_below(&random, 12) +
			       (i < VALUES && i % VALUES >= 4 ? 8 : 0);
		assert_int_equal(permute_max_t(&in, got, &info), 0);
		assert_int_equal(info.arrangements, 70);
		naive_max_t(v, want);
		for (size_t i = 0; i < METRICS; i++)
			assert_near(got[i], want[i]);
	}
}

static void test_large_groups_are_sampled(void **state)
{
	struct random random = { 11 };
	double v[80], p[2];
	const struct permute_input in = { .metrics = 2, .na = 20, .nb = 20, .values = v };
	struct permute_info info;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = (double)random_below(&random, 1000) + (i >= 20 && i < 40 ? 2000 : 0);
	assert_int_equal(permute_max_t(&in, p, &info), 0);
	assert_false(info.exact);
	assert_int_equal(info.arrangements, PERMUTE_SAMPLE + 1);
	assert_near(p[0], 1.0 / (PERMUTE_SAMPLE + 1));
	assert_true(p[1] > 0.01);
}

/* A metric that hardly varies must not reach the top by dividing by almost nothing. */
static void test_variance_floor(void **state)
{
	const double v[] = {
		1000000, 1000000, 1000000, 1000000, 1000000, 1000001, 1000001,
		1000001, 1000001, 1000001, 10,      11,      10,      12,
		11,      20,      21,      20,      22,      21,
	};
	const struct permute_input in = { .metrics = 2, .na = 5, .nb = 5, .values = v };
	struct permute_info info;
	double p[2];

	assert_int_equal(permute_max_t(&in, p, &info), 0);
	assert_near(p[1], 2.0 / 252);
	assert_true(p[0] > 0.1 || p[0] >= p[1]);
}

static void test_bad_input(void **state)
{
	const double v[] = { 1, 2, 3 };
	struct permute_info info;
	double p;

	assert_int_equal(permute_max_t(&(struct permute_input){ 0, 2, 1, v }, &p, &info), -EINVAL);
	assert_int_equal(permute_max_t(&(struct permute_input){ 1, 1, 1, v }, &p, &info), -EINVAL);
	assert_int_equal(permute_max_t(&(struct permute_input){ 1, 3, 0, v }, &p, &info), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_and_deviation),
		cmocka_unit_test(test_few_values),
		cmocka_unit_test(test_equal_values_do_not_vary),
		cmocka_unit_test(test_large_offset_keeps_deviation),
		cmocka_unit_test(test_percentile),
		cmocka_unit_test(test_bootstrap_interval),
		cmocka_unit_test(test_split_spread),
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_separated_groups_have_the_smallest_p),
		cmocka_unit_test(test_no_difference_has_p_1),
		cmocka_unit_test(test_agrees_with_brute_force),
		cmocka_unit_test(test_large_groups_are_sampled),
		cmocka_unit_test(test_variance_floor),
		cmocka_unit_test(test_bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
