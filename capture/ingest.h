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
#include "capture/siphash.h"
#include "capture/watch.h"
#include "traces/writer.h"

struct ingest_counts {
	uint64_t kernel_faults; /* faults on kernel addresses, left out */
	uint64_t unknown_records; /* records of no tracepoint of ours */
	uint64_t kernel_workers; /* threads the kernel made for io_uring and vhost: not followed */
	uint64_t programs_32_bit; /* their calls are invisible */
	uint64_t execs;
	uint64_t maps_late; /* read only when the recording met the exec */
	uint64_t maps_missed; /* execs whose mappings could not be had */
	uint64_t limits_unread; /* setrlimit and prlimit64 whose values were gone */
};

struct ingest {
	const struct points *points;
	struct trace_writer *writer;
	struct rebase *rebase;
	struct watch *watch; /* NULL: none */
	uint32_t root; /* recording begins with its exec */
	uint64_t page_mask;
	struct siphash_key key;
	bool names;
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
