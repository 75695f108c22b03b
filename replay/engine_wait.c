/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits between tasks. The waker stores its progress, then looks for waiters;
 * the waiter announces itself, then looks at the progress again. Both sides
 * have a full fence between the two steps, so one of them sees the other.
 * Futexes are shared ones: the state is memory of several processes.
 */

#include <asm/unistd.h>
#include <errno.h>
#include <linux/futex.h>
#include <limits.h>
#include <time.h>

#include "replay/engine.h"

static _engine_ void futex_wake(uint32_t *word)
{
	raw_call3(__NR_futex, (uint64_t)word, FUTEX_WAKE, INT_MAX);
}

static _engine_ void futex_wait(uint32_t *word, uint32_t seen)
{
	raw_call4(__NR_futex, (uint64_t)word, FUTEX_WAIT, seen, 0);
}

_engine_ void engine_wake(struct state_task *task)
{
	futex_wake(&task->progress);
}

_engine_ void engine_wait_asleep(struct engine *e, struct state_task *other, uint64_t ordinal)
{
	uint32_t seen;

	e->self->slept++;
	e->self->wait_task = (uint32_t)(other - engine_task(0));
	e->self->wait_ordinal = ordinal;
	e->self->phase = PHASE_WAIT;
	__atomic_fetch_add(&other->waiters, 1, __ATOMIC_SEQ_CST);
	while ((seen = __atomic_load_n(&other->progress, __ATOMIC_ACQUIRE)) < ordinal)
		futex_wait(&other->progress, seen);
	__atomic_fetch_sub(&other->waiters, 1, __ATOMIC_RELAXED);
	e->self->phase = PHASE_RUN;
}

static _engine_ uint64_t now(void)
{
	struct timespec time;

	raw_call2(__NR_clock_gettime, CLOCK_MONOTONIC, (uint64_t)&time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* after: ns of the recording since its start. All sleeps count from the one start. */
_engine_ void engine_sleep(struct engine *e, uint64_t after)
{
	const struct state_header *state = engine_state();
	uint64_t due, late;
	struct timespec until;

	if (!state->pace)
		return;
	due = state->start_time + after / state->pace * 65536 +
	      after % state->pace * 65536 / state->pace;
	if (now() < due) {
		until = (struct timespec){ (time_t)(due / 1000000000), (long)(due % 1000000000) };
		e->self->phase = PHASE_SLEEP;
		while (raw_call4(__NR_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME,
		                 (uint64_t)&until, 0) == (uint64_t)-EINTR)
			;
		e->self->phase = PHASE_RUN;
	}
	late = now() - due;
	e->self->drift_sum += late;
	if (late > e->self->drift_max)
		e->self->drift_max = late;
}

static _engine_ void wait_for_word(uint32_t *word)
{
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE))
		futex_wait(word, 0);
}

/* A task that was never seen to exit keeps its memory until every stream has ended. */
_engine_ void engine_park(struct engine *e)
{
	e->self->phase = PHASE_PARKED;
	wait_for_word(&engine_state()->finish);
}

_engine_ void engine_release(uint32_t *word)
{
	__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
	futex_wake(word);
}

_engine_ void engine_start_line(void)
{
	struct state_header *state = engine_state();

	__atomic_fetch_add(&state->ready, 1, __ATOMIC_SEQ_CST);
	futex_wake(&state->ready);
	wait_for_word(&state->start);
}

/* The first failure is kept; the coordinator sees it and ends the run. */
_engine_ void engine_fail(uint32_t task, enum state_failure what, int error)
{
	struct state_header *state = engine_state();
	uint32_t none = FAILURE_NONE;

	if (!__atomic_compare_exchange_n(&state->failed, &none, what, false, __ATOMIC_SEQ_CST,
	                                 __ATOMIC_SEQ_CST))
		return;
	state->failed_task = task;
	state->failed_error = error;
}
