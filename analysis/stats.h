/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of a sample. Pure; every function takes finite numbers only. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct stats {
	size_t n;
	double mean;
	double stddev; /* of a sample, n - 1 in the denominator; 0 for one value */
	double min, max;
};

/* All zeros for n = 0. */
struct stats stats_of(const double *values, size_t n);

/* 100 stddev / |mean|; 0 where both are 0, INFINITY where only the mean is. */
double stats_percent(const struct stats *s) _nonnull_;

/*
 * The value that a fraction q (0 … 1) of the sorted values does not exceed,
 * interpolated between neighbours (Hyndman and Fan 1996, type 7). n at least 1.
 */
double stats_percentile(const double *sorted, size_t n, double q) _nonnull_;

void stats_sort(double *values, size_t n);

/*
 * An interval that holds the relative change mean(b) / mean(a) - 1 with the
 * given confidence: percentile bootstrap, both sides drawn anew with
 * replacement (Efron, "Bootstrap methods: another look at the jackknife",
 * Annals of Statistics 1979), a fixed seed. It is too narrow for few values,
 * as every such interval is. 1: none, because a mean is not above 0 or there
 * are fewer than two values a side; -ENOMEM.
 */
int stats_bootstrap_change(const double *a, size_t na, const double *b, size_t nb,
                           double confidence, double *low, double *high) _must_check_ _nonnull_;

/*
 * How far the same thing is from itself: the root mean square of the relative
 * difference between the means of two random halves of the values, over a fixed
 * set of splits. INFINITY for fewer than two values or a mean of 0 with spread.
 */
double stats_split_spread(const double *values, size_t n) _nonnull_;
