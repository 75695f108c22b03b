/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of operations from a trace: of all its tasks, or of a replay's windows. */

#include <string.h>

#include "common/array.h"
#include "common/bytes.h"
#include "common/cleanup.h"
#include "replay/state.h"
#include "replay/verify.h"

/* What a reading of a trace keeps per lineage task and per space. */
struct walk_task {
	uint32_t list; /* PLAN_NONE: not in a window */
	uint64_t kernel_page; /* of the last fault, if it was a kernel one */
	uint64_t kernel_code;
};

struct walk {
	struct lineage *lineage;
	struct verify_lists *out;
	struct walk_task *tasks;
	size_t task_room;
	uint64_t *first_break; /* by space */
	size_t space_room;
	uint32_t windows; /* tasks of the plan; 0: every task is read whole */
};

void verify_lists_clear(struct verify_lists *lists)
{
	for (size_t i = 0; i < lists->count; i++)
		free(lists->tasks[i].ops);
	free(lists->tasks);
	*lists = (struct verify_lists){ 0 };
}

int verify_lists_grow(struct verify_lists *lists, size_t n)
{
	size_t had = lists->count, room = had;
	int r = array_grow((void **)&lists->tasks, n, &room, sizeof(*lists->tasks));

	if (r < 0)
		return r;
	memset(lists->tasks + had, 0, (room - had) * sizeof(*lists->tasks));
	lists->count = room;
	return 0;
}

int verify_list_add(struct verify_list *list, const struct verify_op *op)
{
	int r = array_grow((void **)&list->ops, list->count, &list->room, sizeof(*list->ops));

	if (r < 0)
		return r;
	list->ops[list->count++] = *op;
	return 0;
}

static int walk_room_tasks(struct walk *w, uint32_t task)
{
	size_t had = w->task_room;
	int r = array_grow((void **)&w->tasks, task, &w->task_room, sizeof(*w->tasks));

	for (size_t i = had; r >= 0 && i < w->task_room; i++)
		w->tasks[i] = (struct walk_task){ .list = PLAN_NONE, .kernel_page = UINT64_MAX };
	return r;
}

static int walk_room_spaces(struct walk *w, uint32_t space)
{
	size_t had = w->space_room;
	int r = array_grow((void **)&w->first_break, space, &w->space_room,
	                   sizeof(*w->first_break));

	if (r >= 0)
		memset(w->first_break + had, 0, (w->space_room - had) * sizeof(*w->first_break));
	return r;
}

static int walk_room(struct walk *w, uint32_t task)
{
	int r = walk_room_tasks(w, task);

	if (r < 0)
		return r;
	return walk_room_spaces(w, lineage_task(w->lineage, task)->space);
}

/* A forked child has its parent's heap. */
static int walk_newtask(struct walk *w, const struct event *e, uint32_t parent)
{
	uint32_t child = lineage_find(w->lineage, (uint32_t)e->arg[0]);
	int r;

	if (child == LINEAGE_NONE)
		return 0;
	r = walk_room(w, child);
	if (r < 0)
		return r;
	w->first_break[lineage_task(w->lineage, child)->space] =
		w->first_break[lineage_task(w->lineage, parent)->space];
	return 0;
}

/* Memory of the replayer itself: its shared objects, its program and libraries' text. */
static bool own_memory(uint64_t address)
{
	return address < CLUSTER_BASE || (address >= CLUSTER_END && address < (0x700ULL << 36));
}

static void walk_fault(struct walk *w, const struct event *e, uint32_t task)
{
	struct walk_task *t = &w->tasks[task];
	uint64_t page = e->arg[0], code = e->arg[1];
	bool kernel = e->kind == EVENT_FAULT_KERNEL;
	bool repeat = kernel && t->kernel_page == page && t->kernel_code == code;

	t->kernel_page = kernel ? page : UINT64_MAX;
	t->kernel_code = code;
	if (repeat)
		return;
	if (w->windows && (t->list == PLAN_NONE || own_memory(page)))
		w->out->faults_outside++;
	else
		w->out->faults++;
}

/* A window mark is consumed; anything else is not one. */
static bool walk_mark(struct walk *w, const struct paired_call *call, uint32_t task)
{
	uint64_t number = (call->arg[0] - MARK_ADDRESS) / 4096;

	if (!w->windows || call->call != CALL_MADVISE || call->arg[1] != 0 ||
	    call->arg[0] < MARK_ADDRESS || number >= w->windows)
		return false;
	if (call->arg[2] == MARK_START) {
		w->tasks[task].list = (uint32_t)number;
		w->out->tasks[number].seen++;
	} else {
		w->tasks[task].list = PLAN_NONE;
	}
	return true;
}

static int walk_call(struct walk *w, const struct item *item, uint32_t task)
{
	const struct paired_call *call = item->call;
	const struct lineage_task *t = lineage_task(w->lineage, task);
	uint32_t list = w->windows ? w->tasks[task].list : task;
	struct verify_op op;
	int r;

	if (!call->has_enter) {
		w->out->orphans += call_recorded(call->call) == CALL_BOTH;
		return 0;
	}
	if (walk_mark(w, call, task) || list == PLAN_NONE)
		return 0;
	if (!verify_op_from_call(call, item->number, &w->first_break[t->space], &op))
		return 0;
	r = verify_lists_grow(w->out, list);
	if (r < 0)
		return r;
	if (!w->windows)
		w->out->tasks[list].id = t->id;
	return verify_list_add(&w->out->tasks[list], &op);
}

static int walk_item(struct walk *w, const struct item *item)
{
	uint32_t task;
	int r = lineage_event(w->lineage, &item->event, &task);

	if (r < 0)
		return r;
	r = walk_room(w, task);
	if (r < 0)
		return r;
	if (item->kind == ITEM_LEAVE)
		return walk_call(w, item, task);
	if (event_is_fault(item->event.kind))
		walk_fault(w, &item->event, task);
	else if (item->event.kind == EVENT_NEWTASK)
		return walk_newtask(w, &item->event, task);
	return 0;
}

static int walk_trace(struct verify_lists *out, struct trace_reader *reader, uint32_t windows)
{
	struct walk w = { .out = out, .windows = windows };
	struct call_pairer *pairer = NULL;
	struct item item;
	int r;

	r = lineage_new(&w.lineage);
	if (r >= 0)
		r = call_pairer_new(&pairer, reader);
	if (r >= 0 && windows)
		r = verify_lists_grow(out, windows - 1);
	while (r >= 0 && (r = call_pairer_next(pairer, &item)) > 0)
		r = walk_item(&w, &item);
	call_pairer_free(pairer);
	lineage_free(w.lineage);
	free(w.tasks);
	free(w.first_break);
	return r;
}

int verify_from_trace(struct verify_lists *out, struct trace_reader *reader)
{
	return walk_trace(out, reader, 0);
}

int verify_from_windows(struct verify_lists *out, struct trace_reader *reader, uint32_t tasks)
{
	return walk_trace(out, reader, tasks);
}
