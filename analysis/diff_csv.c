/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line per metric and compared side; figures as fractions, an empty field where there is none.
 */

#include <math.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

static void put_number(FILE *f, double v)
{
	if (isfinite(v))
		fprintf(f, ",%.10g", v);
	else
		fputc(',', f);
}

static void put_sample(FILE *f, const struct sample *s)
{
	if (!s->n) {
		fputs(",,,0", f);
		return;
	}
	put_number(f, s->stats.mean);
	put_number(f, s->stats.stddev);
	fprintf(f, ",%zu", s->n);
}

static void print_line(FILE *f, const struct diff *d, size_t side, const struct compared *m)
{
	escape_csv(f, m->name);
	fputc(',', f);
	if (m->order != RESULT_NO_ORDER)
		fprintf(f, "%d", m->order);
	fputc(',', f);
	escape_csv(f, m->unit);
	fputc(',', f);
	escape_csv(f, m->family);
	fputc(',', f);
	escape_csv(f, d->sides[side].label);
	put_sample(f, &m->a);
	put_sample(f, &m->b);
	put_number(f, m->change);
	put_number(f, m->low);
	put_number(f, m->high);
	put_number(f, m->p);
	put_number(f, m->threshold);
	fprintf(f, ",%d,%s,", m->changed, verdict_name(m->verdict));
	escape_csv(f, m->why);
	fputc('\n', f);
}

static int print_csv(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	int r;

	r = diff_rows_new(d, DIFF_AS_GIVEN, &rows);
	if (r < 0)
		return r;
	fputs("metric,order,unit,family,compared,a_mean,a_stddev,a_n,b_mean,b_stddev,b_n,change,"
	      "low,high,"
	      "p,threshold,changed,verdict,why\n",
	      f);
	for (size_t i = 0; i < rows.count; i++)
		for (size_t k = 0; k + 1 < d->side_count; k++)
			if (rows.rows[i].cells[k])
				print_line(f, d, k + 1, rows.rows[i].cells[k]);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_csv = { "csv", print_csv };
