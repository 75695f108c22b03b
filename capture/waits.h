/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits for locks, from the events lock:contention_begin and _end of all CPUs
 * (include/trace/events/lock.h). Pure: no input or output.
 *
 * A wait belongs to a task and a lock; within one, the same task may wait for
 * others (a mutex's own spinlock, an interrupt's locks). Mutexes tell several
 * begins before one end, whenever they change from spinning to sleeping: the first counts.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct waits;

struct wait_event {
	uint64_t time; /* ns */
	uint64_t lock;
	uint32_t task; /* tid; idle tasks have 0 on every CPU, so the CPU as well */
	uint32_t cpu;
	uint32_t what; /* the caller's, of a begin */
	bool end;
};

/* What could not be paired. */
struct waits_rest {
	uint64_t ends; /* without a begin: it was before the start, or lost */
	uint64_t begins; /* without an end so far */
};

/* Called with each wait that ended: what of its begin, and ns. */
typedef void waits_ended_fn(void *context, uint32_t what, uint64_t ns);

int waits_new(struct waits **out, waits_ended_fn *ended, void *context) _must_check_
	_nonnull_args_(1, 2);
struct waits *waits_free(struct waits *w);

/* In any order. -ENOMEM. */
int waits_add(struct waits *w, const struct wait_event *event) _must_check_ _nonnull_;
/* Events before `until` are all there: pairs them. */
int waits_flush(struct waits *w, uint64_t until) _must_check_ _nonnull_;
void waits_rest(const struct waits *w, struct waits_rest *out) _nonnull_;
/* Forgets everything. */
void waits_reset(struct waits *w) _nonnull_;
