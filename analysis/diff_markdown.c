/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table for pull requests and notes. */

#include <math.h>
#include <string.h>

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

static void put_name(FILE *f, const struct compared *m)
{
	fputs("| ", f);
	escape_markdown(f, m->name);
	if (*diff_unit(m)) {
		fputs(" (", f);
		escape_markdown(f, diff_unit(m));
		fputs(")", f);
	}
	fputs(m->primary ? " | primary |" : " | exploratory |", f);
}

static void print_row(FILE *f, const struct diff *d, const struct diff_row *row)
{
	static const struct sample nothing;

	put_name(f, row->any);
	put_sample(f, row->cells[0] ? &row->cells[0]->a : &nothing);
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const struct compared *m = row->cells[i];
		char change[32] = "";

		put_sample(f, m ? &m->b : &nothing);
		if (m)
			diff_change(change, sizeof(change), m);
		fprintf(f, " %s | %s |", change, diff_verdict(m, "none"));
	}
	fputc('\n', f);
}

static void print_plain(FILE *f, const struct diff *d, const struct diff_rows *rows)
{
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
	for (size_t i = 0; i < rows->count; i++)
		if (rows->rows[i].any->order == RESULT_NO_ORDER)
			print_row(f, d, &rows->rows[i]);
	fputc('\n', f);
}

static void put_mean(FILE *f, const struct sample *s)
{
	char number[32] = "-";

	if (s->n)
		diff_number(number, sizeof(number), s->stats.mean);
	fputs(number, f);
}

/* "1.04 → 0.069 better", further sides behind. */
static void put_cell(FILE *f, const struct diff *d, const struct diff_row *row)
{
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const struct compared *m = row->cells[i];

		if (i == 0 && m)
			put_mean(f, &m->a);
		fputs(" → ", f);
		if (!m) {
			fputc('-', f);
			continue;
		}
		put_mean(f, &m->b);
		if (*diff_verdict(m, ""))
			fprintf(f, " %s", diff_verdict(m, ""));
	}
}

static uint32_t orders_of(const struct diff_rows *rows)
{
	uint32_t orders = 0;

	for (size_t i = 0; i < rows->count; i++)
		orders |= RESULT_ORDER_BIT(rows->rows[i].any->order);
	return orders;
}

/* The rows of one metric follow each other, by order. Returns how many there are. */
static size_t print_orders(FILE *f, const struct diff *d, const struct diff_row *row, size_t left,
                           uint32_t orders)
{
	size_t used = 0;

	put_name(f, row->any);
	for (int order = 0; order <= (int)RESULT_MAX_ORDER; order++) {
		if (!(orders & RESULT_ORDER_BIT(order)))
			continue;
		fputc(' ', f);
		if (used < left && row[used].any->order == order &&
		    !strcmp(row[used].any->name, row->any->name))
			put_cell(f, d, &row[used++]);
		fputs(" |", f);
	}
	fputc('\n', f);
	return used;
}

static void print_by_order(FILE *f, const struct diff *d, const struct diff_rows *rows,
                           uint32_t orders)
{
	fputs("| metric | kind |", f);
	for (int order = 0; order <= (int)RESULT_MAX_ORDER; order++)
		if (orders & RESULT_ORDER_BIT(order))
			fprintf(f, " order %d |", order);
	fputs("\n|---|---|", f);
	for (int order = 0; order <= (int)RESULT_MAX_ORDER; order++)
		if (orders & RESULT_ORDER_BIT(order))
			fputs("---|", f);
	fputc('\n', f);
	for (size_t i = 0; i < rows->count;)
		if (rows->rows[i].any->order == RESULT_NO_ORDER)
			i++;
		else
			i += print_orders(f, d, &rows->rows[i], rows->count - i, orders);
	fputc('\n', f);
}

static int print_markdown(FILE *f, const struct diff *d)
{
	struct diff_rows rows;
	uint32_t orders;
	int r;

	r = diff_rows_new(d, DIFF_LARGEST, &rows);
	if (r < 0)
		return r;
	orders = orders_of(&rows);
	if (!orders || (orders & RESULT_ORDER_BIT(RESULT_NO_ORDER)))
		print_plain(f, d, &rows);
	orders &= ~RESULT_ORDER_BIT(RESULT_NO_ORDER);
	if (orders)
		print_by_order(f, d, &rows, orders);
	diff_notes(f, d);
	diff_rows_clear(&rows);
	return 0;
}

const struct diff_format diff_format_markdown = { "markdown", print_markdown };
