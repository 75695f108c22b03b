/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks and what they share. Living threads of a process form a ring, so an
 * exec finds those that it ends. The index maps an id to the last task that
 * had it; an entry is stale when that task's id is another by now.
 *
 * Kernel facts (fs/exec.c, kernel/exit.c): begin_new_exec() fires
 * sched_prepare_exec after its last failure that can be returned, and before
 * the other threads are killed; sched_process_exit can fire before exit_mm(),
 * so a task may still fault in the kernel after it.
 */

#include <linux/sched.h>
#include <stdlib.h>

#include "common/array.h"
#include "common/map.h"
#include "traces/lineage.h"
#include "traces/release.h"

struct node {
	struct lineage_task task;
	uint32_t next, previous; /* the ring of the process's living threads */
};

struct lineage {
	struct node *nodes;
	struct lineage_space *spaces;
	struct lineage_files *files;
	size_t task_count, task_room;
	size_t space_count, space_room;
	size_t files_count, files_room;
	struct map index;
	struct lineage_counts counts;
	bool prepared; /* prepare_exec events are to be expected */
};

int lineage_new(struct lineage **out)
{
	struct lineage *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	*out = l;
	return 0;
}

struct lineage *lineage_free(struct lineage *l)
{
	if (!l)
		return NULL;
	free(l->nodes);
	free(l->spaces);
	free(l->files);
	map_clear(&l->index);
	free(l);
	return NULL;
}

void lineage_set_kernel(struct lineage *l, const char *release)
{
	l->prepared = release_at_least(release, 6, 10);
}

uint32_t lineage_find_last(const struct lineage *l, uint32_t id)
{
	const uint64_t *number = map_find(&l->index, id);

	return number && l->nodes[*number].task.id == id ? (uint32_t)*number : LINEAGE_NONE;
}

uint32_t lineage_find(const struct lineage *l, uint32_t id)
{
	uint32_t number = lineage_find_last(l, id);

	return number != LINEAGE_NONE && l->nodes[number].task.died == UINT64_MAX ? number
	                                                                          : LINEAGE_NONE;
}

static int space_add(struct lineage *l, enum lineage_origin origin, uint32_t from, uint32_t task,
                     uint32_t *number)
{
	int r = array_grow((void **)&l->spaces, l->space_count, &l->space_room, sizeof(*l->spaces));

	if (r < 0)
		return r;
	/* An exec makes a space and no task, so tasks do not bound spaces. */
	if (l->space_count >= 4 * (size_t)LINEAGE_MAX_TASKS)
		return -E2BIG;
	*number = (uint32_t)l->space_count++;
	l->spaces[*number] = (struct lineage_space){ origin, from, task, 0 };
	return 0;
}

static int files_add(struct lineage *l, uint32_t from, uint32_t *number)
{
	int r = array_grow((void **)&l->files, l->files_count, &l->files_room, sizeof(*l->files));

	if (r < 0)
		return r;
	if (l->files_count >= 4 * (size_t)LINEAGE_MAX_TASKS)
		return -E2BIG;
	*number = (uint32_t)l->files_count++;
	l->files[*number] = (struct lineage_files){ from, 0 };
	return 0;
}

static void ring_remove(struct lineage *l, uint32_t number)
{
	struct node *n = &l->nodes[number];

	l->nodes[n->previous].next = n->next;
	l->nodes[n->next].previous = n->previous;
	n->next = n->previous = number;
}

static void ring_insert(struct lineage *l, uint32_t number, uint32_t beside)
{
	struct node *n = &l->nodes[number], *b = &l->nodes[beside];

	n->next = b->next;
	n->previous = beside;
	l->nodes[b->next].previous = number;
	b->next = number;
}

static void task_die(struct lineage *l, uint32_t number, uint64_t time)
{
	struct lineage_task *t = &l->nodes[number].task;

	t->died = time;
	t->execing = false;
	l->spaces[t->space].users--;
	l->files[t->files].users--;
	l->counts.alive--;
	ring_remove(l, number);
}

/* A task without space and files; those are the caller's to give before it lives. */
static int task_add(struct lineage *l, uint32_t id, uint64_t time, uint32_t *number)
{
	uint32_t old = lineage_find(l, id);
	int r;

	if (l->task_count >= LINEAGE_MAX_TASKS)
		return -E2BIG;
	r = array_grow((void **)&l->nodes, l->task_count, &l->task_room, sizeof(*l->nodes));
	if (r >= 0)
		r = map_set(&l->index, id, l->task_count);
	if (r < 0)
		return r;
	if (old != LINEAGE_NONE) {
		task_die(l, old, time);
		l->counts.reborn++;
	}
	*number = (uint32_t)l->task_count++;
	l->nodes[*number] = (struct node){
		.task = { .id = id,
		          .parent = LINEAGE_NONE,
		          .process = *number,
		          .next_space = LINEAGE_NONE,
		          .born = time,
		          .died = time },
		.next = *number,
		.previous = *number,
	};
	return 0;
}

static void task_live(struct lineage *l, uint32_t number, uint32_t space, uint32_t files)
{
	struct lineage_task *t = &l->nodes[number].task;

	t->space = space;
	t->files = files;
	t->died = UINT64_MAX;
	l->spaces[space].users++;
	l->files[files].users++;
	if (++l->counts.alive > l->counts.alive_peak)
		l->counts.alive_peak = l->counts.alive;
}

static int root_add(struct lineage *l, uint32_t id, uint64_t time, uint32_t *number)
{
	uint32_t space, files;
	int r = task_add(l, id, time, number);

	if (r >= 0)
		r = space_add(l, SPACE_OF_ROOT, LINEAGE_NONE, *number, &space);
	if (r >= 0)
		r = files_add(l, LINEAGE_NONE, &files);
	if (r < 0)
		return r;
	l->nodes[*number].task.assumed = true;
	l->counts.assumed++;
	task_live(l, *number, space, files);
	return 0;
}

static int child_add(struct lineage *l, uint32_t parent, const struct event *e)
{
	const uint64_t flags = e->arg[1];
	uint32_t number, space = l->nodes[parent].task.space, files = l->nodes[parent].task.files;
	int r = task_add(l, (uint32_t)e->arg[0], e->time, &number);

	if (r >= 0 && !(flags & CLONE_VM))
		r = space_add(l, SPACE_OF_FORK, space, number, &space);
	if (r >= 0 && !(flags & CLONE_FILES))
		r = files_add(l, files, &files);
	if (r < 0)
		return r;
	l->nodes[number].task.parent = parent;
	l->nodes[number].task.clone_flags = flags;
	/* A parent whose own id came out again is dead by now, and in no ring. */
	if (flags & CLONE_THREAD && l->nodes[parent].task.died == UINT64_MAX) {
		l->nodes[number].task.process = l->nodes[parent].task.process;
		ring_insert(l, number, parent);
	}
	task_live(l, number, space, files);
	return 0;
}

static int next_space_make(struct lineage *l, uint32_t number)
{
	struct lineage_task *t = &l->nodes[number].task;

	if (t->next_space != LINEAGE_NONE)
		return 0;
	return space_add(l, SPACE_OF_EXEC, t->space, number, &t->next_space);
}

int lineage_unshare_files(struct lineage *l, uint32_t number)
{
	struct lineage_task *t = &l->nodes[number].task;
	uint32_t files;
	int r;

	if (t->died != UINT64_MAX || l->files[t->files].users <= 1)
		return 0;
	r = files_add(l, t->files, &files);
	if (r < 0)
		return r;
	l->files[t->files].users--;
	l->files[files].users = 1;
	t->files = files;
	return 0;
}

/* The task that was inside an exec goes on alone, as its process, in a new space. */
static int exec_done(struct lineage *l, uint32_t number, const struct event *e)
{
	struct lineage_task *t;
	uint32_t leader;
	int r = next_space_make(l, number);

	while (r >= 0 && l->nodes[number].next != number)
		task_die(l, l->nodes[number].next, e->time);
	leader = lineage_find(l, e->task);
	if (r >= 0 && leader != LINEAGE_NONE && leader != number)
		task_die(l, leader, e->time);
	if (r >= 0)
		r = lineage_unshare_files(l, number);
	if (r >= 0)
		r = map_set(&l->index, e->task, number);
	if (r < 0)
		return r;
	t = &l->nodes[number].task;
	l->spaces[t->space].users--;
	l->spaces[t->next_space].users = 1;
	l->spaces[t->next_space].from = t->space;
	t->space = t->next_space;
	t->next_space = LINEAGE_NONE;
	t->process = number;
	t->id = e->task;
	t->execing = false;
	l->counts.execs++;
	return 0;
}

/* Calls say when an exec begins, on kernels without prepare_exec, and that it failed. */
static void call_event(struct lineage *l, struct lineage_task *t, const struct event *e)
{
	enum call call = event_call(e->kind);
	bool exec = call == CALL_EXECVE || call == CALL_EXECVEAT;

	if (!event_is_leave(e->kind)) {
		t->execing = exec && !l->prepared;
	} else if (exec && result_is_error(e->arg[0])) {
		t->execing = false;
		l->counts.failed_execs++;
	}
}

/* The task that an event belongs to; made if there is none. */
static int owner_of(struct lineage *l, const struct event *e, uint32_t *number)
{
	bool ending = e->kind == EVENT_EXIT || event_is_fault(e->kind) || event_is_leave(e->kind);

	*number = LINEAGE_NONE;
	if (e->kind == EVENT_EXEC)
		*number = lineage_find(l, (uint32_t)e->arg[0]);
	if (*number == LINEAGE_NONE)
		*number = lineage_find(l, e->task);
	if (*number != LINEAGE_NONE)
		return 0;
	if (ending)
		*number = lineage_find_last(l, e->task);
	if (*number == LINEAGE_NONE)
		return root_add(l, e->task, e->time, number);
	l->counts.late++;
	return 0;
}

int lineage_event(struct lineage *l, const struct event *e, uint32_t *task)
{
	struct lineage_task *t;
	int r = owner_of(l, e, task);

	if (r < 0)
		return r;
	t = &l->nodes[*task].task;
	switch (e->kind) {
	case EVENT_FAULT_USER:
	case EVENT_FAULT_KERNEL:
		return t->execing ? next_space_make(l, *task) : 0;
	case EVENT_NEWTASK:
		return child_add(l, *task, e);
	case EVENT_PREPARE_EXEC:
		l->prepared = true;
		t->execing = true;
		return next_space_make(l, *task);
	case EVENT_EXEC:
		return exec_done(l, *task, e);
	case EVENT_EXIT:
		if (t->died == UINT64_MAX)
			task_die(l, *task, e->time);
		return 0;
	default:
		if (event_is_call(e->kind) && t->died == UINT64_MAX)
			call_event(l, t, e);
		return 0;
	}
}

const struct lineage_task *lineage_task(const struct lineage *l, uint32_t number)
{
	return &l->nodes[number].task;
}

const struct lineage_space *lineage_space(const struct lineage *l, uint32_t number)
{
	return &l->spaces[number];
}

const struct lineage_files *lineage_files(const struct lineage *l, uint32_t number)
{
	return &l->files[number];
}

size_t lineage_tasks(const struct lineage *l)
{
	return l->task_count;
}

size_t lineage_spaces(const struct lineage *l)
{
	return l->space_count;
}

size_t lineage_file_tables(const struct lineage *l)
{
	return l->files_count;
}

const struct lineage_counts *lineage_counts(const struct lineage *l)
{
	return &l->counts;
}

uint32_t lineage_fault_space(const struct lineage *l, uint32_t number)
{
	const struct lineage_task *t = &l->nodes[number].task;

	return t->execing && t->next_space != LINEAGE_NONE ? t->next_space : t->space;
}
