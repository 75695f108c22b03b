/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is in a trace, found by reading it once to its end. */
#pragma once

#include "traces/lineage.h"
#include "traces/memory.h"
#include "traces/reader.h"
#include "traces/shapes.h"

struct survey {
	uint64_t events;
	uint64_t kinds[EVENT_KIND_COUNT]; /* events by kind */
	uint64_t unknown_kinds; /* events that a newer version would know */
	uint64_t first, last; /* ns: times of the first and the last event */
	uint64_t writes; /* faults that were writes */

	struct call_counts calls;
	uint64_t peak_calls; /* memory calls in flight at once, of those that were seen to end */
	struct shapes shapes; /* heaviest first */

	size_t tasks, spaces, file_tables;
	struct lineage_counts lineage;
	size_t files; /* open file descriptions that were met */
	uint64_t unknown_files; /* of them: opened unseen */

	uint64_t peak_bytes; /* the most memory that the spaces and files need at once: memory.h */
	struct memory_space *space; /* by lineage's numbers */
	size_t space_count;
	/* The trace is beyond a bound of the models: what they count stops at that event. */
	bool partial;
	uint64_t partial_event;
};

/*
 * Reads from the reader's first event on; the reader stands at the end
 * afterwards. Errors are -ENOMEM and the reader's own, already reported.
 */
int survey_run(struct trace_reader *reader, struct survey **out) _must_check_ _nonnull_;
/* The same of any source. */
int survey_run_source(const struct event_source *source, const struct trace_meta *meta,
                      const struct trace_maps *maps, size_t map_count,
                      struct survey **out) _must_check_ _nonnull_args_(1, 2, 5);
struct survey *survey_free(struct survey *s);
