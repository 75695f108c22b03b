/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine: runs one task's stream. Internal to the engine's files, which are
 * compiled without stack protector and call nothing outside themselves: no
 * libc, no allocation, no thread-local storage. Plan and state lie at constant
 * addresses in every process, so a context can be made anew anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "replay/arch_x86_64.h"
#include "replay/plan.h"
#include "replay/state.h"

struct engine {
	const uint64_t *op; /* the word to run next */
	uint64_t ordinal; /* of the last operation begun */
	struct state_task *self;
	uint64_t *bases; /* of the anchors */
	uint32_t task;
};

static inline const struct plan_header *engine_plan(void)
{
	return (const struct plan_header *)PLAN_BASE;
}

static inline struct state_header *engine_state(void)
{
	return (struct state_header *)STATE_BASE;
}

static inline struct state_task *engine_task(uint32_t task)
{
	return (struct state_task *)(STATE_BASE + engine_state()->tasks) + task;
}

static inline const struct plan_task *engine_plan_task(uint32_t task)
{
	return (const struct plan_task *)(PLAN_BASE + engine_plan()->tasks) + task;
}

static inline uint64_t engine_stack_top(uint32_t task)
{
	return STATE_BASE + engine_state()->stacks + (uint64_t)(task + 1) * STATE_STACK_BYTES;
}

/* engine.c: runs the stream to its end; comes back only for PLAN_END and PLAN_EXIT. */
void engine_run(struct engine *e);
void engine_run_timed(struct engine *e);

/* engine_calls.c: the calls that are rare enough not to be inlined. */
uint64_t engine_call_rare(const struct engine *e, const uint64_t *op);
void engine_mismatch(struct engine *e, uint64_t got);

/* engine_time.c: the latency pass. */
uint64_t engine_time_begin(struct engine *e, enum plan_kind kind);
void engine_time_end(struct engine *e, enum plan_kind kind, uint64_t begun);

/* engine_count.c: into the state; the latency pass, after the window. */
void engine_count_mappings(void);

/* engine_wait.c */
void engine_wake(struct state_task *task);
void engine_wait_asleep(struct engine *e, struct state_task *other, uint64_t ordinal);
void engine_sleep(struct engine *e, uint64_t after);
void engine_park(struct engine *e);
void engine_start_line(void);
void engine_release(uint32_t *word);
void engine_fail(uint32_t task, enum state_failure what, int error);

/*
 * Inline, since a call from the loop is one more page of code to translate and one more
 * return to predict, with both forgotten while the kernel was entered.
 */
static inline __attribute__((always_inline)) void engine_publish(struct state_task *task,
                                                                 uint64_t ordinal)
{
	__atomic_store_n(&task->progress, (uint32_t)ordinal, __ATOMIC_RELEASE);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (unlikely(__atomic_load_n(&task->waiters, __ATOMIC_RELAXED)))
		engine_wake(task);
}

static inline __attribute__((always_inline)) void engine_wait(struct engine *e, uint32_t task,
                                                              uint64_t ordinal)
{
	struct state_task *other = engine_task(task);
	uint32_t left = engine_state()->spin;

	while (__atomic_load_n(&other->progress, __ATOMIC_ACQUIRE) < ordinal) {
		if (left-- == 0) {
			engine_wait_asleep(e, other, ordinal);
			return;
		}
		arch_pause();
	}
}

/* engine_touch.c */
uint64_t engine_touch_fill(const struct engine *e, uint64_t address);
void engine_touch_install(void);

/* engine_task.c */
uint64_t engine_spawn(struct engine *e, uint64_t flags, uint32_t child);
uint64_t engine_wait_child(struct engine *e, uint32_t child);
void engine_exec(struct engine *e, uint32_t space, const uint64_t *next) __attribute__((noreturn));
void engine_leave(struct engine *e) __attribute__((noreturn));
void engine_child(uint32_t task) __attribute__((noreturn));
struct engine engine_context(uint32_t task);
void engine_count_finished(uint32_t task);
void engine_pin(uint32_t task);
/* Opens the window, runs the stream, leaves. */
void engine_go(struct engine *e) __attribute__((noreturn));

/* engine_space.c */
/* Into a new space, on the task's stack slot: a root waits at the start line, an exec goes on. */
void engine_enter(uint32_t task) __attribute__((noreturn));
/* Faults in what a task in a forked space is about to use. */
void engine_populate_task(const struct engine *e);
/* Ends the process if the coordinator is gone. */
void engine_die_with_coordinator(void);

/* What to unmap on the way into a space; lies at the low end of the task's stack slot. */
#define ENGINE_MAX_RANGES 512
struct engine_ranges {
	uint64_t count;
	struct {
		uint64_t start, length;
	} range[ENGINE_MAX_RANGES];
};

static inline struct engine_ranges *engine_ranges(uint32_t task)
{
	return (struct engine_ranges *)(engine_stack_top(task) - STATE_STACK_BYTES);
}
