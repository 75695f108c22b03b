/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the figures of two sides, tests them family by family, decides. */

#include <math.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/permute.h"
#include "common/cleanup.h"

#define LEVELS "vmstat.nr_"

static const struct result *first_of(const struct side *side)
{
	return side->results[0];
}

/* An attribute of a metric, from whichever side knows it. */
static const char *unit_of(const struct comparison *c, const char *name)
{
	const char *unit = result_unit(first_of(c->a), name);

	return *unit ? unit : result_unit(first_of(c->b), name);
}

static enum result_better direction_of(const struct comparison *c, const char *name)
{
	enum result_better better = result_direction(first_of(c->a), name);

	return better != BETTER_NONE ? better : result_direction(first_of(c->b), name);
}

/* Declared before the run on both sides: one side alone could choose what suits it. */
static bool is_primary(const struct comparison *c, const char *name)
{
	return result_is_primary(first_of(c->a), name) && result_is_primary(first_of(c->b), name);
}

/*
 * Of a primary metric its own, else the group of names: what stands before '.'
 * or '/'. Levels of /proc/vmstat are apart from its counters: their
 * differences are mostly noise, and many.
 */
static void set_family(struct compared *m)
{
	size_t len = strcspn(m->name, "./");

	if (!m->primary && !strncmp(m->name, LEVELS, strlen(LEVELS))) {
		snprintf(m->family, sizeof(m->family), "levels");
		return;
	}
	if (m->primary)
		snprintf(m->family, sizeof(m->family), COMPARE_PRIMARY);
	else if (m->name[len] && strncmp(m->name, COMPARE_PRIMARY, len))
		snprintf(m->family, sizeof(m->family), "%.*s", (int)(len < 31 ? len : 31), m->name);
	else
		snprintf(m->family, sizeof(m->family), "run");
}

static double threshold_of(const struct compared *m, const struct sample *null)
{
	double spread;

	if (!null || null->n == 0) {
		spread = stats_split_spread(m->a.values, m->a.n);
	} else {
		spread = null->n > 1 ? stats_split_spread(null->values, null->n) : 0;
		if (m->a.stats.mean != 0)
			spread = fmax(spread, fabs(null->stats.mean / m->a.stats.mean - 1));
	}
	return fmax(COMPARE_SMALLEST, 2 * spread);
}

static int fill_metric(struct comparison *c, struct compared *m, const char *name, bool primary,
                       const struct side *null_side)
{
	struct sample null = { 0 };
	int r;

	m->name = name;
	m->unit = unit_of(c, name);
	m->better = direction_of(c, name);
	m->change = m->low = m->high = m->p = m->threshold = (double)NAN;
	m->primary = primary;
	set_family(m);
	r = side_sample(c->a, name, c->by_boot, &m->a);
	if (r >= 0)
		r = side_sample(c->b, name, c->by_boot, &m->b);
	if (r >= 0 && null_side)
		r = side_sample(null_side, name, null_side->boots > 1, &null);
	if (r < 0 || !m->a.n || !m->b.n)
		goto out;
	if (m->a.stats.mean == m->b.stats.mean)
		m->change = 0;
	else if (m->a.stats.mean != 0)
		m->change = (m->b.stats.mean - m->a.stats.mean) / fabs(m->a.stats.mean);
	m->threshold = threshold_of(m, null_side ? &null : NULL);
	r = stats_bootstrap_change(m->a.values, m->a.n, m->b.values, m->b.n, COMPARE_CONFIDENCE,
	                           &m->low, &m->high);
out:
	sample_clear(&null);
	return r < 0 ? r : 0;
}

static int collect(struct comparison *c, const struct side *null_side)
{
	const char *name;
	json_t *unused;
	size_t at = 0;
	int r;

	r = side_names(c->a, c->names);
	if (r >= 0)
		r = side_names(c->b, c->names);
	if (r < 0)
		return r;
	c->metrics = calloc(json_object_size(c->names) + 1, sizeof(*c->metrics));
	if (!c->metrics)
		return -ENOMEM;
	for (int primary = 1; primary >= 0; primary--)
		json_object_foreach(c->names, name, unused)
		{
			if (is_primary(c, name) != primary)
				continue;
			c->has_primary |= primary;
			c->count = at + 1;
			r = fill_metric(c, &c->metrics[at++], name, primary, null_side);
			if (r < 0)
				return r;
		}
	return 0;
}

/* Tested together: a family's metrics with the same numbers of values. */
static bool same_family(const struct compared *m, const struct compared *n)
{
	return verdict_can_test(m) && !verdict_is_exact(m) && !strcmp(m->family, n->family) &&
	       m->a.n == n->a.n && m->b.n == n->b.n;
}

static int test_family(struct comparison *c, size_t first)
{
	struct permute_input in = { .na = c->metrics[first].a.n, .nb = c->metrics[first].b.n };
	size_t width = in.na + in.nb, at = 0;
	_cleanup_free_ double *values = NULL, *adjusted = NULL;
	struct permute_info info;
	int r;

	for (size_t i = first; i < c->count; i++)
		in.metrics += same_family(&c->metrics[i], &c->metrics[first]);
	values = calloc(in.metrics * width, sizeof(*values));
	adjusted = calloc(in.metrics, sizeof(*adjusted));
	if (!values || !adjusted)
		return -ENOMEM;
	for (size_t i = first; i < c->count; i++) {
		const struct compared *m = &c->metrics[i];

		if (!same_family(m, &c->metrics[first]))
			continue;
		memcpy(values + at * width, m->a.values, in.na * sizeof(*values));
		memcpy(values + at * width + in.na, m->b.values, in.nb * sizeof(*values));
		at++;
	}
	in.values = values;
	r = permute_max_t(&in, adjusted, &info);
	if (r < 0)
		return r;
	c->exact &= info.exact;
	at = 0;
	for (size_t i = first; i < c->count; i++)
		if (same_family(&c->metrics[i], &c->metrics[first]))
			c->metrics[i].p = adjusted[at++];
	return 0;
}

static int test_all(struct comparison *c)
{
	c->exact = true;
	for (size_t i = 0; i < c->count; i++) {
		int r;

		/* Not tested yet: the first of its family. */
		if (!isnan(c->metrics[i].p) || !same_family(&c->metrics[i], &c->metrics[i]))
			continue;
		r = test_family(c, i);
		if (r < 0)
			return r;
	}
	return 0;
}

static void decide_all(struct comparison *c)
{
	bool any = false;

	for (size_t i = 0; i < c->count; i++) {
		struct compared *m = &c->metrics[i];

		verdict_decide(m, c->a, c->b);
		if (c->reasons.count) {
			m->changed = false;
			m->verdict = VERDICT_NONE;
			snprintf(m->why, sizeof(m->why), "%.150s", c->reasons.texts[0]);
		}
		any |= m->verdict != VERDICT_NONE;
		if (m->primary)
			c->withheld |= m->verdict == VERDICT_NONE && !m->changed;
		if (m->primary || !c->has_primary) {
			c->better += m->verdict == VERDICT_BETTER;
			c->worse += m->verdict == VERDICT_WORSE;
		}
	}
	c->withheld |= !any;
}

int compare_sides(struct comparison *out, const struct side *a, const struct side *b,
                  const struct compare_options *options)
{
	int r;

	*out = (struct comparison){ .a = a, .b = b };
	out->by_boot = a->boots > 1 || b->boots > 1;
	out->threshold_from = options->null_side ? "the results given with --null"
	                                         : "split halves of A";
	out->names = json_object();
	if (!out->names)
		return -ENOMEM;
	r = compat_check_side(a, options->vary, &out->reasons);
	if (r >= 0)
		r = compat_check_side(b, options->vary, &out->reasons);
	if (r >= 0)
		r = compat_check(a, b, options->vary, &out->reasons);
	if (r >= 0)
		r = collect(out, options->null_side);
	if (r >= 0)
		r = test_all(out);
	if (r >= 0)
		decide_all(out);
	return r;
}

void comparison_clear(struct comparison *c)
{
	for (size_t i = 0; i < c->count; i++) {
		sample_clear(&c->metrics[i].a);
		sample_clear(&c->metrics[i].b);
	}
	free(c->metrics);
	json_decref(c->names);
	reasons_clear(&c->reasons);
	*c = (struct comparison){ 0 };
}

const struct compared *comparison_find(const struct comparison *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (!strcmp(c->metrics[i].name, name))
			return &c->metrics[i];
	return NULL;
}
