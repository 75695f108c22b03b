/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the formats of diff share: rows, their order and figures. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff_format.h"
#include "common/cleanup.h"

/* Without enough repetitions for a threshold, changes above this are shown. */
#define SHOWN_ANYWAY 0.05

static double change_weight(const struct compared *m)
{
	if (!isnan(m->change))
		return fabs(m->change);
	return m->a.n && m->b.n && m->a.stats.mean != m->b.stats.mean ? (double)INFINITY : 0;
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static bool is_lock(const struct compared *m)
{
	return starts(m->name, "lock.");
}

/* Of a lock's name what stands before the measure. */
static size_t role_length(const struct compared *m)
{
	return is_lock(m) ? (size_t)(strrchr(m->name, '.') - m->name) : 0;
}

size_t diff_heading(const struct compared *m)
{
	return m->order != RESULT_NO_ORDER ? strlen(m->name) : role_length(m);
}

const char *diff_unit(const struct compared *m)
{
	return !strcmp(m->unit, m->name) || (is_lock(m) && starts(m->unit, "per ")) ? "" : m->unit;
}

const char *diff_verdict(const struct compared *m, const char *none)
{
	if (!m)
		return "";
	if (m->verdict == VERDICT_NONE)
		return m->changed ? "changed" : none;
	return verdict_name(m->verdict);
}

/* What a role is looked at for: one line each, also when it is the same. */
static bool is_role_line(const struct compared *m)
{
	static const char *const measures[] = { "acquisitions_per_", "contentions", "wait",
		                                "share" };
	const char *role = m->name + strlen("lock."), *measure = strrchr(m->name, '.') + 1;

	/* Parts of a role have more dots. A lock that nobody took is not worth a line. */
	if (!is_lock(m) || strchr(role, '.') != measure - 1 ||
	    (m->a.stats.max == 0 && m->b.stats.max == 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(measures); i++)
		if (starts(measure, measures[i]))
			return true;
	return false;
}

static bool cell_matters(const struct compared *m)
{
	double enough = isfinite(m->threshold) ? m->threshold : SHOWN_ANYWAY;

	if (m->changed || m->primary || is_role_line(m))
		return true;
	/* Withheld: what the test would have found, or what is large where there was none. */
	return m->verdict == VERDICT_NONE && !m->shown_only && change_weight(m) > enough &&
	       !(m->p > COMPARE_LEVEL);
}

/* Whether this comparison has the metric whose name ends in `other` instead of `end`. */
static bool has_instead(const struct comparison *c, const struct compared *m, const char *end,
                        const char *other)
{
	char name[RESULT_MAX_NAME + 32];
	size_t len = strlen(m->name), cut = strlen(end);

	if (len < cut || strcmp(m->name + len - cut, end))
		return false;
	snprintf(name, sizeof(name), "%.*s%s", (int)(len - cut), m->name, other);
	return comparison_find(c, name, m->order) != NULL;
}

/* The same count as a rate says more, and between folio orders only the one per folio. */
static bool has_rate(const struct diff *d, const struct compared *m)
{
	const struct comparison *c = &d->comparisons[0];

	return has_instead(c, m, ".acquisitions", ".acquisitions_per_operation") ||
	       (m->order != RESULT_NO_ORDER &&
	        has_instead(c, m, ".acquisitions_per_operation", ".acquisitions_per_folio"));
}

static void weigh(const struct diff *d, struct diff_row *row)
{
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		if (!row->cells[i])
			continue;
		row->any = row->any ? row->any : row->cells[i];
		row->weight = fmax(row->weight, change_weight(row->cells[i]));
		row->matters |= cell_matters(row->cells[i]);
	}
	if (row->any->primary)
		row->section = DIFF_PRIMARY;
	else
		row->section = is_lock(row->any) ? DIFF_LOCKS : DIFF_OTHER;
	row->matters &= row->any->primary || !has_rate(d, row->any);
}

static int by_name(const void *x, const void *y)
{
	const struct compared *a = ((const struct diff_row *)x)->any;
	const struct compared *b = ((const struct diff_row *)y)->any;
	size_t left = role_length(a), right = role_length(b);
	int r;

	/* A role's own lines stay together, its parts come behind. */
	if (left && right && left != right) {
		r = strncmp(a->name, b->name, left < right ? left : right);
		return r ? r : left < right ? -1 : 1;
	}
	r = strcmp(a->name, b->name);
	return r ? r : a->order - b->order;
}

static int by_weight(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;
	size_t left = diff_heading(a->any), right = diff_heading(b->any);

	if (a->section != b->section)
		return a->section < b->section ? -1 : 1;
	if (!left != !right)
		return left ? 1 : -1;
	if (is_lock(a->any) != is_lock(b->any))
		return is_lock(a->any) ? 1 : -1;
	if (!is_lock(a->any) && a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return by_name(a, b);
}

static int as_given(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;

	if (a->any->primary != b->any->primary)
		return a->any->primary ? -1 : 1;
	/* Rows were filled in order, and their cells lie in that order. */
	return (a->cells > b->cells) - (a->cells < b->cells);
}

/* What holds for one order of a metric brings the others along: they are read together. */
static void join_orders(struct diff_rows *rows)
{
	size_t end;

	qsort(rows->rows, rows->count, sizeof(*rows->rows), by_name);
	for (size_t i = 0; i < rows->count; i = end) {
		struct diff_row all = rows->rows[i];

		for (end = i;
		     end < rows->count && !strcmp(rows->rows[end].any->name, all.any->name);
		     end++) {
			all.weight = fmax(all.weight, rows->rows[end].weight);
			all.matters |= rows->rows[end].matters;
		}
		for (size_t k = i; k < end; k++) {
			rows->rows[k].weight = all.weight;
			rows->rows[k].matters = all.matters;
		}
	}
}

/* Names of comparison `of` that no earlier comparison has get a row. */
static void add_rows(const struct diff *d, size_t of, struct diff_rows *out)
{
	size_t width = d->side_count - 1;

	for (size_t i = 0; i < d->comparisons[of].count; i++) {
		const struct compared *m = &d->comparisons[of].metrics[i];
		struct diff_row row = { .cells = out->cells + out->count * width };
		bool seen = false;

		for (size_t k = 0; k < width; k++) {
			row.cells[k] = comparison_find(&d->comparisons[k], m->name, m->order);
			seen |= k < of && row.cells[k];
		}
		if (!seen) {
			weigh(d, &row);
			out->rows[out->count++] = row;
		}
	}
}

int diff_rows_new(const struct diff *d, enum diff_order order, struct diff_rows *out)
{
	size_t room = 1, kept = 0;

	*out = (struct diff_rows){ 0 };
	for (size_t i = 0; i + 1 < d->side_count; i++)
		room += d->comparisons[i].count;
	out->rows = calloc(room, sizeof(*out->rows));
	out->cells = calloc(room * d->side_count, sizeof(*out->cells));
	if (!out->rows || !out->cells) {
		diff_rows_clear(out);
		return -ENOMEM;
	}
	for (size_t i = 0; i + 1 < d->side_count; i++)
		add_rows(d, i, out);
	join_orders(out);
	if (order == DIFF_LARGEST && !d->all) {
		for (size_t i = 0; i < out->count; i++)
			if (out->rows[i].matters)
				out->rows[kept++] = out->rows[i];
		out->count = kept;
	}
	qsort(out->rows, out->count, sizeof(*out->rows),
	      order == DIFF_LARGEST ? by_weight : as_given);
	return 0;
}

void diff_rows_clear(struct diff_rows *rows)
{
	free(rows->rows);
	free(rows->cells);
	*rows = (struct diff_rows){ 0 };
}

void diff_number(char *out, size_t size, double value)
{
	double magnitude = fabs(value);

	if (magnitude >= 1e10)
		snprintf(out, size, "%.4g", value);
	else if (value == floor(value) || magnitude >= 10000)
		snprintf(out, size, "%.0f", value);
	else if (magnitude >= 1000)
		snprintf(out, size, "%.1f", value);
	else
		snprintf(out, size, "%.4g", value);
}

void diff_change(char *out, size_t size, const struct compared *m)
{
	if (fabs(m->change) < 0.0005)
		snprintf(out, size, "0.0%%");
	else if (!isnan(m->change))
		snprintf(out, size, "%+.1f%%", 100 * m->change);
	else
		snprintf(out, size, "%s", isinf(change_weight(m)) ? "from 0" : "");
}
