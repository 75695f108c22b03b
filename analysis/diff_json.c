/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For scripts; the keys are described in docs/metrics.md and stay. */

#include <math.h>

#include "analysis/diff_format.h"
#include "common/json_out.h"

static void put_sample(struct json_out *j, const char *key, const struct sample *s)
{
	json_out_object(j, key);
	json_out_double(j, "mean", s->n ? s->stats.mean : (double)NAN);
	json_out_double(j, "stddev", s->n ? s->stats.stddev : (double)NAN);
	json_out_u64(j, "n", s->n);
	json_out_double(j, "min", s->n ? s->stats.min : (double)NAN);
	json_out_double(j, "max", s->n ? s->stats.max : (double)NAN);
	json_out_string(j, "pass", s->pass);
	json_out_end(j);
}

static void put_metric(struct json_out *j, size_t side, const struct compared *m)
{
	json_out_object(j, NULL);
	json_out_string(j, "name", m->name);
	json_out_double(j, "order", m->order == RESULT_NO_ORDER ? (double)NAN : m->order);
	json_out_string(j, "unit", m->unit);
	json_out_string(j, "family", m->family);
	json_out_u64(j, "column", side);
	put_sample(j, "a", &m->a);
	put_sample(j, "b", &m->b);
	json_out_double(j, "change", m->change);
	json_out_array(j, "interval");
	json_out_double(j, NULL, m->low);
	json_out_double(j, NULL, m->high);
	json_out_end(j);
	json_out_double(j, "p", m->p);
	json_out_double(j, "threshold", m->threshold);
	json_out_bool(j, "changed", m->changed);
	json_out_string(j, "verdict", verdict_name(m->verdict));
	json_out_string(j, "why", m->why);
	json_out_end(j);
}

static void put_column(struct json_out *j, const struct diff *d, size_t i)
{
	const struct side *s = &d->sides[i];

	json_out_object(j, NULL);
	json_out_string(j, "label", s->label);
	json_out_string(j, "kernel", side_fact(s, "kernel"));
	json_out_u64(j, "boots", s->boots);
	json_out_array(j, "files");
	for (size_t k = 0; k < s->count; k++)
		json_out_string(j, NULL, s->paths[k]);
	json_out_end(j);
	if (i > 0) {
		const struct comparison *c = &d->comparisons[i - 1];

		json_out_string(j, "replicate", c->by_boot ? "boot" : "repetition");
		json_out_bool(j, "withheld", c->withheld);
		json_out_string(j, "why", diff_withheld(c));
		json_out_array(j, "reasons");
		for (size_t k = 0; k < c->reasons.count; k++)
			json_out_string(j, NULL, c->reasons.texts[k]);
		json_out_end(j);
	}
	json_out_end(j);
}

static int print_json(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	struct json_out j;
	int r;

	r = diff_rows_new(d, DIFF_AS_GIVEN, &rows);
	if (r < 0)
		return r;
	json_out_init(&j, f, true);
	json_out_object(&j, NULL);
	json_out_string(&j, "schema", "mmtape-diff");
	json_out_u64(&j, "version", 1);
	json_out_double(&j, "level", COMPARE_LEVEL);
	json_out_double(&j, "confidence", COMPARE_CONFIDENCE);
	json_out_string(&j, "threshold_from", d->comparisons[0].threshold_from);
	json_out_array(&j, "columns");
	for (size_t i = 0; i < d->side_count; i++)
		put_column(&j, d, i);
	json_out_end(&j);
	json_out_array(&j, "metrics");
	for (size_t i = 0; i < rows.count; i++)
		for (size_t k = 0; k + 1 < d->side_count; k++)
			if (rows.rows[i].cells[k])
				put_metric(&j, k + 1, rows.rows[i].cells[k]);
	json_out_end(&j);
	json_out_end(&j);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_json = { "json", print_json };
