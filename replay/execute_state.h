/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The shared state of one copy of a replay, as its coordinator sees it. */
#pragma once

#include "replay/execute.h"

struct run_state {
	int fd;
	struct state_header *header; /* mapped where the kernel chose */
	uint64_t bytes;
};

/* Descriptor numbers in the replayed processes. */
struct run_numbers {
	uint32_t self, plan, state, file;
};

/*
 * Makes and faults in the state of a copy. tick_ns: see state.h. The pins are
 * `pin_count` cpu numbers, turned by `copy * tasks` so that copies spread.
 */
int run_state_make(struct run_state *out, const struct plan *plan,
                   const struct execute_options *options, const struct run_numbers *numbers,
                   const uint32_t *pins, uint32_t pin_count, uint32_t copy,
                   uint64_t tick_ns) _must_check_ _nonnull_args_(1, 2, 3, 4);
void run_state_release(struct run_state *s) _nonnull_;

static inline struct state_task *run_state_task(const struct run_state *s, uint32_t task)
{
	return (struct state_task *)((char *)s->header + s->header->tasks) + task;
}

static inline struct state_latency *run_state_latency(const struct run_state *s, uint32_t row)
{
	return (struct state_latency *)((char *)s->header + s->header->latencies) +
	       row * PLAN_KIND_COUNT;
}

static inline uint32_t run_state_rows(uint32_t tasks)
{
	return tasks < STATE_LATENCY_ROWS ? tasks : STATE_LATENCY_ROWS;
}

/* ns per tick of the time stamp counter, times 2^32; takes 20 ms. */
uint64_t run_measure_tick(void);
