/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first pass: which 1 GiB slots each group of address spaces uses, what
 * recorded calls mapped in it at any time, and what was used before any call
 * had mapped it.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "replay/compile_core.h"

#define SLOT_SHIFT 30
#define MAX_UNSEEN (1ULL << 40) /* bytes of a call's range that can be assumed */

/* Faults of a task inside an exec belong to a space that has no group yet. */
static int new_group(struct compile *c, uint32_t space, uint64_t time)
{
	const struct lineage_space *s = lineage_space(c->lineage, space);
	int r = array_grow((void **)&c->groups, c->group_count, &c->group_room, sizeof(*c->groups));

	if (r < 0)
		return r;
	c->groups[c->group_count] = (struct group){
		.time = time,
		.task = s->task,
		.process_id = lineage_task(c->lineage, s->task)->id,
	};
	c->group_of[space] = (uint32_t)c->group_count++;
	return 0;
}

static int grow_group_of(struct compile *c, uint32_t space)
{
	while (space >= c->group_of_count) {
		int r = grow_list(&c->group_of, c->group_of_count, &c->group_of_room);

		if (r < 0)
			return r;
		c->group_of[c->group_of_count++] = NONE;
	}
	return 0;
}

/* The group of a space; a fork's is that of the space it was copied from. */
static int find_group(struct compile *c, uint32_t space, uint64_t time, struct group **out)
{
	uint32_t origin = space;
	int r = grow_group_of(c, space);

	if (r < 0)
		return r;
	while (c->group_of[origin] == NONE &&
	       lineage_space(c->lineage, origin)->origin == SPACE_OF_FORK)
		origin = lineage_space(c->lineage, origin)->from;
	if (c->group_of[origin] == NONE)
		r = new_group(c, origin, time);
	c->group_of[space] = c->group_of[origin];
	*out = &c->groups[c->group_of[space]];
	return r;
}

static int use_slots(struct group *g, uint64_t start, uint64_t end)
{
	uint64_t first = start >> SLOT_SHIFT, last = ((end - 1) >> SLOT_SHIFT) + 1;

	return ranges_set(&g->slots, first, last, 1);
}

static int note_mapped(struct compile *c, struct group *g, uint64_t start, uint64_t length)
{
	uint64_t end = start + page_up(c, length);
	int r;

	if (start & (c->page - 1) || end <= start || end > USER_END)
		return 0;
	r = use_slots(g, start, end);
	return r < 0 ? r : ranges_set(&g->ever, start, end, 1);
}

/* A use of pages; those that no call has mapped so far are unseen. */
static int note_use(struct group *g, uint64_t start, uint64_t end, uint64_t access)
{
	int r = use_slots(g, start, end);

	while (r >= 0 && start < end) {
		const struct range *ever = ranges_find(&g->ever, start);
		const struct range *known = ranges_find(&g->unseen, start);
		uint64_t to = end, value = access;

		if (ever && ever->start <= start) {
			start = ever->end;
			continue;
		}
		if (ever && ever->start < to)
			to = ever->start;
		if (known && known->start <= start) {
			value |= known->value;
			to = known->end < to ? known->end : to;
		} else if (known && known->start < to) {
			to = known->start;
		}
		r = ranges_set(&g->unseen, start, to, value);
		start = to;
	}
	return r;
}

static int note_range(struct compile *c, struct group *g, const struct paired_call *call,
                      uint64_t access)
{
	uint64_t start = page_down(c, call->arg[0]), end = page_up(c, call->arg[0] + call->arg[1]);

	if (call->arg[0] >= USER_END || call->arg[1] > MAX_UNSEEN || end <= start || end > USER_END)
		return 0;
	if (result_is_error(call->result))
		return use_slots(g, start, end);
	return note_use(g, start, end, access);
}

/* Unmapping what was never seen needs something there, unless part of it was seen. */
static int note_munmap(struct compile *c, struct group *g, const struct paired_call *call)
{
	uint64_t start = call->arg[0], end = start + page_up(c, call->arg[1]);

	if (result_is_error(call->result) || end <= start || end > USER_END ||
	    call->arg[1] > MAX_UNSEEN || ranges_overlap(&g->ever, start, end) ||
	    ranges_overlap(&g->unseen, start, end))
		return 0;
	return note_range(c, g, call, 0);
}

/* Every break asks for the last one: the first answer is where the heap begins. */
static int note_brk(struct compile *c, struct group *g, const struct paired_call *call)
{
	uint64_t result = call->result;

	if (!result || result >= USER_END)
		return 0;
	if (!g->brk_start) {
		g->brk_start = result;
		return use_slots(g, result, result + c->page);
	}
	/* Grown by another space of the group, or shrunk: the heap is from the lowest. */
	if (result <= g->brk_start)
		return 0;
	return note_mapped(c, g, page_up(c, g->brk_start), result - page_up(c, g->brk_start));
}

static int note_shm(struct compile *c, struct group *g, const struct paired_call *call)
{
	const uint64_t *size;

	if (result_is_error(call->result))
		return 0;
	if (call->call == CALL_SHMGET)
		return call->arg[1] ? map_set(&c->shm_sizes, call->result, call->arg[1]) : 0;
	size = map_find(&c->shm_sizes, call->arg[0]);
	return size ? note_mapped(c, g, call->result, *size) : 0;
}

static int note_call(struct compile *c, struct group *g, const struct paired_call *call)
{
	int r;

	switch (call->call) {
	case CALL_MMAP:
		return result_is_error(call->result)
		               ? 0
		               : note_mapped(c, g, call->result, call->arg[1]);
	case CALL_MUNMAP:
		return note_munmap(c, g, call);
	case CALL_MREMAP:
		r = note_range(c, g, call, PROT_READ);
		if (r < 0 || result_is_error(call->result))
			return r;
		return note_mapped(c, g, call->result, call->arg[2]);
	case CALL_MADVISE:
	case CALL_MPROTECT:
	case CALL_PKEY_MPROTECT:
	case CALL_MLOCK:
	case CALL_MLOCK2:
	case CALL_MUNLOCK:
	case CALL_MBIND:
	case CALL_MSEAL:
		return note_range(c, g, call, 0);
	case CALL_BRK:
		return note_brk(c, g, call);
	case CALL_SHMGET:
	case CALL_SHMAT:
		return note_shm(c, g, call);
	default:
		return 0;
	}
}

static uint64_t access_of(uint64_t code)
{
	if (code & FAULT_WRITE)
		return PROT_READ | PROT_WRITE;
	return code & FAULT_INSTRUCTION ? PROT_READ | PROT_EXEC : PROT_READ;
}

static int note_item(struct compile *c, const struct item *item, uint32_t task)
{
	const struct event *e = &item->event;
	struct group *g;
	uint64_t page;
	int r;

	if (event_is_fault(e->kind)) {
		page = page_down(c, e->arg[0]);
		if (page >= USER_END)
			return 0;
		r = find_group(c, lineage_fault_space(c->lineage, task), e->time, &g);
		return r < 0 ? r : note_use(g, page, page + c->page, access_of(e->arg[1]));
	}
	r = find_group(c, lineage_task(c->lineage, task)->space, e->time, &g);
	if (r < 0)
		return r;
	if (e->kind == EVENT_EXEC)
		g->process_id = e->task;
	if (item->kind != ITEM_LEAVE || !item->call->has_enter || !item->call->has_leave)
		return 0;
	return note_call(c, g, item->call);
}

static int read_all(struct compile *c, struct call_pairer *pairer)
{
	struct item item;
	uint32_t task;
	int r;

	while ((r = call_pairer_next(pairer, &item)) > 0) {
		r = lineage_event(c->lineage, &item.event, &task);
		if (r >= 0)
			r = note_item(c, &item, task);
		if (r < 0)
			return r;
	}
	return r;
}

static int fill_groups(struct compile *c)
{
	struct group *g;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < lineage_spaces(c->lineage); i++)
		r = find_group(c, i, 0, &g);
	if (r >= 0)
		r = assume_begin(c);
	for (size_t i = 0; r >= 0 && i < c->group_count; i++)
		r = group_assume(c, &c->groups[i]);
	for (size_t i = 0; r >= 0 && i < c->group_count; i++)
		r = place_group(c, &c->groups[i]);
	return r;
}

/* Roots come first in a plan. */
static int make_tasks(struct compile *c)
{
	uint32_t next = 0;

	c->task_count = lineage_tasks(c->lineage);
	c->tasks = calloc(c->task_count ? c->task_count : 1, sizeof(*c->tasks));
	if (!c->tasks)
		return -ENOMEM;
	for (int roots = 1; roots >= 0; roots--) {
		for (uint32_t i = 0; i < c->task_count; i++) {
			const struct lineage_task *l = lineage_task(c->lineage, i);

			if ((l->parent == LINEAGE_NONE) != (bool)roots)
				continue;
			c->tasks[i].plan = next++;
			c->tasks[i].number = c->tasks[i].process = i;
			c->tasks[i].recorded_id = l->id;
			c->tasks[i].parent = l->parent;
			c->tasks[i].vfork_child = c->tasks[i].vfork_parent = NONE;
			c->tasks[i].repeat_page = UINT64_MAX;
			c->tasks[i].barrier_space = NONE;
		}
		if (roots)
			c->root_count = next;
	}
	c->counts.peak_tasks = lineage_counts(c->lineage)->alive_peak;
	return 0;
}

int compile_survey(struct compile *c)
{
	struct call_pairer *pairer = NULL;
	int r = call_pairer_new(&pairer, c->reader);

	if (r >= 0)
		r = read_all(c, pairer);
	call_pairer_free(pairer);
	if (r >= 0)
		r = fill_groups(c);
	return r < 0 ? r : make_tasks(c);
}
