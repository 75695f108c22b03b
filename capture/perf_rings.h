/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perf events of the whole machine: the same ones on every CPU, with one ring buffer
 * per CPU. A thread empties the rings between start and stop, so that their size
 * does not bound what can be seen.
 */
#pragma once

#include <linux/perf_event.h>

#include "capture/perf_record.h"

struct perf_rings;

struct perf_rings_options {
	/* At most PERF_RINGS_EVENTS, from perf_event_prepare(), all of one sample type. */
	const struct perf_event_attr *events;
	size_t count;
	size_t bytes; /* of one ring, if all of them fit in PERF_RINGS_MEMORY */
	int (*sample)(void *context, const struct perf_sample *sample);
	/*
	 * After a look at every ring: no sample from before `until` is still to come, but
	 * from a CPU that was held up while it wrote one. May be NULL.
	 */
	int (*round)(void *context, uint64_t until);
	void *context;
};

#define PERF_RINGS_EVENTS 2
#define PERF_RINGS_MEMORY (128u << 20)

/* Prints its line on failure. */
int perf_rings_new(struct perf_rings **out,
                   const struct perf_rings_options *options) _must_check_ _nonnull_;
struct perf_rings *perf_rings_free(struct perf_rings *r);

/* Calls of sample() and round() come from a thread of the module until stop returns. */
int perf_rings_start(struct perf_rings *r) _must_check_ _nonnull_;
/* The last round has until UINT64_MAX. Gives what a callback returned. Both print their line. */
int perf_rings_stop(struct perf_rings *r) _must_check_ _nonnull_;

/* Of the time between the last start and stop. */
void perf_rings_loss(const struct perf_rings *r, struct perf_loss *out) _nonnull_;
