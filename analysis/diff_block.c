/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The block that memory-management mailing lists read, in the layout of the
 * reports of 0day (LKP): value and stddev% of both sides, %change between.
 */

#include <math.h>
#include <string.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

#define NAME_WIDTH 26
#define FIRST_WIDTH 16
#define MORE_WIDTH 27

/* As many as any metric of the side has; passes may have been repeated less often. */
static size_t replicates(const struct comparison *c, bool first)
{
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct sample *s = first ? &c->metrics[i].a : &c->metrics[i].b;

		n = s->n > n ? s->n : n;
	}
	return n;
}

static void print_side(FILE *f, const struct diff *d, size_t i)
{
	const struct side *s = &d->sides[i];
	const struct comparison *c = &d->comparisons[i ? i - 1 : 0];
	const char *kernel = side_fact(s, "kernel");

	fprintf(f, "%c: ", (int)('A' + (i < 25 ? i : 25)));
	escape_text(f, s->label);
	if (*kernel) {
		fputs(", kernel ", f);
		escape_text(f, kernel);
	}
	fprintf(f, ", %zu %s\n", replicates(c, i == 0), c->by_boot ? "boots" : "repetitions");
}

/* The label, or its beginning, to the right of a column. */
static void print_title(FILE *f, const char *label, unsigned width)
{
	char cut[MORE_WIDTH + 1];
	size_t keep = width - 1;

	snprintf(cut, sizeof(cut), "%.*s", (int)keep, label);
	for (char *p = cut; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	if (strlen(label) > keep)
		cut[keep - 1] = '~';
	fprintf(f, "%*s", (int)width, cut);
}

static void print_header(FILE *f, const struct diff *d)
{
	for (size_t i = 0; i < d->side_count; i++)
		print_side(f, d, i);
	fputc('\n', f);
	print_title(f, d->sides[0].label, FIRST_WIDTH);
	for (size_t i = 1; i < d->side_count; i++) {
		fputc(' ', f);
		print_title(f, d->sides[i].label, MORE_WIDTH);
	}
	fputs("\n----------------", f);
	for (size_t i = 1; i < d->side_count; i++)
		fputs(" ---------------------------", f);
	fputs("\n         %stddev", f);
	for (size_t i = 1; i < d->side_count; i++)
		fputs("     %change         %stddev", f);
	fputs("\n             \\", f);
	for (size_t i = 1; i < d->side_count; i++)
		fputs("          |                \\", f);
	fputc('\n', f);
}

/* 16 columns; a deviation of nothing is left out. */
static void print_value(FILE *f, const struct sample *s)
{
	char number[32], deviation[32] = "";

	if (!s->n) {
		fprintf(f, "%10s      ", "-");
		return;
	}
	diff_number(number, sizeof(number), s->stats.mean);
	if (s->stats.stddev > 0) {
		double percent = stats_percent(&s->stats);

		snprintf(deviation, sizeof(deviation), " \u00b1%3.0f%%", fmin(percent, 999));
	}
	fprintf(f, "%10s%s", number, deviation);
	if (!*deviation)
		fputs("      ", f);
}

/* Under a heading the rest of the name is enough. */
static unsigned print_name(FILE *f, const struct compared *m)
{
	size_t heading = diff_heading(m);
	unsigned columns;

	if (m->order != RESULT_NO_ORDER)
		return (unsigned)fprintf(f, "order %d", m->order);
	columns = escape_text(f, m->name + heading + (heading > 0));
	if (*diff_unit(m)) {
		fputs(" (", f);
		columns += escape_text(f, diff_unit(m)) + 3;
		fputc(')', f);
	}
	return columns;
}

static void print_row(FILE *f, const struct diff *d, const struct diff_row *row)
{
	static const struct sample nothing;
	unsigned columns;
	char change[32];

	print_value(f, row->cells[0] ? &row->cells[0]->a : &nothing);
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const struct compared *m = row->cells[i];

		change[0] = '\0';
		if (m)
			diff_change(change, sizeof(change), m);
		fprintf(f, " %11s", change);
		print_value(f, m ? &m->b : &nothing);
	}
	fputs("  ", f);
	columns = print_name(f, row->any);
	fprintf(f, "%*s", columns < NAME_WIDTH ? (int)(NAME_WIDTH - columns) : 0, "");
	for (size_t i = 0; i + 1 < d->side_count; i++)
		fprintf(f, "%c%s", i ? '/' : ' ', diff_verdict(row->cells[i], "-"));
	fputc('\n', f);
}

static bool same_heading(const struct compared *a, const struct compared *b)
{
	size_t n = diff_heading(a);

	return n == diff_heading(b) && !strncmp(a->name, b->name, n);
}

static void print_heading(FILE *f, const struct compared *m)
{
	char heading[RESULT_MAX_NAME + 1];

	snprintf(heading, sizeof(heading), "%.*s", (int)diff_heading(m), m->name);
	escape_text(f, heading);
	if (m->order != RESULT_NO_ORDER && *diff_unit(m)) {
		fputs(" (", f);
		escape_text(f, diff_unit(m));
		fputc(')', f);
	}
	fputs(":\n", f);
}

static void print_rows(FILE *f, const struct diff *d, const struct diff_rows *rows)
{
	/* Found without having been looked for: set apart. */
	static const char *const titles[] = {
		[DIFF_PRIMARY] = "primary",
		[DIFF_LOCKS] = "exploratory, locks by role",
		[DIFF_OTHER] = "exploratory",
	};

	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->rows[i], *last = i ? row - 1 : NULL;

		if (last ? last->section != row->section : row->section == DIFF_LOCKS)
			fprintf(f, "%s%s:\n", last ? "\n" : "", titles[row->section]);
		if (diff_heading(row->any) &&
		    (!last || last->section != row->section || !same_heading(last->any, row->any)))
			print_heading(f, row->any);
		print_row(f, d, row);
	}
}

static int print_block(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	int r;

	r = diff_rows_new(d, DIFF_LARGEST, &rows);
	if (r < 0)
		return r;
	print_header(f, d);
	print_rows(f, d, &rows);
	if (!rows.count)
		fputs("no metric changed more than noise (--all shows them)\n", f);
	fputc('\n', f);
	diff_notes(f, d);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_block = { "block", print_block };
