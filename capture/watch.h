/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sees an exec at once and reads the mappings it made while they are fresh.
 * The recording's own buffers are read some twenty times a second, when a short
 * program is long gone; so a second small instance, with that one event in it,
 * wakes a thread that is scheduled before the recorded tasks (as real-time, where
 * that is allowed) and works some 100 us per exec.
 */
#pragma once

#include <stdint.h>

#include "capture/points.h"
#include "capture/siphash.h"
#include "traces/records.h"

struct watch;
struct journal;

/* Borrows points. Follows task and what it forks. Prints its line on failure. */
int watch_new(struct watch **out, const struct points *points, struct journal *journal,
              uint32_t task, const struct siphash_key *key) _must_check_ _nonnull_;
struct watch *watch_free(struct watch *w);

/*
 * Hands over the mappings of the exec of that task at about that time, as they
 * are in the process. Returns 1 when they were not read in time.
 */
int watch_find(struct watch *w, uint32_t task, uint64_t time,
               struct trace_maps *out) _must_check_ _nonnull_;
