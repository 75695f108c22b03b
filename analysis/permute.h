/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which metrics of a family differ between two groups of runs, with the chance
 * of even one false finding in the whole family bounded: the step-down max-T
 * permutation test (Westfall and Young, "Resampling-based multiple testing",
 * Wiley 1993, algorithm 4.1; step-down form as in Ge, Dudoit and Speed, TEST
 * 2003, box 4). It assumes no distribution, only that without an effect a run
 * could as well have been in the other group; dependence between metrics is
 * taken into account because all are permuted together.
 *
 * Statistic: |difference of means| over the pooled standard deviation times
 * sqrt(1/na + 1/nb), two-sided. The deviation is not taken below 0.1% of the
 * metric's mean, so that a metric which happens not to vary does not drown the
 * others; the floor is the same for every arrangement, which keeps the test exact.
 *
 * All arrangements are enumerated when they are at most PERMUTE_ENUMERATE (10
 * against 10 have 184,756); otherwise PERMUTE_SAMPLE random ones with a fixed
 * seed are used and the observed one is counted among them (Phipson and Smyth
 * 2010). Families of very many values get fewer, PERMUTE_LEAST at the least, so
 * that no input takes more than a quarter of a minute.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define PERMUTE_ENUMERATE 200000u
#define PERMUTE_SAMPLE 50000u
#define PERMUTE_LEAST 999u
#define PERMUTE_WORK 500000000.0 /* additions */
#define PERMUTE_FLOOR 0.001

struct permute_input {
	size_t metrics;
	size_t na, nb; /* values of group a and b, at least 1 each, and 3 together */
	const double *values; /* metrics rows of na + nb values, group a first */
};

struct permute_info {
	bool exact;
	uint64_t arrangements;
};

/* adjusted gets one p per metric. -ENOMEM, -EINVAL. */
int permute_max_t(const struct permute_input *in, double *adjusted,
                  struct permute_info *info) _must_check_ _nonnull_;

/* n over k, or UINT64_MAX if it is more than that. */
uint64_t permute_choose(uint64_t n, uint64_t k);
