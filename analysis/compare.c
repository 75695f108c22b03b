/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Collects the figures of two sides, tests them family by family, decides. */

#include <math.h>
#include <string.h>

#include "analysis/compare.h"
#include "analysis/permute.h"
#include "common/cleanup.h"

#define LEVELS "vmstat.nr_"
#define LOCKS "lock."
/* The value of a name: a set of orders, and above it the place of the first of its metrics. */
#define ORDERS_BITS 32

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

/* "lock.zone.free.acquisitions_per_folio" belongs to "lock.acquisitions": the rates are one count.
 */
static void set_lock_family(struct compared *m)
{
	const char *measure = strrchr(m->name, '.') + 1;
	size_t len = strcspn(measure, "_");

	snprintf(m->family, sizeof(m->family), LOCKS "%.*s", (int)(len < 26 ? len : 26), measure);
}

/*
 * Of a primary metric its own, else the group of names: what stands before '.'
 * or '/'. Levels of /proc/vmstat are apart from its counters: their
 * differences are mostly noise, and many. Locks have a family per measure.
 */
static void set_family(struct compared *m)
{
	size_t len = strcspn(m->name, "./");

	if (m->primary)
		snprintf(m->family, sizeof(m->family), COMPARE_PRIMARY);
	else if (!strncmp(m->name, LEVELS, strlen(LEVELS)))
		snprintf(m->family, sizeof(m->family), "levels");
	else if (!strncmp(m->name, LOCKS, strlen(LOCKS)))
		set_lock_family(m);
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

static int fill_metric(struct comparison *c, struct compared *m, const struct metric_key *key,
                       const struct side *null_side)
{
	const char *pass_a, *pass_b;
	struct sample null = { 0 };
	int r;

	m->name = key->name;
	m->order = key->order;
	m->unit = unit_of(c, key->name);
	m->better = direction_of(c, key->name);
	m->change = m->low = m->high = m->p = m->threshold = (double)NAN;
	m->primary = is_primary(c, key->name);
	set_family(m);
	side_passes(c->a, c->b, key, &pass_a, &pass_b);
	r = side_sample(c->a, key, pass_a, c->by_boot, &m->a);
	if (r >= 0)
		r = side_sample(c->b, key, pass_b, c->by_boot, &m->b);
	if (r >= 0 && null_side)
		r = side_sample(null_side, key, pass_a, null_side->boots > 1, &null);
	if (r >= 0)
		m->shown_only = verdict_is_shown_only(m, &c->where);
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

static size_t count_keys(const struct comparison *c)
{
	const char *name;
	json_t *orders;
	size_t n = 0;

	json_object_foreach(c->names, name, orders)
		n += (size_t)__builtin_popcountll((uint64_t)json_integer_value(orders));
	return n;
}

/* The metrics of one name, by order; notes where they are. */
static int collect_name(struct comparison *c, const char *name, json_t *place,
                        const struct side *null_side)
{
	uint64_t orders = (uint64_t)json_integer_value(place);

	json_integer_set(place, (json_int_t)(orders | (uint64_t)c->count << ORDERS_BITS));
	for (int order = RESULT_NO_ORDER; order <= (int)RESULT_MAX_ORDER; order++) {
		const struct metric_key key = { name, order };
		int r;

		if (!(orders & RESULT_ORDER_BIT(order)))
			continue;
		r = fill_metric(c, &c->metrics[c->count++], &key, null_side);
		if (r < 0)
			return r;
	}
	return 0;
}

static int collect(struct comparison *c, const struct side *null_side)
{
	const char *name;
	json_t *place;
	int r;

	r = side_names(c->a, c->names);
	if (r >= 0)
		r = side_names(c->b, c->names);
	if (r < 0)
		return r;
	c->metrics = calloc(count_keys(c) + 1, sizeof(*c->metrics));
	if (!c->metrics)
		return -ENOMEM;
	for (int primary = 1; primary >= 0; primary--)
		json_object_foreach(c->names, name, place)
		{
			if (is_primary(c, name) != primary)
				continue;
			c->has_primary |= primary;
			r = collect_name(c, name, place, null_side);
			if (r < 0)
				return r;
		}
	return 0;
}

/* Tested together: a family's metrics with the same numbers of values. */
static bool same_family(const struct compared *m, const struct compared *n)
{
	return verdict_can_test(m) && !m->shown_only && !verdict_is_exact(m) &&
	       !strcmp(m->family, n->family) && m->a.n == n->a.n && m->b.n == n->b.n;
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

		verdict_decide(m, c);
		if (c->reasons.count) {
			m->changed = false;
			m->verdict = VERDICT_NONE;
			snprintf(m->why, sizeof(m->why), "%.150s", c->reasons.texts[0]);
		}
		any |= m->verdict != VERDICT_NONE;
		if (m->primary)
			c->withheld |= m->verdict == VERDICT_NONE && !m->changed && !m->shown_only;
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
	out->where = verdict_circumstances(a, b);
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

const struct compared *comparison_find(const struct comparison *c, const char *name, int order)
{
	uint64_t place = (uint64_t)json_integer_value(json_object_get(c->names, name));
	uint64_t below = place & (RESULT_ORDER_BIT(order) - 1);

	if (!(place & RESULT_ORDER_BIT(order)))
		return NULL;
	return &c->metrics[(place >> ORDERS_BITS) + (size_t)__builtin_popcountll(below)];
}
