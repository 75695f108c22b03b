/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks: spawn, exec, exit, waiting for children. A child never inherits the
 * parent's stack: it starts on its own slot of the shared state. Between
 * windows lies what a replay does for itself; its cost is kept per task.
 */

#include <asm/unistd.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>

#include "replay/engine.h"

#define CLONE_WHITE                                                                                \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM |        \
	 CLONE_VFORK)

#ifndef RUSAGE_THREAD
#define RUSAGE_THREAD 1
#endif

struct usage {
	uint64_t minor, major, cpu;
};

/*
 * The thread's clock is exact; times of getrusage are those of the last tick,
 * and how they divide into user and system is known only over long runs.
 */
static _engine_ struct usage usage_now(void)
{
	struct timespec cpu;
	struct rusage r;

	raw_call2(__NR_getrusage, RUSAGE_THREAD, (uint64_t)&r);
	raw_call2(__NR_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (uint64_t)&cpu);
	return (struct usage){
		.minor = (uint64_t)r.ru_minflt,
		.major = (uint64_t)r.ru_majflt,
		.cpu = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec,
	};
}

static _engine_ void mark(uint32_t task, unsigned advice)
{
	if (engine_state()->marks)
		raw_call3(__NR_madvise, MARK_ADDRESS + (uint64_t)task * 4096, 0, advice);
}

/* What this task used since its window was closed, or since it began, is the replayer's own. */
static _engine_ void window_open(struct engine *e)
{
	struct state_task *self = e->self;
	struct usage u = usage_now();

	self->minor_own += u.minor - self->minor_mark;
	self->major_own += u.major - self->major_mark;
	self->cpu_own += u.cpu - self->cpu_mark;
	self->phase = PHASE_RUN;
	mark(e->task, MARK_START);
}

static _engine_ void window_close(struct engine *e)
{
	struct usage u;

	mark(e->task, MARK_STOP);
	u = usage_now();
	e->self->minor_mark = u.minor;
	e->self->major_mark = u.major;
	e->self->cpu_mark = u.cpu;
}

/* Counts a task whose stream is over; the last one lets the parked go. */
_engine_ void engine_count_finished(uint32_t task)
{
	struct state_header *state = engine_state();

	if (__atomic_exchange_n(&engine_task(task)->done, 1, __ATOMIC_SEQ_CST))
		return;
	__atomic_fetch_sub(&state->alive, 1, __ATOMIC_RELAXED);
	if (__atomic_add_fetch(&state->finished, 1, __ATOMIC_SEQ_CST) == state->task_count)
		engine_release(&state->finish);
}

static _engine_ __attribute__((noreturn)) void leave(struct engine *e)
{
	bool exits = plan_head_kind(*e->op) == PLAN_EXIT;

	window_close(e);
	if (!e->task && engine_state()->measure_latency)
		engine_count_mappings();
	if (exits && plan_head_flags(*e->op) & PLAN_NOTIFY)
		engine_publish(e->self, e->ordinal);
	engine_count_finished(e->task);
	if (!exits && !engine_state()->failed)
		engine_park(e);
	e->self->phase = PHASE_GONE;
	for (;;)
		raw_call1(__NR_exit, 0);
}

_engine_ void engine_go(struct engine *e)
{
	window_open(e);
	if (engine_state()->measure_latency)
		engine_run_timed(e);
	else
		engine_run(e);
	leave(e);
}

_engine_ struct engine engine_context(uint32_t task)
{
	struct state_task *self = engine_task(task);
	const uint64_t *words = (const uint64_t *)(PLAN_BASE + engine_plan_task(task)->words);

	return (struct engine){
		.op = words + self->position,
		.ordinal = self->operations,
		.self = self,
		.bases = (uint64_t *)(STATE_BASE + engine_state()->anchors),
		.task = task,
	};
}

_engine_ void engine_pin(uint32_t task)
{
	const uint32_t *pins = (const uint32_t *)(STATE_BASE + engine_state()->pins);
	uint64_t mask[16] = { 0 };
	uint32_t cpu;

	if (!engine_state()->pin_count)
		return;
	cpu = pins[task % engine_state()->pin_count];
	mask[cpu / 64] = 1ULL << (cpu % 64);
	raw_call3(__NR_sched_setaffinity, 0, sizeof(mask), (uint64_t)mask);
}

/* Where arch_clone() leaves a new task: on its own stack slot, its thread id stored. */
__attribute__((used)) _engine_ void engine_child(uint32_t task)
{
	struct engine e = engine_context(task);
	const struct plan_task *plan = engine_plan_task(task);
	struct state_task *parent = engine_task(plan->parent);

	if (!(plan->clone_flags & CLONE_THREAD)) {
		e.self->pid = e.self->tid;
		engine_die_with_coordinator();
	}
	/* The parent sleeps in vfork: what it would publish behind it, the child does. */
	if (plan->clone_flags & CLONE_VFORK)
		engine_publish(parent, parent->operations);
	if (e.self->forked)
		engine_populate_task(&e);
	engine_pin(task);
	engine_go(&e);
}

_engine_ uint64_t engine_spawn(struct engine *e, uint64_t flags, uint32_t child)
{
	struct state_header *state = engine_state();
	struct state_task *row = engine_task(child);
	uint64_t result, alive;

	flags &= CLONE_WHITE;
	row->space = e->self->space;
	row->forked = flags & CLONE_VM ? e->self->forked : 1;
	row->pid = flags & CLONE_THREAD ? e->self->pid : 0;
	if (state->failed)
		raw_call1(__NR_exit_group, 1);
	alive = __atomic_add_fetch(&state->alive, 1, __ATOMIC_RELAXED);
	if (alive > e->self->peak_alive)
		e->self->peak_alive = alive;
	if (alive > state->max_alive) {
		engine_fail(e->task, FAILURE_LIMIT, 0);
		raw_call1(__NR_exit_group, 1);
	}
	if (!(flags & CLONE_THREAD))
		flags |= SIGCHLD;
	result = arch_clone(flags | CLONE_PARENT_SETTID, engine_stack_top(child), &row->tid, child);
	if (result >= (uint64_t)-4095) {
		engine_fail(e->task, FAILURE_SPAWN, (int)-result);
		raw_call1(__NR_exit_group, 1);
	}
	return result;
}

_engine_ uint64_t engine_wait_child(struct engine *e, uint32_t child)
{
	uint32_t pid = engine_task(child)->tid;
	int status = 0;
	uint64_t result;

	e->self->wait_task = child;
	e->self->wait_ordinal = engine_plan_task(child)->operations;
	e->self->phase = PHASE_WAIT;
	result = raw_call4(__NR_wait4, pid, (uint64_t)&status, __WALL, 0);
	e->self->phase = PHASE_RUN;
	if (result < (uint64_t)-4095 && status)
		engine_fail(child, FAILURE_CHILD, status);
	return result;
}

_engine_ void engine_exec(struct engine *e, uint32_t space, const uint64_t *next)
{
	const struct state_header *state = engine_state();
	struct state_exec *exec = (struct state_exec *)(STATE_BASE + state->execs) + space;
	uint64_t environment = 0, nothing = 0, result;

	window_close(e);
	e->self->position =
		(uint64_t)(next - (const uint64_t *)(PLAN_BASE + engine_plan_task(e->task)->words));
	e->self->space = space;
	e->self->forked = 0;
	e->self->phase = PHASE_EXEC;
	result = raw_call5(__NR_execveat, state->self_fd, (uint64_t)&nothing, (uint64_t)exec->argv,
	                   (uint64_t)&environment, 0x1000 /* AT_EMPTY_PATH */);
	engine_fail(e->task, FAILURE_EXEC, (int)-result);
	for (;;)
		raw_call1(__NR_exit_group, 1);
}
