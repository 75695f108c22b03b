/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From raw records, merged by time, to the trace: decodes, leaves out what a
 * trace must not have, rebases, takes snapshots of what an exec made, writes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "capture/merge.h"
#include "capture/points.h"
#include "capture/rebase.h"
#include "capture/snapshots.h"
#include "traces/writer.h"

struct ingest_counts {
	uint64_t kernel_faults; /* faults on kernel addresses, left out */
	uint64_t unknown_records; /* records of no tracepoint of ours */
	uint64_t kernel_workers; /* threads the kernel made for io_uring and vhost: not followed */
	uint64_t limits_unread; /* setrlimit and prlimit64 whose values were gone */
};

struct ingest {
	const struct points *points;
	struct trace_writer *writer;
	struct rebase *rebase;
	uint32_t root; /* recording begins with its exec */
	uint64_t page_mask;
	struct snapshots snapshots;
	bool names;
	bool no_proc; /* task ids are not those of our /proc */
	bool have_prepare_exec;
	bool begun;
	bool held_valid;
	struct event held; /* the root's execve, until it is known to work */
	struct ingest_counts counts;
};

/* Fills in what follows from points, writer and rebase, which are borrowed. */
void ingest_init(struct ingest *in, const struct points *points, struct trace_writer *writer,
                 struct rebase *rebase, uint32_t root) _nonnull_;

/* Handles a record or gap. 0, or what the writer said (-ENOSPC …). */
int ingest_item(struct ingest *in, enum merge_kind kind,
                const struct merge_item *item) _must_check_ _nonnull_;

/* After the last item. */
int ingest_end(struct ingest *in) _must_check_ _nonnull_;
void ingest_clear(struct ingest *in) _nonnull_;
