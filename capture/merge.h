/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the records of all CPUs' queued pages by time. Pages are parsed by
 * libtraceevent's kbuffer (time extends, absolute times, missing events).
 */
#pragma once

#include "capture/queue.h"

struct merge;

enum merge_kind {
	MERGE_NONE = 0, /* nothing that is old enough */
	MERGE_RECORD = 1,
	MERGE_GAP = 2, /* events are missing before the next record of that CPU */
};

struct merge_item {
	uint64_t time; /* never before the last one of its CPU */
	unsigned cpu;
	const void *data; /* valid until the next call */
	size_t size;
	uint64_t missed; /* MERGE_GAP: how many, 0 unknown */
	uint64_t since; /* MERGE_GAP: time of the last record before */
};

/* Queues are borrowed. start is the time before all records. */
int merge_new(struct merge **out, struct page_queue *queues, unsigned count,
              uint64_t start) _must_check_ _nonnull_;
struct merge *merge_free(struct merge *m);

/*
 * To be called after queues were filled. Returns the time up to which every
 * CPU's records are at hand, given that the filling began at `began`.
 */
uint64_t merge_begin_round(struct merge *m, uint64_t began) _nonnull_;

/* The next item not younger than `until`: an enum merge_kind, or a negative errno. */
int merge_next(struct merge *m, uint64_t until, struct merge_item *out) _must_check_ _nonnull_;
