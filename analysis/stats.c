/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of a sample. Sources are named in the header. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/random.h"
#include "analysis/stats.h"
#include "common/cleanup.h"

#define BOOTSTRAP_SEED 0x6d6d74617065626fULL
#define BOOTSTRAP_RESAMPLES 2000
/* Draws for one interval at most, and resamples at least: bounds the time for many values. */
#define BOOTSTRAP_DRAWS 1000000
#define BOOTSTRAP_LEAST 200
#define SPLIT_SEED 0x6d6d74617065736cULL
#define SPLITS 500
#define SPLITS_OF_MANY 50 /* of more than SPLIT_MANY values */
#define SPLIT_MANY 1000

static double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / (double)n;
}

struct stats stats_of(const double *values, size_t n)
{
	struct stats s = { .n = n };
	double squares = 0;

	if (n == 0)
		return s;
	s.min = s.max = values[0];
	for (size_t i = 0; i < n; i++) {
		s.min = fmin(s.min, values[i]);
		s.max = fmax(s.max, values[i]);
	}
	/* Equal values have no deviation, whatever the rounding of their sum. */
	if (s.min == s.max) {
		s.mean = s.min;
		return s;
	}
	s.mean = mean_of(values, n);
	for (size_t i = 0; i < n; i++)
		squares += (values[i] - s.mean) * (values[i] - s.mean);
	s.stddev = sqrt(squares / (double)(n - 1));
	return s;
}

double stats_percent(const struct stats *s)
{
	if (s->stddev == 0)
		return 0;
	return s->mean == 0 ? (double)INFINITY : 100 * s->stddev / fabs(s->mean);
}

double stats_percentile(const double *sorted, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t below = (size_t)at;

	if (below + 1 >= n)
		return sorted[n - 1];
	return sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]);
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void stats_sort(double *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), compare_doubles);
}

static double resampled_mean(struct random *r, const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[random_below(r, n)];
	return sum / (double)n;
}

int stats_bootstrap_change(const double *a, size_t na, const double *b, size_t nb,
                           double confidence, double *low, double *high)
{
	struct random random = { BOOTSTRAP_SEED };
	_cleanup_free_ double *changes = NULL;
	size_t n = 0, resamples = BOOTSTRAP_DRAWS / (na + nb + 1);

	if (resamples > BOOTSTRAP_RESAMPLES)
		resamples = BOOTSTRAP_RESAMPLES;
	if (resamples < BOOTSTRAP_LEAST)
		resamples = BOOTSTRAP_LEAST;
	if (na < 2 || nb < 2 || mean_of(a, na) <= 0 || mean_of(b, nb) < 0)
		return 1;
	changes = malloc(resamples * sizeof(*changes));
	if (!changes)
		return -ENOMEM;
	for (size_t i = 0; i < resamples; i++) {
		double from = resampled_mean(&random, a, na);
		double to = resampled_mean(&random, b, nb);

		/* A rare event may be drawn not at all: then there is no ratio. */
		if (from > 0)
			changes[n++] = to / from - 1;
	}
	if (n < resamples / 2)
		return 1;
	stats_sort(changes, n);
	*low = stats_percentile(changes, n, (1 - confidence) / 2);
	*high = stats_percentile(changes, n, (1 + confidence) / 2);
	return 0;
}

double stats_split_spread(const double *values, size_t n)
{
	struct stats s = stats_of(values, n);
	struct random random = { SPLIT_SEED };
	_cleanup_free_ double *order = NULL;
	unsigned splits = n > SPLIT_MANY ? SPLITS_OF_MANY : SPLITS;
	double squares = 0;

	if (n < 2)
		return (double)INFINITY;
	if (s.stddev == 0)
		return 0;
	order = malloc(n * sizeof(*order));
	if (!order || s.mean == 0)
		return (double)INFINITY;
	memcpy(order, values, n * sizeof(*order));
	for (unsigned i = 0; i < splits; i++) {
		double difference;

		random_shuffle(&random, order, n);
		difference = mean_of(order, n / 2) - mean_of(order + n / 2, n - n / 2);
		squares += difference * difference;
	}
	return sqrt(squares / splits) / fabs(s.mean);
}
