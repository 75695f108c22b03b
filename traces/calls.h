/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairs the enters and leaves of calls, so that a consumer sees at the enter
 * what the call returned. Looks ahead in the event stream by a bounded number
 * of events; a call whose leave is not found in that window is shown as
 * unfinished at its enter and, when its leave comes after all, gets
 * ITEM_LEAVE alone. A pair is made by task and call, never across a loss on
 * any CPU. A task is in one call at a time, so its next call, its exit or a new
 * task with its id ends the wait for a leave; an exec by a thread carries the
 * call over to the leader's id.
 *
 * Memory is bounded by the window and by CALLS_MAX_PENDING tasks inside calls;
 * calls beyond are taken for unfinished.
 */
#pragma once

#include "traces/source.h"

#define CALLS_WINDOW (1u << 16) /* events */
#define CALLS_MAX_PENDING (1u << 20)

enum item_kind {
	ITEM_POINT, /* a fault or a task event: event */
	ITEM_ENTER, /* a call begins: event is its enter, call its pairing */
	ITEM_LEAVE, /* a call ends: event is its leave */
};

struct paired_call {
	uint64_t enter, leave; /* ns; leave is UINT64_MAX while unfinished */
	uint64_t arg[EVENT_MAX_ARGS];
	uint64_t result;
	uint32_t task;
	uint16_t call; /* enum call */
	bool has_enter, has_leave;
	uint64_t cookie; /* the consumer's: 0 at the enter item, kept until the leave item */
};

struct item {
	enum item_kind kind;
	struct event event;
	/* ITEM_ENTER, ITEM_LEAVE, the same at both: valid until the next item is asked for. What
	 * is to be remembered from the enter to the leave goes into its cookie. */
	struct paired_call *call;
	uint64_t number; /* position of the event in the merged trace, from 0 */
};

struct call_counts {
	uint64_t enters[CALL_COUNT]; /* enters or, where only leaves are recorded, leaves */
	uint64_t failed[CALL_COUNT];
	uint64_t orphan_leaves; /* no enter seen, though the call records enters */
	uint64_t unfinished; /* no leave seen, though the call records leaves */
	uint64_t abandoned; /* of the unfinished: a loss lay between */
};

struct call_pairer;

/* What the source points to is borrowed. */
int call_pairer_new_source(struct call_pairer **out,
                           const struct event_source *source) _must_check_ _nonnull_;
struct call_pairer *call_pairer_free(struct call_pairer *p);

/* Borrows the reader, which must not be read by others meanwhile. */
static inline int call_pairer_new(struct call_pairer **out, struct trace_reader *reader)
{
	struct event_source source;

	event_source_of_reader(&source, reader);
	return call_pairer_new_source(out, &source);
}

/* Returns 1, 0 at the end, or a negative errno that the reader already reported. */
int call_pairer_next(struct call_pairer *p, struct item *out) _must_check_ _nonnull_;

/* Whole only after the end was reached. */
const struct call_counts *call_pairer_counts(const struct call_pairer *p) _nonnull_;
