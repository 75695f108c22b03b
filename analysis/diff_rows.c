/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the formats of diff share: rows, their order, figures and notes. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

/* Without enough repetitions for a threshold, changes above this are shown. */
#define SHOWN_ANYWAY 0.05

static double change_weight(const struct compared *m)
{
	if (!isnan(m->change))
		return fabs(m->change);
	return m->a.n && m->b.n && m->a.stats.mean != m->b.stats.mean ? (double)INFINITY : 0;
}

static bool cell_matters(const struct compared *m)
{
	double enough = isfinite(m->threshold) ? m->threshold : SHOWN_ANYWAY;

	if (m->changed || m->primary)
		return true;
	/* Withheld: what the test would have found, or what is large where there was none. */
	return m->verdict == VERDICT_NONE && change_weight(m) > enough && !(m->p > COMPARE_LEVEL);
}

static void weigh(struct diff_row *row, size_t cells)
{
	for (size_t i = 0; i < cells; i++) {
		if (!row->cells[i])
			continue;
		row->any = row->any ? row->any : row->cells[i];
		row->weight = fmax(row->weight, change_weight(row->cells[i]));
		row->matters |= cell_matters(row->cells[i]);
	}
}

static int by_weight(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;

	if (a->any->primary != b->any->primary)
		return a->any->primary ? -1 : 1;
	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return strcmp(a->any->name, b->any->name);
}

static int primary_first(const void *x, const void *y)
{
	const struct diff_row *a = x, *b = y;

	if (a->any->primary != b->any->primary)
		return a->any->primary ? -1 : 1;
	/* Rows were filled in order, and their cells lie in that order. */
	return (a->cells > b->cells) - (a->cells < b->cells);
}

/* Names of comparison `of` that no earlier comparison has get a row. */
static void add_rows(const struct diff *d, size_t of, struct diff_rows *out)
{
	size_t width = d->side_count - 1;

	for (size_t i = 0; i < d->comparisons[of].count; i++) {
		const char *name = d->comparisons[of].metrics[i].name;
		struct diff_row row = { .cells = out->cells + out->count * width };
		bool seen = false;

		for (size_t k = 0; k < width; k++) {
			row.cells[k] = comparison_find(&d->comparisons[k], name);
			seen |= k < of && row.cells[k];
		}
		if (!seen) {
			weigh(&row, width);
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
	if (order == DIFF_LARGEST && !d->all) {
		for (size_t i = 0; i < out->count; i++)
			if (out->rows[i].matters)
				out->rows[kept++] = out->rows[i];
		out->count = kept;
	}
	qsort(out->rows, out->count, sizeof(*out->rows),
	      order == DIFF_LARGEST ? by_weight : primary_first);
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

const char *diff_withheld(const struct comparison *c)
{
	if (c->reasons.count)
		return c->reasons.texts[0];
	if (!c->withheld)
		return NULL;
	for (size_t i = 0; i < c->count; i++)
		if (c->metrics[i].verdict == VERDICT_NONE && !c->metrics[i].changed)
			return c->metrics[i].why;
	return "no metric is in both";
}

/* Repetitions of one boot say nothing about the next boot of another kernel. */
static bool boots_unknown(const struct comparison *c)
{
	return !c->by_boot &&
	       (strcmp(side_fact(c->a, "kernel"), side_fact(c->b, "kernel")) ||
	        strcmp(side_fact(c->a, "kernel_version"), side_fact(c->b, "kernel_version")));
}

static void note_comparison(FILE *f, const struct comparison *c)
{
	const char *why = diff_withheld(c);
	size_t changed = 0;

	for (size_t i = 0; i < c->count; i++)
		changed += c->metrics[i].changed && !c->metrics[i].primary;
	if (c->reasons.count) {
		for (size_t i = 0; i < c->reasons.count; i++) {
			fputs("no verdict: ", f);
			escape_text(f, c->reasons.texts[i]);
			fputc('\n', f);
		}
		return;
	}
	if (c->withheld) {
		fputs("no verdict: ", f);
		escape_text(f, why);
		fputc('\n', f);
	}
	if (c->has_primary)
		fprintf(f, "primary metrics: %zu better, %zu worse; exploratory: %zu changed\n",
		        c->better, c->worse, changed);
	else
		fprintf(f, "%zu better, %zu worse\n", c->better, c->worse);
	if (boots_unknown(c))
		fputs("one boot a side: what changes from boot to boot is not in the noise\n", f);
}

static bool was_tested(const struct comparison *c)
{
	for (size_t i = 0; i < c->count && !c->reasons.count; i++)
		if (!isnan(c->metrics[i].p))
			return true;
	return false;
}

void diff_notes(FILE *f, const struct diff *d)
{
	bool exact = true, tested = false;

	for (size_t i = 0; i + 1 < d->side_count; i++) {
		if (d->side_count > 2) {
			escape_text(f, d->sides[i + 1].label);
			fputs(": ", f);
		}
		note_comparison(f, &d->comparisons[i]);
		exact &= d->comparisons[i].exact;
		tested |= was_tested(&d->comparisons[i]);
	}
	if (!tested)
		return;
	fprintf(f,
	        "level %g a family, permutation max-T over %s arrangements;\n"
	        "a change counts above the larger of %g%% and twice the spread of A against\n"
	        "itself, taken from %s\n",
	        COMPARE_LEVEL, exact ? "all" : "sampled", 100 * COMPARE_SMALLEST,
	        d->comparisons[0].threshold_from);
}
