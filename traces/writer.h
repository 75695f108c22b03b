/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace. Events of one CPU must come in time order; CPUs may come in
 * any order. Nothing is sorted. One block per CPU is open at a time; a block is
 * closed when it is full or by trace_writer_flush(), so a kill loses at most
 * what came since the last flush.
 */
#pragma once

#include "traces/event.h"
#include "traces/records.h"

struct trace_writer;

struct trace_writer_options {
	int level; /* of zstd, 0: the default (3) */
};

/*
 * Takes over fd in every case. meta is borrowed for the call. The HEAD block is
 * written at once. A full disk is -ENOSPC from whichever call met it; what was
 * written before stays readable.
 */
int trace_writer_new(struct trace_writer **out, int fd, const struct trace_meta *meta,
                     const struct trace_writer_options *options) _must_check_ _nonnull_args_(1, 3);

/* Frees without finishing: the file then reads as cut short. */
struct trace_writer *trace_writer_free(struct trace_writer *w);

/* -ERANGE if the event is older than the last one of its CPU. */
int trace_writer_event(struct trace_writer *w, const struct event *e) _must_check_ _nonnull_;
int trace_writer_loss(struct trace_writer *w, const struct trace_loss *loss) _must_check_ _nonnull_;
int trace_writer_name(struct trace_writer *w, const struct trace_name *name) _must_check_ _nonnull_;
int trace_writer_maps(struct trace_writer *w, const struct trace_maps *maps) _must_check_ _nonnull_;
int trace_writer_stat(struct trace_writer *w, const struct trace_stat *stat) _must_check_ _nonnull_;

/* Closes every open block and hands it to the kernel. */
int trace_writer_flush(struct trace_writer *w) _must_check_ _nonnull_;

/* Flushes, writes TAIL (events and lost are filled in here) and the seek table. */
int trace_writer_finish(struct trace_writer *w,
                        const struct trace_tail *tail) _must_check_ _nonnull_;

uint64_t trace_writer_bytes(const struct trace_writer *w) _nonnull_;
uint64_t trace_writer_events(const struct trace_writer *w) _nonnull_;
uint64_t trace_writer_lost(const struct trace_writer *w) _nonnull_;
