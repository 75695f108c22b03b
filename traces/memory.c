/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spaces by number: made by fork and exec, changed by calls and faults, ended by their last task.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "common/bytes.h"
#include "traces/memory.h"
#include "traces/mm.h"

/* Files known by their hash from maps, numbered apart from descriptors' files. */
#define HASHED_FILES 0x80000000u

struct slot {
	struct mm *mm; /* NULL: not there yet, or gone */
	uint32_t last_child; /* of its forks, LINEAGE_NONE if none */
	struct memory_space summary; /* once it is gone */
};

struct known_maps {
	const struct trace_maps *maps;
	bool applied; /* to one space only: a hostile trace has many execs at one time */
};

struct memory {
	struct mm_context context;
	struct slot *slots; /* by lineage's space number */
	size_t count, room;
	struct known_maps *maps; /* by process, snapshots first, then by time */
	size_t map_count;
	struct map hashes; /* trace_map.file to a number */
};

static int maps_order(const void *a, const void *b)
{
	const struct trace_maps *x = ((const struct known_maps *)a)->maps;
	const struct trace_maps *y = ((const struct known_maps *)b)->maps;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if ((x->flags ^ y->flags) & MAPS_START)
		return x->flags & MAPS_START ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

int memory_new(struct memory **out, const struct trace_meta *meta, const struct trace_maps *maps,
               size_t map_count)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	mm_context_init(&m->context, meta);
	m->maps = calloc(map_count + 1, sizeof(*m->maps));
	if (!m->maps) {
		memory_free(m);
		return -ENOMEM;
	}
	for (size_t i = 0; i < map_count; i++)
		m->maps[i].maps = &maps[i];
	m->map_count = map_count;
	qsort(m->maps, map_count, sizeof(*m->maps), maps_order);
	*out = m;
	return 0;
}

struct memory *memory_free(struct memory *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; i < m->count; i++) {
		mm_end(m->slots[i].mm, NULL);
		free(m->slots[i].summary.slots);
	}
	mm_context_clear(&m->context);
	map_clear(&m->hashes);
	free(m->slots);
	free(m->maps);
	free(m);
	return NULL;
}

static int hashed_file(struct memory *m, uint64_t hash, uint32_t *file)
{
	uint64_t *number;
	bool added;
	int r = map_place(&m->hashes, hash, &number, &added);

	if (r < 0)
		return r;
	if (added)
		*number = HASHED_FILES + (uint32_t)m->hashes.count;
	*file = (uint32_t)*number;
	return 0;
}

/* Mappings that no call made. The heap is left to brk. */
static int apply_maps(struct memory *m, struct mm *mm, struct known_maps *known)
{
	const struct trace_maps *maps = known ? known->maps : NULL;

	if (!maps || known->applied)
		return 0;
	known->applied = true;
	for (size_t i = 0; i < maps->count; i++) {
		const struct trace_map *from = &maps->maps[i];
		struct region r = {
			.start = from->start,
			.end = from->end,
			.offset = from->offset,
			.prot = from->prot & ~FORMAT_MAP_SHARED,
			.map_flags = from->prot & FORMAT_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE,
		};
		int err = 0;

		if (from->kind == MAP_KIND_HEAP || from->kind == MAP_KIND_SPECIAL ||
		    r.start >= r.end)
			continue;
		if (from->kind == MAP_KIND_FILE)
			err = hashed_file(m, from->file, &r.file);
		if (err >= 0)
			err = mm_map(mm, &r, false);
		if (err < 0)
			return err;
	}
	return 0;
}

/* The mappings of the process at that time exactly: an exec's. */
static struct known_maps *maps_at(const struct memory *m, uint32_t process, uint64_t time)
{
	const struct trace_maps wanted = { .process = process, .time = time };
	const struct known_maps key = { &wanted, false };

	return bsearch(&key, m->maps, m->map_count, sizeof(*m->maps), maps_order);
}

static struct known_maps *maps_at_start(const struct memory *m, uint32_t process)
{
	size_t low = 0, high = m->map_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (m->maps[mid].maps->process < process)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == m->map_count || m->maps[low].maps->process != process ||
	    !(m->maps[low].maps->flags & MAPS_START))
		return NULL;
	return &m->maps[low];
}

static int slots_sync(struct memory *m, const struct lineage *l)
{
	while (m->count < lineage_spaces(l)) {
		if (m->count == m->room) {
			size_t room = m->room ? m->room * 2 : 16;
			struct slot *p = realloc(m->slots, room * sizeof(*p));

			if (!p)
				return -ENOMEM;
			m->slots = p;
			m->room = room;
		}
		m->slots[m->count++] = (struct slot){ .last_child = LINEAGE_NONE };
	}
	return 0;
}

/* The model of a space, made when it is first met. */
static int mm_of(struct memory *m, const struct lineage *l, uint32_t number, struct mm **out)
{
	const struct lineage_space *s = lineage_space(l, number);
	struct slot *slot = &m->slots[number];
	int r;

	*out = slot->mm;
	if (slot->mm)
		return 0;
	if (s->origin == SPACE_OF_FORK && m->slots[s->from].mm) {
		r = mm_fork(m->slots[s->from].mm, out);
		m->slots[s->from].last_child = number;
	} else {
		r = mm_new(out, &m->context);
	}
	if (r < 0)
		return r;
	slot->mm = *out;
	if (s->origin != SPACE_OF_ROOT)
		return 0;
	return apply_maps(m, *out, maps_at_start(m, lineage_task(l, s->task)->id));
}

static int summarise(struct slot *slot)
{
	const struct touched *used = &slot->mm->slots;
	struct memory_space *s = &slot->summary;
	uint64_t first, end = 0;
	size_t count = 0;

	while (touched_next_run(used, end, &first, &end))
		count++;
	free(s->slots);
	s->slots = calloc(count + 1, sizeof(*s->slots));
	if (!s->slots)
		return -ENOMEM;
	s->slot_count = 0;
	for (end = 0; touched_next_run(used, end, &first, &end);)
		s->slots[s->slot_count++] = (struct memory_slots){ first, end - first };
	if (slot->mm->peak > s->peak_pages)
		s->peak_pages = slot->mm->peak;
	return 0;
}

/* The last task has left the space. */
static int space_end(struct memory *m, const struct lineage *l, uint32_t number)
{
	struct slot *slot;
	struct mm *heir = NULL;
	int r;

	if (number >= m->count || !m->slots[number].mm || lineage_space(l, number)->users)
		return 0;
	slot = &m->slots[number];
	r = summarise(slot);
	if (r < 0)
		return r;
	if (slot->last_child != LINEAGE_NONE && lineage_space(l, slot->last_child)->users)
		heir = m->slots[slot->last_child].mm;
	slot->mm = mm_end(slot->mm, heir);
	return 0;
}

static int task_event(struct memory *m, const struct lineage *l, uint32_t task,
                      const struct event *e)
{
	const struct lineage_task *t = lineage_task(l, task);
	struct mm *mm;
	uint32_t child;
	int r;

	switch (e->kind) {
	case EVENT_NEWTASK:
		/* A copy is taken now, before the parent changes. */
		r = mm_of(m, l, t->space, &mm);
		child = lineage_find(l, (uint32_t)e->arg[0]);
		if (r < 0 || child == LINEAGE_NONE)
			return r;
		return mm_of(m, l, lineage_task(l, child)->space, &mm);
	case EVENT_EXEC:
		r = mm_of(m, l, t->space, &mm);
		if (r >= 0)
			r = apply_maps(m, mm, maps_at(m, e->task, e->time));
		return r < 0 ? r : space_end(m, l, lineage_space(l, t->space)->from);
	case EVENT_EXIT:
		r = t->next_space != LINEAGE_NONE ? space_end(m, l, t->next_space) : 0;
		return r < 0 ? r : space_end(m, l, t->space);
	default:
		return 0;
	}
}

/* The descriptor is looked up at the enter: it may be closed before the leave. */
static int enter_mmap(struct descriptors *d, const struct lineage *l, uint32_t task,
                      struct paired_call *c)
{
	uint32_t file;
	uint64_t end;
	int r;

	if (c->arg[3] & MAP_ANONYMOUS)
		return 0;
	r = descriptors_file(d, l, task, c->arg[4], &file);
	if (r < 0)
		return r;
	if (add_fits(c->arg[5], c->arg[1], &end))
		descriptors_mapped(d, file, end);
	c->cookie = file;
	return 0;
}

int memory_item(struct memory *m, const struct lineage *l, struct descriptors *d, uint32_t task,
                const struct item *item)
{
	struct mm *mm;
	int r = slots_sync(m, l);

	if (r < 0)
		return r;
	if (item->kind == ITEM_ENTER)
		return item->call->call == CALL_MMAP ? enter_mmap(d, l, task, item->call) : 0;
	if (item->kind == ITEM_POINT && !event_is_fault(item->event.kind))
		return task_event(m, l, task, &item->event);
	if (item->kind == ITEM_LEAVE && !item->call->has_enter)
		return 0;
	if (lineage_task(l, task)->died != UINT64_MAX)
		return 0;
	r = mm_of(m, l, lineage_fault_space(l, task), &mm);
	if (r < 0)
		return r;
	if (item->kind == ITEM_POINT)
		return mm_fault(mm, item->event.arg[0], item->event.arg[1]);
	return mm_call(mm, item->call);
}

uint64_t memory_peak_bytes(const struct memory *m)
{
	uint64_t pages, bytes;

	if (!add_fits(m->context.peak, m->context.files_resident, &pages) ||
	    !mul_fits(pages, m->context.page_size, &bytes))
		return UINT64_MAX;
	return bytes;
}

int memory_spaces_take(struct memory *m, struct memory_space **out, size_t *count)
{
	struct memory_space *all = calloc(m->count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < m->count; i++) {
		struct slot *slot = &m->slots[i];

		if (slot->mm && summarise(slot) < 0) {
			memory_spaces_free(all, i);
			return -ENOMEM;
		}
		slot->mm = mm_end(slot->mm, NULL);
		all[i] = slot->summary;
		slot->summary = (struct memory_space){ 0 };
	}
	*out = all;
	*count = m->count;
	return 0;
}

void memory_spaces_free(struct memory_space *spaces, size_t count)
{
	for (size_t i = 0; spaces && i < count; i++)
		free(spaces[i].slots);
	free(spaces);
}
