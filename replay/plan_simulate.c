/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a plan's order without its memory: tasks advance until they wait, as in
 * the engine, and every wait has to end. What waits hangs on the task it waits
 * for, and is looked at again when that one has moved on.
 */

#include <inttypes.h>
#include <linux/sched.h>
#include <stdlib.h>

#include "replay/plan_check_core.h"

#define NONE PLAN_NONE

enum state { UNBORN, READY, WAITING, ENDED };

struct sim_task {
	enum state state;
	uint64_t at, ordinal, progress;
	uint32_t threads; /* of a leader: started and not ended */
	uint32_t vfork_parent; /* sleeps until this one execs or ends */
	uint32_t waiters, next; /* list of those that wait for this one; link in such a list */
	uint32_t ready_next;
	bool parked; /* its stream ended without an exit */
};

struct sim {
	struct plan_checker *k;
	struct sim_task *tasks;
	uint32_t ready; /* list */
};

static void make_ready(struct sim *s, uint32_t number)
{
	if (s->tasks[number].state == ENDED)
		return;
	s->tasks[number].state = READY;
	s->tasks[number].ready_next = s->ready;
	s->ready = number;
}

static void wake_waiters(struct sim *s, uint32_t number)
{
	uint32_t w = s->tasks[number].waiters;

	s->tasks[number].waiters = NONE;
	while (w != NONE) {
		uint32_t next = s->tasks[w].next;

		make_ready(s, w);
		w = next;
	}
}

static void wait_on(struct sim *s, uint32_t number, uint32_t on)
{
	s->tasks[number].state = WAITING;
	s->tasks[number].next = s->tasks[on].waiters;
	s->tasks[on].waiters = number;
}

static void release_vfork(struct sim *s, uint32_t number)
{
	uint32_t parent = s->tasks[number].vfork_parent;

	s->tasks[number].vfork_parent = NONE;
	if (parent != NONE)
		make_ready(s, parent);
}

static void end_task(struct sim *s, uint32_t number)
{
	uint32_t leader = s->k->tasks[number].process;

	if (s->tasks[number].state == ENDED)
		return;
	s->tasks[number].state = ENDED;
	if (!--s->tasks[leader].threads)
		wake_waiters(s, leader);
	release_vfork(s, number);
}

static void start_task(struct sim *s, uint32_t number)
{
	s->tasks[s->k->tasks[number].process].threads++;
	make_ready(s, number);
}

static void kill_threads(struct sim *s, uint32_t number)
{
	if (s->tasks[s->k->tasks[number].process].threads <= 1)
		return;
	for (uint32_t i = 0; i < s->k->header->task_count; i++)
		if (i != number && s->k->tasks[i].process == s->k->tasks[number].process &&
		    s->tasks[i].state != UNBORN)
			end_task(s, i);
}

static void publish(struct sim *s, uint32_t number, uint64_t head)
{
	struct sim_task *t = &s->tasks[number];

	if (!(plan_head_flags(head) & PLAN_NOTIFY))
		return;
	t->progress = t->ordinal;
	wake_waiters(s, number);
}

/* One operation is done. 1: go on, 0: the task rests. */
static int done(struct sim *s, uint32_t number, const uint64_t *op)
{
	uint32_t child = plan_head_index(*op);

	s->tasks[number].ordinal++;
	switch (plan_head_kind(*op)) {
	case PLAN_SPAWN:
		if (s->tasks[child].state != UNBORN || child < s->k->header->root_count)
			return plan_wrong(s->k, "task %u is started twice", child);
		start_task(s, child);
		publish(s, number, *op);
		if (!(s->k->tasks[child].clone_flags & CLONE_VFORK))
			return 1;
		s->tasks[child].vfork_parent = number;
		s->tasks[number].state = WAITING;
		return 0;
	case PLAN_EXEC:
		kill_threads(s, number);
		release_vfork(s, number);
		break;
	case PLAN_EXIT:
		publish(s, number, *op);
		end_task(s, number);
		return 0;
	default:
		break;
	}
	publish(s, number, *op);
	return 1;
}

/* The next word. 1: go on, 0: the task rests. */
static int step(struct sim *s, uint32_t number)
{
	const struct plan_task *row = &s->k->tasks[number];
	struct sim_task *t = &s->tasks[number];
	const uint64_t *op = (const uint64_t *)plan_at(s->k->plan, row->words) + t->at;
	uint32_t on = (uint32_t)(*op >> 8) & 0xffffff;

	switch (plan_head_kind(*op)) {
	case PLAN_END:
		t->state = WAITING;
		t->parked = true;
		return 0;
	case PLAN_WAIT:
		if (on >= s->k->header->task_count)
			return plan_wrong(s->k, "task %u waits for task %u", number, on);
		if (s->tasks[on].progress >= *op >> 32)
			break;
		wait_on(s, number, on);
		return 0;
	case PLAN_TIME:
		break;
	case PLAN_WAIT_CHILD:
		on = plan_head_index(*op);
		if (s->tasks[on].state == UNBORN || s->tasks[on].threads) {
			wait_on(s, number, on);
			return 0;
		}
		/* fall through */
	default:
		t->at += 1 + plan_operands(op);
		return done(s, number, op);
	}
	t->at++;
	return 1;
}

static int check_ends(struct sim *s)
{
	for (uint32_t i = 0; i < s->k->header->task_count; i++) {
		const struct sim_task *t = &s->tasks[i];

		if (t->state == UNBORN)
			return plan_wrong(s->k, "task %u is never started", i);
		if (t->state != ENDED && !t->parked)
			return plan_wrong(s->k,
			                  "task %u waits without end behind operation %" PRIu64, i,
			                  t->ordinal);
	}
	return 0;
}

int plan_simulate(struct plan_checker *k)
{
	struct sim s = { k, calloc(k->header->task_count, sizeof(struct sim_task)), NONE };
	int r = s.tasks ? 0 : -ENOMEM;

	for (uint32_t i = 0; r >= 0 && i < k->header->task_count; i++)
		s.tasks[i].waiters = s.tasks[i].vfork_parent = NONE;
	for (uint32_t i = 0; r >= 0 && i < k->header->root_count; i++)
		start_task(&s, i);
	while (r >= 0 && s.ready != NONE) {
		uint32_t number = s.ready;

		s.ready = s.tasks[number].ready_next;
		r = s.tasks[number].state == ENDED ? 0 : 1;
		while (r > 0)
			r = step(&s, number);
	}
	if (r >= 0)
		r = check_ends(&s);
	free(s.tasks);
	return r;
}
