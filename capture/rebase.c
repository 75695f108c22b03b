/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Task table and rebasing. A task that ended stays known for a while: since
 * 6.16 sched_process_exit comes before the space is torn down, and the kernel
 * still touches user memory then.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "capture/rebase.h"

#define REMEMBER_DEAD 1024

struct rebase_task {
	uint64_t shift;
	uint64_t next_shift; /* of the space that an exec is making */
	uint32_t id; /* 0: free slot */
	bool execing, dead;
	bool by_execveat; /* which of the two calls is under way */
};

struct rebase {
	struct rebase_task *slots; /* open addressing, linear probing */
	size_t size, used; /* size is a power of two */
	size_t alive;
	uint32_t dead[REMEMBER_DEAD]; /* ring: oldest is forgotten first */
	unsigned dead_next;
	bool off;
};

int rebase_new(struct rebase **out, bool off)
{
	struct rebase *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->size = 256;
	r->slots = calloc(r->size, sizeof(*r->slots));
	if (!r->slots) {
		free(r);
		return -ENOMEM;
	}
	r->off = off;
	*out = r;
	return 0;
}

struct rebase *rebase_free(struct rebase *r)
{
	if (!r)
		return NULL;
	free(r->slots);
	free(r);
	return NULL;
}

static size_t slot_home(const struct rebase *r, uint32_t id)
{
	return (id * 0x9e3779b1U) & (r->size - 1);
}

static struct rebase_task *slot_find(struct rebase *r, uint32_t id)
{
	size_t i = slot_home(r, id);

	while (r->slots[i].id && r->slots[i].id != id)
		i = (i + 1) & (r->size - 1);
	return &r->slots[i];
}

static int grow(struct rebase *r)
{
	struct rebase_task *old = r->slots;
	size_t old_size = r->size;

	r->slots = calloc(old_size * 2, sizeof(*r->slots));
	if (!r->slots) {
		r->slots = old;
		return -ENOMEM;
	}
	r->size = old_size * 2;
	for (size_t i = 0; i < old_size; i++)
		if (old[i].id)
			*slot_find(r, old[i].id) = old[i];
	free(old);
	return 0;
}

/* Removes a slot and closes the gap that probing would stumble over. */
static void slot_remove(struct rebase *r, struct rebase_task *t)
{
	size_t hole = (size_t)(t - r->slots), i = hole;

	for (;;) {
		size_t home;

		i = (i + 1) & (r->size - 1);
		if (!r->slots[i].id)
			break;
		home = slot_home(r, r->slots[i].id);
		if (((i - home) & (r->size - 1)) >= ((i - hole) & (r->size - 1))) {
			r->slots[hole] = r->slots[i];
			hole = i;
		}
	}
	r->slots[hole].id = 0;
	r->used--;
}

static uint64_t shift_new(const struct rebase *r)
{
	uint64_t v;

	if (r->off)
		return 0;
	while (getrandom(&v, sizeof(v), 0) != sizeof(v))
		;
	return (v % REBASE_UNITS_MAX + 1) * REBASE_UNIT;
}

/* The task's slot; a task not seen before gets a space of its own. */
static struct rebase_task *task_get(struct rebase *r, uint32_t id)
{
	struct rebase_task *t = slot_find(r, id);

	if (t->id)
		return t;
	if (2 * (r->used + 1) > r->size) {
		if (grow(r) < 0)
			return NULL;
		t = slot_find(r, id);
	}
	*t = (struct rebase_task){ .id = id, .shift = shift_new(r) };
	r->used++;
	r->alive++;
	return t;
}

static int task_fork(struct rebase *r, uint32_t parent, uint32_t child)
{
	struct rebase_task *t = task_get(r, parent);
	uint64_t shift;

	if (!t)
		return -ENOMEM;
	shift = t->shift;
	t = task_get(r, child);
	if (!t)
		return -ENOMEM;
	if (t->dead)
		r->alive++;
	*t = (struct rebase_task){ .id = child, .shift = shift };
	return 0;
}

static void task_exit(struct rebase *r, struct rebase_task *t)
{
	uint32_t *place = &r->dead[r->dead_next++ % REMEMBER_DEAD];
	uint32_t forgotten = *place;

	if (!t->dead)
		r->alive--;
	t->dead = true;
	*place = t->id;
	if (!forgotten || forgotten == t->id)
		return;
	t = slot_find(r, forgotten);
	if (t->id && t->dead)
		slot_remove(r, t);
}

/* An exec by a thread takes over the id of the process. */
static int task_exec(struct rebase *r, uint32_t id, uint32_t old_id)
{
	struct rebase_task *t = task_get(r, old_id);
	bool by_execveat;
	uint64_t shift;

	if (!t)
		return -ENOMEM;
	by_execveat = t->by_execveat;
	shift = t->execing ? t->next_shift : shift_new(r);
	if (old_id != id) {
		r->alive -= !t->dead;
		slot_remove(r, t);
		t = task_get(r, id);
		if (!t)
			return -ENOMEM;
		r->alive += t->dead;
	}
	*t = (struct rebase_task){ .id = id, .shift = shift, .by_execveat = by_execveat };
	return 0;
}

static int task_execing(struct rebase *r, uint32_t id)
{
	struct rebase_task *t = task_get(r, id);

	if (!t)
		return -ENOMEM;
	t->execing = true;
	t->next_shift = shift_new(r);
	return 0;
}

static bool is_exec_call(unsigned kind, bool leave)
{
	return event_is_call(kind) && event_is_leave(kind) == leave &&
	       (event_call(kind) == CALL_EXECVE || event_call(kind) == CALL_EXECVEAT);
}

static int exec_enter(struct rebase *r, const struct event *e, bool have_prepare_exec)
{
	struct rebase_task *t = task_get(r, e->task);

	if (!t)
		return -ENOMEM;
	t->by_execveat = event_call(e->kind) == CALL_EXECVEAT;
	return have_prepare_exec ? 0 : task_execing(r, e->task);
}

/* On x86 the leave of an execveat that worked says execve (set_personality_64bit). */
static int exec_leave(struct rebase *r, struct event *e)
{
	struct rebase_task *t = task_get(r, e->task);

	if (!t)
		return -ENOMEM;
	if (t->by_execveat)
		e->kind = EVENT_LEAVE(CALL_EXECVEAT);
	t->execing = false;
	return 0;
}

static int follow(struct rebase *r, struct event *e, bool have_prepare_exec)
{
	struct rebase_task *t;

	switch (e->kind) {
	case EVENT_NEWTASK:
		return task_fork(r, e->task, (uint32_t)e->arg[0]);
	case EVENT_PREPARE_EXEC:
		return task_execing(r, e->task);
	case EVENT_EXEC:
		return task_exec(r, e->task, (uint32_t)e->arg[0]);
	case EVENT_EXIT:
		t = task_get(r, e->task);
		if (!t)
			return -ENOMEM;
		task_exit(r, t);
		return 0;
	}
	if (is_exec_call(e->kind, false))
		return exec_enter(r, e, have_prepare_exec);
	return is_exec_call(e->kind, true) ? exec_leave(r, e) : 0;
}

static uint64_t moved(uint64_t address, uint64_t shift)
{
	return address >= REBASE_FROM && address < REBASE_TO ? address - shift : address;
}

static uint64_t task_shift(const struct rebase_task *t)
{
	return t->execing ? t->next_shift : t->shift;
}

int rebase_event(struct rebase *r, struct event *e, bool have_prepare_exec)
{
	const struct event_row *row = event_row(e->kind);
	struct rebase_task *t;
	int ret = follow(r, e, have_prepare_exec);

	if (ret < 0)
		return ret;
	t = task_get(r, e->task);
	if (!t)
		return -ENOMEM;
	for (unsigned i = 0; i < row->args; i++) {
		if (row->types[i] == ARG_POINTER)
			e->arg[i] = e->arg[i] != 0;
		else if (row->types[i] == ARG_ADDRESS ||
		         (row->types[i] == ARG_RESULT_ADDRESS && !result_is_error(e->arg[i])))
			e->arg[i] = moved(e->arg[i], task_shift(t));
	}
	return 0;
}

uint64_t rebase_address(struct rebase *r, uint32_t task, uint64_t address)
{
	struct rebase_task *t = task_get(r, task);

	return t ? moved(address, task_shift(t)) : address;
}

size_t rebase_tasks_alive(const struct rebase *r)
{
	return r->alive;
}
