/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two sides may be compared at all: same trace, machine, settings, fidelity. */
#pragma once

#include "analysis/side.h"
#include "common/options.h"

/* Reasons why no verdict is given, each a sentence; texts from files are not escaped yet. */
struct reasons {
	size_t count;
	char **texts;
};

#define REASONS_MAX 32 /* further ones are not kept */

/* One printf more. -ENOMEM. */
int reasons_add(struct reasons *r, const char *fmt, ...) _must_check_ _printf_(2, 3);
void reasons_clear(struct reasons *r) _nonnull_;

/*
 * Adds what speaks against a comparison; vary lists settings that differ on
 * purpose. "mthp" stands for every per-size setting thp_…kB as well.
 */
int compat_check(const struct side *a, const struct side *b, const struct option_list *vary,
                 struct reasons *out) _must_check_ _nonnull_;

/* What speaks against one side by itself: loss, mismatches, pooled results that do not match. */
int compat_check_side(const struct side *side, const struct option_list *vary,
                      struct reasons *out) _must_check_ _nonnull_;
