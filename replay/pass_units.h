/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What rates of locks are divided by, over all repetitions that counters were read
 * around: folios freed by order, huge pages cut. Each row of a source has those of its own
 * repetition beside it (replay/observe.h); these go to the result's denominators.
 */
#pragma once

#include <jansson.h>

#include "analysis/result.h"
#include "traces/meta.h"

struct pass_units {
	struct pass_unit {
		double sum;
		unsigned count; /* of repetitions; 0: never counted */
	} folios[RESULT_MAX_ORDER + 1], cuts;
};

/*
 * Large folios of an order that were made between two readings, and freed, as all tasks are gone;
 * -1 where the kernel does not count that order.
 */
double pass_units_folios(const struct trace_meta *before, const struct trace_meta *after,
                         unsigned order) _nonnull_;
/* Huge pages that a partial unmap cut, or -1. */
double pass_units_cuts(const struct trace_meta *before, const struct trace_meta *after) _nonnull_;

/* order: the one that was swept, whose folios alone are counted then; 0: none was. */
void pass_units_add(struct pass_units *units, const struct trace_meta *before,
                    const struct trace_meta *after, unsigned order) _nonnull_;
/* "folios.order9", "cuts": means per repetition. -ENOMEM. */
int pass_units_put(const struct pass_units *units, json_t *denominators) _must_check_ _nonnull_;
