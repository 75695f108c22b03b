/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All per-CPU buffers of an instance as one stream of records in time order,
 * with an account of what was lost.
 */
#pragma once

#include "capture/instance.h"
#include "capture/merge.h"

struct buffers;

struct buffers_options {
	uint64_t start; /* the time before all records */
	size_t held_bytes; /* raw pages to be held at most; at least 4 pages per CPU */
	bool plain_reads;
};

/* Borrows the instance. Prints its line on failure. */
int buffers_new(struct buffers **out, struct instance *instance,
                const struct buffers_options *options) _must_check_ _nonnull_;
struct buffers *buffers_free(struct buffers *b);

/*
 * Reads what there is. Records are then handed out up to the time that all CPUs
 * have been read to; with last, when nothing writes any more, up to the end.
 */
int buffers_fill(struct buffers *b, bool last) _must_check_ _nonnull_;

/* As merge_next(); a gap always has its number of events, at least 1. */
int buffers_next(struct buffers *b, struct merge_item *out) _must_check_ _nonnull_;

/* The last filling stopped for want of room: fill again without waiting. */
bool buffers_more(const struct buffers *b) _nonnull_;

/*
 * After the last record: events that the kernel counted as lost beyond the gaps
 * seen, for one CPU after the other. Returns 1 and the gap, or 0 when all are told.
 */
int buffers_remaining_loss(struct buffers *b, struct merge_item *out) _must_check_ _nonnull_;

/* Adds each CPU's descriptor to an epoll set, readable when there are records. */
int buffers_watch(const struct buffers *b, int epoll_fd) _must_check_ _nonnull_;

bool buffers_use_io_uring(const struct buffers *b) _nonnull_;
