/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Step-down max-T. Sum and sum of squares of a metric do not depend on the
 * arrangement, so an arrangement's statistic follows from the sum of its group a:
 * within = total - between. Values are centred first; that keeps the
 * differences exact enough, and ties are told with a relative tolerance.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/permute.h"
#include "analysis/random.h"
#include "common/cleanup.h"

#define SEED 0x6d6d746170657065ULL
#define TIE 1e-9

struct permuter {
	const struct permute_input *in;
	size_t n;
	double *centred; /* as in->values, each row with mean 0 */
	double *total; /* sum of squares of each centred row */
	double *floor; /* least pooled variance of each row */
	double *observed; /* statistics of the real arrangement */
	size_t *rank; /* metrics, largest observed statistic first */
	uint64_t *reached; /* by rank: arrangements whose maximum over the ranks from here on
	                      reaches the observed statistic */
	size_t *members; /* indices of group a in the current arrangement */
};

uint64_t permute_choose(uint64_t n, uint64_t k)
{
	unsigned __int128 c = 1;

	if (k > n)
		return 0;
	if (k > n - k)
		k = n - k;
	for (uint64_t i = 1; i <= k; i++) {
		c = c * (n - k + i) / i;
		if (c > UINT64_MAX)
			return UINT64_MAX;
	}
	return (uint64_t)c;
}

static double statistic(const struct permuter *p, size_t metric)
{
	const double *row = p->centred + metric * p->n;
	double na = (double)p->in->na, nb = (double)p->in->nb, sum = 0, between, variance;

	for (size_t i = 0; i < p->in->na; i++)
		sum += row[p->members[i]];
	/* The row sums to 0, so group b's sum is -sum. */
	between = sum * sum * (1 / na + 1 / nb);
	variance = fmax(0, p->total[metric] - between) / (na + nb - 2);
	variance = fmax(variance, p->floor[metric]);
	if (variance == 0)
		return 0;
	return fabs(sum) * (1 / na + 1 / nb) / sqrt(variance * (1 / na + 1 / nb));
}

static void count_arrangement(struct permuter *p)
{
	double largest = 0;

	for (size_t i = p->in->metrics; i-- > 0;) {
		size_t metric = p->rank[i];

		largest = fmax(largest, statistic(p, metric));
		if (largest >= p->observed[metric] * (1 - TIE))
			p->reached[i]++;
	}
}

/* The next combination in lexicographic order; false behind the last. */
static bool next_combination(size_t *members, size_t k, size_t n)
{
	size_t i = k;

	while (i > 0 && members[i - 1] == n - k + i - 1)
		i--;
	if (i == 0)
		return false;
	members[i - 1]++;
	for (; i < k; i++)
		members[i] = members[i - 1] + 1;
	return true;
}

/* Group a becomes any k of n, each equally likely: the first steps of a shuffle. */
static void random_combination(struct random *r, size_t *items, size_t k, size_t n)
{
	for (size_t i = 0; i < k; i++) {
		size_t at = i + random_below(r, n - i), kept = items[i];

		items[i] = items[at];
		items[at] = kept;
	}
}

static void run_arrangements(struct permuter *p, struct permute_info *info)
{
	struct random random = { SEED };
	uint64_t all = permute_choose(p->n, p->in->na);
	double affordable = PERMUTE_WORK / ((double)p->in->metrics * (double)p->in->na);
	uint64_t sample = (uint64_t)fmax(PERMUTE_LEAST, fmin(PERMUTE_SAMPLE, affordable));

	info->exact = all <= PERMUTE_ENUMERATE && (double)all <= affordable;
	info->arrangements = info->exact ? all : sample + 1;
	/* The first one is the real one, in both cases. */
	count_arrangement(p);
	if (info->exact) {
		while (next_combination(p->members, p->in->na, p->n))
			count_arrangement(p);
		return;
	}
	for (uint64_t i = 0; i < sample; i++) {
		random_combination(&random, p->members, p->in->na, p->n);
		count_arrangement(p);
	}
}

static void centre_row(struct permuter *p, size_t metric)
{
	const double *from = p->in->values + metric * p->n;
	double *to = p->centred + metric * p->n;
	double mean = 0, least, total = 0;

	for (size_t i = 0; i < p->n; i++)
		mean += from[i] / (double)p->n;
	for (size_t i = 0; i < p->n; i++) {
		to[i] = from[i] - mean;
		total += to[i] * to[i];
	}
	least = PERMUTE_FLOOR * fabs(mean);
	p->total[metric] = total;
	p->floor[metric] = least * least;
}

static void rank_metrics(struct permuter *p)
{
	/* By insertion: families have at most some hundreds of metrics. */
	for (size_t i = 0; i < p->in->metrics; i++) {
		size_t at = i;

		while (at > 0 && p->observed[p->rank[at - 1]] < p->observed[i]) {
			p->rank[at] = p->rank[at - 1];
			at--;
		}
		p->rank[at] = i;
	}
}

static void adjust(const struct permuter *p, const struct permute_info *info, double *adjusted)
{
	double least = 0;

	for (size_t i = 0; i < p->in->metrics; i++) {
		least = fmax(least, (double)p->reached[i] / (double)info->arrangements);
		adjusted[p->rank[i]] = least;
	}
}

int permute_max_t(const struct permute_input *in, double *adjusted, struct permute_info *info)
{
	size_t n = in->na + in->nb, metrics = in->metrics;
	_cleanup_free_ double *centred = NULL, *rows = NULL;
	_cleanup_free_ size_t *rank = NULL, *members = NULL;
	_cleanup_free_ uint64_t *reached = NULL;
	struct permuter p = { .in = in, .n = n };

	if (metrics == 0 || in->na == 0 || in->nb == 0 || n < 3)
		return -EINVAL;
	p.centred = centred = calloc(metrics * n, sizeof(*centred));
	p.total = rows = calloc(metrics * 3, sizeof(*rows));
	p.rank = rank = calloc(metrics, sizeof(*rank));
	p.reached = reached = calloc(metrics, sizeof(*reached));
	p.members = members = calloc(n, sizeof(*members));
	if (!centred || !rows || !rank || !reached || !members)
		return -ENOMEM;
	p.floor = rows + metrics;
	p.observed = rows + metrics * 2;
	for (size_t i = 0; i < n; i++)
		members[i] = i;
	for (size_t i = 0; i < metrics; i++) {
		centre_row(&p, i);
		p.observed[i] = statistic(&p, i);
	}
	rank_metrics(&p);
	run_arrangements(&p, info);
	adjust(&p, info, adjusted);
	return 0;
}
