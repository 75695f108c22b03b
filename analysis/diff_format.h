/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How comparisons are shown: a table of formats, one file each. */
#pragma once

#include <stdio.h>

#include "analysis/compare.h"

struct diff {
	size_t side_count; /* at least 2 */
	const struct side *sides; /* the first is what the others are compared with */
	const struct comparison *comparisons; /* side_count - 1 */
	bool all; /* every metric, in formats that otherwise show only those that matter */
};

enum diff_section { DIFF_PRIMARY, DIFF_LOCKS, DIFF_OTHER };

/* A metric, of one order where sizes were swept, across all comparisons. */
struct diff_row {
	const struct compared **cells; /* side_count - 1, NULL where a side does not know it */
	const struct compared *any; /* one that is there: name, unit, family */
	enum diff_section section;
	double weight; /* of the largest change of any order; INFINITY from 0 to something */
	/*
	 * Primary, changed, a line of a role, or, without verdicts, above what noise
	 * explains; in any order of the metric.
	 */
	bool matters;
};

struct diff_rows {
	size_t count;
	struct diff_row *rows;
	const struct compared **cells;
};

enum diff_order {
	DIFF_AS_GIVEN, /* all rows, primary first, then as in the files */
	/*
	 * Rows that matter (or all) by section; in it rows without a heading come first,
	 * the largest change first, then those with, by name and order.
	 */
	DIFF_LARGEST,
};

int diff_rows_new(const struct diff *d, enum diff_order order,
                  struct diff_rows *out) _must_check_ _nonnull_;
void diff_rows_clear(struct diff_rows *rows) _nonnull_;

/*
 * How many characters of the name are a heading over several rows: the role of a lock,
 * the whole name where there are orders, 0 for none.
 */
size_t diff_heading(const struct compared *m) _nonnull_;
/* The unit, or "" where the name tells it. */
const char *diff_unit(const struct compared *m) _nonnull_;
/* better, worse, same, changed, or what there is to say of no verdict: `none`. */
const char *diff_verdict(const struct compared *m, const char *none) _nonnull_args_(2);

/* A figure in at most 10 columns, four or more significant digits. */
void diff_number(char *out, size_t size, double value) _nonnull_;
/* "+4.5%", "from 0", or "" without a change. */
void diff_change(char *out, size_t size, const struct compared *m) _nonnull_;
/* Why a comparison gave no verdict, or NULL. */
const char *diff_withheld(const struct comparison *c) _nonnull_;
/* What holds for the whole comparison, for the formats people read; several lines. */
void diff_notes(FILE *f, const struct diff *d) _nonnull_;

struct diff_format {
	const char *name;
	/* Errors of the stream are the caller's to check. -ENOMEM. */
	int (*print)(FILE *f, const struct diff *d);
};

extern const struct diff_format diff_format_block, diff_format_records, diff_format_csv,
	diff_format_json, diff_format_markdown;
