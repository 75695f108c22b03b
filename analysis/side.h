/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison: a result, or several that were made in boots of the same kernel. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analysis/result.h"
#include "analysis/stats.h"

struct side_row {
	const char *pass;
	const json_t *metrics;
	size_t boot; /* 0 … boots-1: boots of different files are different boots */
	int order; /* or RESULT_NO_ORDER */
	uint32_t measures; /* of any lock: side_measures() */
};

struct side {
	char *label; /* file names without folder and .json, joined by + */
	size_t count;
	char **paths;
	struct result **results;
	size_t row_count;
	struct side_row *rows; /* of all files; strings and trees are the results' */
	size_t boots;
};

/*
 * operand is a file, or several with commas between. Prints its line: what
 * result_read() says, or -EINVAL when the same runs are given twice.
 */
int side_read(struct side *out, const char *operand) _must_check_ _nonnull_;
void side_clear(struct side *side) _nonnull_;

/* Provenance of the first result: a text or "". */
const char *side_fact(const struct side *side, const char *key) _nonnull_;

/* What a figure is kept under. */
struct metric_key {
	const char *name;
	int order; /* or RESULT_NO_ORDER */
};

/*
 * The pass that each side's values are taken from: the timing pass, else the
 * first where the other side has it too, else the first that has it. A lock that
 * only one side saw is taken from the same pass of the other, if that observed
 * locks at all. NULL: none.
 */
void side_passes(const struct side *a, const struct side *b, const struct metric_key *key,
                 const char **pass_a, const char **pass_b) _nonnull_;

/* The replicates of one metric. */
struct sample {
	double *values;
	size_t n;
	size_t wanted; /* replicates that had the pass; more than n: some lack the metric */
	const char *pass; /* NULL: no replicate has it */
	struct stats stats;
};

/*
 * The values in the rows of a pass; NULL gives none. A lock that a row does not
 * have counts as 0 if the row has the same measure of another. by_boot: one value per boot,
 * the mean of its rounds; otherwise one per row. Values come in the order of
 * files, boots and rows.
 */
int side_sample(const struct side *side, const struct metric_key *key, const char *pass,
                bool by_boot, struct sample *out) _must_check_ _nonnull_args_(1, 2, 5);
void sample_clear(struct sample *s) _nonnull_;

/* Which measures a row has of any lock, as a set. */
uint32_t side_measures(const json_t *metrics) _nonnull_;

/* All rows' result_row_names(). */
int side_names(const struct side *side, json_t *names) _must_check_ _nonnull_;
