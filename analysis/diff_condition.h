/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of --fail-on: "lock.lru.acquisitions_per_folio>5%", "elapsed<-3%". */
#pragma once

#include "analysis/diff_format.h"

/* -EINVAL, its line printed, for what is not METRIC>NUMBER% or METRIC<NUMBER%. */
int diff_condition_check(const char *text) _must_check_ _nonnull_;

/*
 * An exit status: failed when a condition holds in any column and is more than noise,
 * incomplete when one cannot be decided, usage when nobody knows the metric
 * (printed), else done. "lock." may be left out in front, and "@2" behind a name
 * takes order 2 alone; without it each order is looked at.
 */
int diff_conditions_judge(const struct diff *d, const struct option_list *conditions) _nonnull_;
