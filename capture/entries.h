/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the source `entries` sets up its probes and counts. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/sources.h"
#include "common/error.h"

struct entries;
struct journal;

/* What a probe fetches to know its caller; NULL: not known on this architecture. */
const char *entries_caller_argument(void);

/* Probes and histograms, not counting. They print their line. */
int entries_new(struct entries **out, struct journal *journal,
                uint16_t kernel) _must_check_ _nonnull_;
int entries_start(struct entries *e) _must_check_ _nonnull_;
int entries_stop(struct entries *e) _must_check_ _nonnull_;
int entries_read(struct entries *e, struct lock_figures *out) _must_check_ _nonnull_;
struct entries *entries_free(struct entries *e);

/* Adding up, pure. Zero-initialised but for kernel. */
struct entries_sum {
	uint16_t kernel;
	bool stacks; /* stacks are counted too, for callers that want it */
	const char *point; /* the lock function whose histogram is being read */
	struct lock_figures *figures;
	double total, unresolved;
	double interrupts; /* entries in interrupts, of all roles */
	struct lock_figures in_interrupts; /* by role */
};

struct hist_entry;

/* For hist_parse(): data is a struct entries_sum. */
int entries_add(void *data, const struct hist_entry *entry) _must_check_ _nonnull_;

/* Whether calls from this function are counted by stack as well. */
bool entries_wants_stack(const char *caller, uint16_t kernel) _nonnull_;

/*
 * How many of the missed probes are counted as dropped: interrupts that missed are taken to
 * lock as those that were seen, and a role that lacks up to 0.5% by that is let pass (verdicts
 * begin at 1%).
 */
uint64_t entries_missed(const struct entries_sum *sum, uint64_t missed) _nonnull_;

/* Totals, shares; frees what sum owns. */
void entries_finish(struct entries_sum *sum, uint64_t missed) _nonnull_;
