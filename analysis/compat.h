/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two sides may be compared at all: same trace, machine, settings, fidelity. */
#pragma once

#include "analysis/reasons.h"
#include "analysis/side.h"
#include "common/options.h"

/*
 * Adds what speaks against a comparison; vary lists settings that differ on
 * purpose. "mthp" stands for every per-size setting thp_…kB as well.
 */
int compat_check(const struct side *a, const struct side *b, const struct option_list *vary,
                 struct reasons *out) _must_check_ _nonnull_;

/* What speaks against one side by itself: loss, mismatches, pooled results that do not match. */
int compat_check_side(const struct side *side, const struct option_list *vary,
                      struct reasons *out) _must_check_ _nonnull_;

/* The same of two results; vary may be NULL: nothing differs on purpose, and no hint is given. */
int compat_check_results(const struct result *a, const struct result *b,
                         const struct option_list *vary, struct reasons *out) _must_check_
	_nonnull_args_(1, 2, 4);
/* What speaks against their being boots of one kernel in one experiment. */
int compat_check_boots(const struct result *a, const struct result *b,
                       struct reasons *out) _must_check_ _nonnull_;
/* The same of two builds of one kernel, one that counts and one that is timed. */
int compat_check_builds(const struct result *a, const struct result *b,
                        struct reasons *out) _must_check_ _nonnull_;
/* In settings some keys describe the kernel or the machine. */
bool compat_is_setting(const char *key) _nonnull_;
