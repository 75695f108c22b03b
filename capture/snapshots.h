/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings that each exec made, written into the trace: as the watch read
 * them, else as they are when the recording meets the exec, else guessed from
 * program headers, else counted as missing.
 */
#pragma once

#include "capture/guess.h"
#include "capture/points.h"
#include "capture/rebase.h"
#include "capture/siphash.h"
#include "capture/watch.h"
#include "traces/writer.h"

#define SNAPSHOTS_GUESSES 64

struct snapshots_counts {
	uint64_t execs;
	uint64_t late; /* read only when the recording met the exec */
	uint64_t guessed; /* from program headers */
	uint64_t missed; /* execs whose mappings could not be had */
	uint64_t programs_32_bit; /* their calls are invisible */
};

struct snapshots {
	struct trace_writer *writer;
	struct rebase *rebase;
	struct watch *watch; /* NULL: none */
	struct siphash_key key; /* random: files of different traces cannot be compared */
	bool have_prepare_exec;
	bool no_proc; /* task ids are not those of our /proc: guess */
	struct guess *guesses[SNAPSHOTS_GUESSES];
	unsigned guess_count;
	struct snapshots_counts counts;
};

/* Borrows all but the key, which is drawn here. */
void snapshots_init(struct snapshots *s, struct trace_writer *writer, struct rebase *rebase,
                    bool have_prepare_exec) _nonnull_;
void snapshots_clear(struct snapshots *s) _nonnull_;

/* Every event, addresses as they are, before the table of tasks learns of it. */
int snapshots_event(struct snapshots *s, const struct event *e) _must_check_ _nonnull_;

/* An exec, after the table of tasks has learnt of it. */
int snapshots_exec(struct snapshots *s, const struct point_record *rec) _must_check_ _nonnull_;

/* No more events: what is still waiting for faults is decided. */
int snapshots_end(struct snapshots *s) _must_check_ _nonnull_;
