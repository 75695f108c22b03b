/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares two sides metric by metric and says which differences are more than
 * noise. The rules (docs/metrics.md):
 *
 * - replicates are boots where a side has several, else repetitions; at least
 *   COMPARE_LEAST a side;
 * - primary metrics are one family, others a family per group of names; within
 *   a family the chance of any false finding is COMPARE_LEVEL (permute.h);
 * - the change must also exceed the larger of COMPARE_SMALLEST and twice the
 *   spread of the same kernel against itself;
 * - whole numbers that do not vary at all on either side are compared exactly;
 * - a metric of a result that swept sizes is compared for each order by itself,
 *   all of them in one family;
 * - on more virtual than real CPUs, times and shares of locks are shown without
 *   verdict, and contentions count only from COMPARE_FOLD on; with lockdep in the
 *   kernel, times that are not a lock's are shown without verdict.
 */
#pragma once

#include "analysis/compat.h"
#include "analysis/side.h"

#define COMPARE_LEAST 5u
#define COMPARE_LEVEL 0.01
#define COMPARE_SMALLEST 0.01
#define COMPARE_CONFIDENCE 0.99
#define COMPARE_FOLD 10.0
#define COMPARE_PRIMARY "primary"

enum verdict { VERDICT_NONE, VERDICT_SAME, VERDICT_BETTER, VERDICT_WORSE };

/* Where the two sides ran, as far as it decides what may be judged. */
struct circumstances {
	bool is_virtual; /* more virtual than real CPUs, or emulated, on either side */
	bool emulated;
	unsigned virtual_cpus, real_cpus; /* of the side that is; 0: not known */
	bool debug_locks; /* on either side */
};

struct compared {
	const char *name, *unit; /* the comparison's */
	int order; /* or RESULT_NO_ORDER */
	char family[32]; /* "primary"; "lock." and the measure; the name up to its first '.' or
	                    '/'; or "run" */
	enum result_better better;
	bool primary;
	struct sample a, b;
	/* NAN where there is none: */
	double change; /* mean b / mean a - 1 */
	double low, high; /* interval of the change */
	double p; /* adjusted within the family */
	double threshold; /* the change must be larger */
	bool changed; /* differs by the rules; for BETTER_NONE too */
	enum verdict verdict;
	bool shown_only; /* by rule it gets no verdict here; that is nothing incomplete */
	char why[160]; /* of the verdict; always set for VERDICT_NONE */
};

struct comparison {
	const struct side *a, *b;
	size_t count;
	struct compared *metrics; /* primary first, then in the order of the files */
	json_t *names; /* holds the names; each one's value says where its metrics are */
	struct circumstances where;
	struct reasons reasons; /* not empty: every verdict is VERDICT_NONE */
	bool by_boot;
	bool withheld; /* no verdict at all, or none for a primary metric that may have one */
	size_t better, worse; /* primary metrics; without any, all */
	bool has_primary;
	bool exact; /* the tests enumerated every arrangement */
	const char *threshold_from; /* a constant text */
};

struct compare_options {
	const struct option_list *vary;
	const struct side *null_side; /* or NULL: split halves of a */
};

/* The sides are borrowed and must outlive the comparison. -ENOMEM. */
int compare_sides(struct comparison *out, const struct side *a, const struct side *b,
                  const struct compare_options *options) _must_check_ _nonnull_;
void comparison_clear(struct comparison *c) _nonnull_;

const struct compared *comparison_find(const struct comparison *c, const char *name,
                                       int order) _nonnull_;
const char *verdict_name(enum verdict v);

/* For compare.c: sets changed, verdict, shown_only and why from the rest. */
void verdict_decide(struct compared *m, const struct comparison *c) _nonnull_;
struct circumstances verdict_circumstances(const struct side *a, const struct side *b) _nonnull_;
/* No verdict whatever the figures are: not tested then, and the reason in why. */
bool verdict_is_shown_only(struct compared *m, const struct circumstances *where) _nonnull_;
/* The exact comparison applies: no test is needed. */
bool verdict_is_exact(const struct compared *m) _nonnull_;
/* Enough values on both sides, none missing. */
bool verdict_can_test(const struct compared *m) _nonnull_;
