/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The way into a space: from here on nothing of libc is left. The program's
 * own libraries, data, heap and stack are unmapped, so that forks do not copy
 * them and the exit does not tear them down as part of the recorded work.
 */

#include <asm/unistd.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <signal.h>
#include <sys/mman.h>

#include "replay/engine.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE_BYTES 4096
#define POPULATE_STREAM (16u << 20) /* so much of a stream is mapped at once */
#define POPULATE_PLAN (256u << 20) /* a plan up to here is mapped whole by roots */
#define POPULATE_STATE (256u << 10) /* of the tables, by a fork or an exec */

/* Before 5.14 there is no populating: one access a page. */
static _engine_ void populate(uint64_t start, uint64_t bytes, unsigned advice)
{
	uint64_t from = start & ~(uint64_t)(PAGE_BYTES - 1);

	bytes += start - from;
	if (!raw_call3(__NR_madvise, from, bytes, advice))
		return;
	for (uint64_t at = from; at < from + bytes; at += PAGE_BYTES)
		(void)*(volatile const char *)at;
}

static _engine_ void populate_stream(uint32_t task, uint64_t position)
{
	const struct plan_task *plan = engine_plan_task(task);
	uint64_t bytes = (plan->word_count - position) * sizeof(uint64_t);

	populate(PLAN_BASE + plan->words + position * sizeof(uint64_t),
	         bytes < POPULATE_STREAM ? bytes : POPULATE_STREAM, MADV_POPULATE_READ);
}

/* A task's own row and the top of its stack, which is all it uses without signals. */
static _engine_ void populate_row(uint32_t task)
{
	populate((uint64_t)engine_task(task), sizeof(struct state_task), MADV_POPULATE_WRITE);
	populate(engine_stack_top(task) - 2 * PAGE_BYTES, 2 * PAGE_BYTES, MADV_POPULATE_WRITE);
}

static _engine_ void populate_tables(uint64_t limit)
{
	const struct state_header *state = engine_state();

	populate(STATE_BASE, state->prefault < limit ? state->prefault : limit,
	         MADV_POPULATE_WRITE);
	populate((uint64_t)__start_mmtape_engine,
	         (uint64_t)(__stop_mmtape_engine - __start_mmtape_engine), MADV_POPULATE_READ);
}

_engine_ void engine_populate_task(const struct engine *e)
{
	if (!(engine_plan_task(e->task)->clone_flags & CLONE_VM))
		populate_tables(POPULATE_STATE);
	populate_row(e->task);
	populate_stream(e->task, e->self->position);
}

/* Everything the tasks of this space will use, threads to come included. */
static _engine_ void populate_space(const struct engine *e, bool root)
{
	const struct state_header *state = engine_state();

	populate_tables(root ? UINT64_MAX : POPULATE_STATE);
	if (root && state->plan_bytes <= POPULATE_PLAN)
		populate(PLAN_BASE, state->plan_bytes, MADV_POPULATE_READ);
	populate_row(e->task);
	populate_stream(e->task, e->self->position);
	for (uint32_t t = 0; t < state->task_count; t++) {
		const struct plan_task *plan = engine_plan_task(t);

		if (t == e->task || plan->space != e->self->space ||
		    !(plan->clone_flags & CLONE_VM))
			continue;
		populate_row(t);
		populate_stream(t, 0);
	}
}

/* Threads that the exec killed will not count themselves. */
static _engine_ void count_killed_threads(const struct engine *e)
{
	for (uint32_t t = 0; t < engine_state()->task_count; t++)
		if (t != e->task && engine_task(t)->pid == e->self->pid && engine_task(t)->tid)
			engine_count_finished(t);
}

static _engine_ bool is_ours(uint32_t pid)
{
	if (!pid)
		return false;
	if (pid == engine_state()->coordinator)
		return true;
	for (uint32_t t = 0; t < engine_state()->task_count; t++)
		if (engine_task(t)->pid == pid)
			return true;
	return false;
}

/* SIGURG: the parent is gone. Normal where a recorded parent exits before its child. */
static _engine_ void orphan_handler(int number)
{
	(void)number;
	if (!is_ours((uint32_t)raw_call0(__NR_getppid)))
		raw_call1(__NR_exit_group, 1);
}

/*
 * The death signal is sent on every change of parent, so a handler tells a
 * parent's planned exit from the end of the whole replay. SIGURG is ignored by
 * default: nothing is lost or killed while an exec has no handler yet.
 */
_engine_ void engine_die_with_coordinator(void)
{
	raw_call2(__NR_prctl, PR_SET_PDEATHSIG, SIGURG);
	orphan_handler(SIGURG);
}

static _engine_ void install_orphan_handler(void)
{
	struct arch_sigaction action = ARCH_SIGACTION(orphan_handler, SA_RESTART);

	raw_call4(__NR_rt_sigaction, SIGURG, (uint64_t)&action, 0, sizeof(action.mask));
}

static _engine_ void forget_program(uint32_t task)
{
	const struct engine_ranges *list = engine_ranges(task);

	for (uint64_t i = 0; i < list->count; i++)
		raw_call2(__NR_munmap, list->range[i].start, list->range[i].length);
	raw_call1(__NR_set_tid_address, 0);
	raw_call2(__NR_set_robust_list, 0, 24);
}

static _engine_ uint64_t map_nothing(uint64_t length)
{
	/* Shared, so that it never merges with a mapping of the recording. */
	return raw_call6(__NR_mmap, 0, length, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

/* A hole that ends at `end` and is smaller than PLAN_PHASE: filled from its top. */
static _engine_ void fill_hole(uint64_t end)
{
	for (uint64_t size = PLAN_PHASE / 2; size >= PAGE_BYTES; size /= 2) {
		uint64_t at = map_nothing(size);

		if (at + size == end)
			end = at;
		else if (at < (uint64_t)-4095)
			raw_call2(__NR_munmap, at, size);
	}
}

/*
 * Pads the area that the kernel chooses from until the first mapping of the
 * recording would end at its recorded phase. Holes above the area, too small
 * for the pad but not for that mapping, are filled first.
 */
static _engine_ void align_free_area(const struct plan_space *space)
{
	for (unsigned tries = 0; space->chosen_length && tries < 16; tries++) {
		uint64_t at = map_nothing(space->chosen_length);
		uint64_t end = at + space->chosen_length, pad;

		if (at >= (uint64_t)-4095)
			return;
		raw_call2(__NR_munmap, at, space->chosen_length);
		pad = (end - space->chosen_end) % PLAN_PHASE;
		if (!pad)
			return;
		at = map_nothing(pad);
		if (at >= (uint64_t)-4095)
			return;
		if (at + pad != end) {
			raw_call2(__NR_munmap, at, pad);
			fill_hole(end);
		}
	}
}

_engine_ void engine_enter(uint32_t task)
{
	struct engine e = engine_context(task);
	bool root = !e.self->position;

	forget_program(task);
	if (engine_plan()->placement != PLACE_TRACED)
		align_free_area((const struct plan_space *)(PLAN_BASE + engine_plan()->spaces) +
		                e.self->space);
	engine_touch_install();
	install_orphan_handler();
	e.self->tid = (uint32_t)raw_call0(__NR_gettid);
	e.self->pid = (uint32_t)raw_call0(__NR_getpid);
	populate_space(&e, root);
	engine_pin(task);
	if (root) {
		engine_start_line();
		if (engine_state()->failed || engine_state()->start != 1)
			raw_call1(__NR_exit_group, 0);
	} else {
		engine_die_with_coordinator();
		count_killed_threads(&e);
		/* The exec is done only now; the word before the position is its head. */
		if (plan_head_flags(e.op[-1]) & PLAN_NOTIFY)
			engine_publish(e.self, e.ordinal);
	}
	engine_go(&e);
}
