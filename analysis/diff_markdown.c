/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table for pull requests and notes. */

#include <math.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

static void put_sample(FILE *f, const struct sample *s)
{
	char number[32];

	if (!s->n) {
		fputs(" - |", f);
		return;
	}
	diff_number(number, sizeof(number), s->stats.mean);
	fprintf(f, " %s ± %.1f%% |", number, stats_percent(&s->stats));
}

static void print_row(FILE *f, const struct diff *d, const struct diff_row *row)
{
	static const struct sample nothing;

	fputs("| ", f);
	escape_markdown(f, row->any->name);
	if (*row->any->unit) {
		fputs(" (", f);
		escape_markdown(f, row->any->unit);
		fputs(")", f);
	}
	fputs(row->any->primary ? " | primary |" : " | exploratory |", f);
	put_sample(f, row->cells[0] ? &row->cells[0]->a : &nothing);
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const struct compared *m = row->cells[i];
		char change[32] = "";

		put_sample(f, m ? &m->b : &nothing);
		if (m)
			diff_change(change, sizeof(change), m);
		fprintf(f, " %s | ", change);
		if (m && m->verdict == VERDICT_NONE && m->changed)
			fputs("changed |", f);
		else
			fprintf(f, "%s |", m ? verdict_name(m->verdict) : "");
	}
	fputc('\n', f);
}

static int print_markdown(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	int r;

	r = diff_rows_new(d, DIFF_LARGEST, &rows);
	if (r < 0)
		return r;
	fputs("| metric | kind | ", f);
	escape_markdown(f, d->sides[0].label);
	fputs(" |", f);
	for (size_t i = 1; i < d->side_count; i++) {
		fputc(' ', f);
		escape_markdown(f, d->sides[i].label);
		fputs(" | change | verdict |", f);
	}
	fputs("\n|---|---|---:|", f);
	for (size_t i = 1; i < d->side_count; i++)
		fputs("---:|---:|---|", f);
	fputc('\n', f);
	for (size_t i = 0; i < rows.count; i++)
		print_row(f, d, &rows.rows[i]);
	fputc('\n', f);
	diff_notes(f, d);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_markdown = { "markdown", print_markdown };
