/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record per metric: avg, std, std%, max and min of every side, and what changed for real. */

#include <math.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

/* All figures of a line with as many decimals as its values need; counts have none to show. */
static int decimals(const struct stats *s)
{
	if (fabs(s->mean) >= 100 || (s->min == floor(s->min) && s->max == floor(s->max)))
		return 2;
	return fabs(s->mean) >= 0.01 ? 4 : 6;
}

static void print_side(FILE *f, const char *label, const struct stats *s, const char *change,
                       const char *verdict)
{
	unsigned columns;
	int digits;

	fputs("  ", f);
	columns = escape_text(f, label);
	fprintf(f, "%*s", columns < 18 ? (int)(18 - columns) : 0, "");
	if (!s->n) {
		fprintf(f, "%13s\n", "-");
		return;
	}
	digits = decimals(s);
	fprintf(f, "%13.*f%12.*f %7.2f%%%13.*f%13.*f", digits, s->mean, digits, s->stddev,
	        fmin(stats_percent(s), 9999), digits, s->max, digits, s->min);
	if (*change)
		fprintf(f, " %9s %s", change, verdict);
	fputc('\n', f);
}

static void print_record(FILE *f, const struct diff *d, const struct diff_row *row)
{
	static const struct stats nothing;

	escape_text(f, row->any->name);
	if (*row->any->unit) {
		fputs(" (", f);
		escape_text(f, row->any->unit);
		fputc(')', f);
	}
	if (row->any->order != RESULT_NO_ORDER)
		fprintf(f, ", order %d", row->any->order);
	fputc('\n', f);
	print_side(f, d->sides[0].label, row->cells[0] ? &row->cells[0]->a.stats : &nothing, "",
	           "");
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const struct compared *m = row->cells[i];
		char change[32] = "";

		if (m)
			diff_change(change, sizeof(change), m);
		print_side(f, d->sides[i + 1].label, m ? &m->b.stats : &nothing, change,
		           diff_verdict(m, "none"));
	}
}

static int print_records(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	int r;

	r = diff_rows_new(d, DIFF_AS_GIVEN, &rows);
	if (r < 0)
		return r;
	fprintf(f, "%-20s%13s%12s %8s%13s%13s\n", "metric", "avg", "std", "std%", "max", "min");
	for (size_t i = 0; i < rows.count; i++)
		print_record(f, d, &rows.rows[i]);
	fputc('\n', f);
	diff_notes(f, d);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_records = { "records", print_records };
