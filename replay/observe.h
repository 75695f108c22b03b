/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes that observe locks: which sources were asked for and work here, and what each
 * of them saw around one repetition, as rows of a result. Shared by `replay`
 * and `measure`.
 */
#pragma once

#include "analysis/result.h"
#include "traces/meta.h"

struct observer;

/*
 * list: names of sources with commas between them, "all" (those that work here) or "none". A source
 * that is named and does not work is an error: -EINVAL for no such source, else what
 * its check() says; both with their line. together: all observe one pass, so that what they
 * count is the same repetition; else each has a pass of its own.
 */
int observer_new(struct observer **out, const char *list, bool exclusive,
                 bool together) _must_check_ _nonnull_args_(1, 2);
/* Undoes what sources did, if anything is left. */
struct observer *observer_free(struct observer *o);

/* The passes that the sources need. */
size_t observer_passes(const struct observer *o) _nonnull_;
bool observer_uses(const struct observer *o, const char *source) _nonnull_;

/* The sources of one pass at a time; all print their line. */
int observer_open(struct observer *o, size_t pass) _must_check_ _nonnull_;
void observer_close(struct observer *o) _nonnull_;
int observer_start(struct observer *o) _must_check_ _nonnull_;
int observer_stop(struct observer *o) _must_check_ _nonnull_;

/* What acquisitions are divided by, of the same repetition. */
struct observe_units {
	double operations; /* calls and touches of the plan, or 0 */
	double folios; /* large folios of the order in question that were made and freed, or 0 */
	double cuts; /* huge pages that a partial unmap cut, or 0 */
};

/* Counters around the repetition and the order that was swept (0: none) give folios and cuts. */
struct observe_units observe_units(const struct trace_meta *before, const struct trace_meta *after,
                                   unsigned order, double operations) _nonnull_;

/* Begins a row for each open source, named like it, with what it saw. order 0: no row key. */
int observer_rows(struct observer *o, struct result *r, unsigned round, unsigned order,
                  const struct observe_units *units) _must_check_ _nonnull_;

/* "lock.ROLE[.SIDE[.PATH]].MEASURE"; false where it does not fit. */
struct lock_figure;
bool observe_name(char *out, size_t size, const struct lock_figure *figure,
                  const char *measure) _nonnull_;

/* Appends to provenance.sources: name, used, why, dropped, unresolved, note, unseen. -ENOMEM. */
int observer_provenance(const struct observer *o, json_t *sources) _must_check_ _nonnull_;
/* Events that sources had no room for, in all repetitions. */
uint64_t observer_dropped(const struct observer *o) _nonnull_;
