/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing waits. Events of several CPUs are held until all up to some time are
 * there, and sorted; a wait may begin on one CPU and end on another.
 */

#include <stdlib.h>

#include "capture/waits.h"
#include "common/array.h"
#include "common/map.h"

struct held {
	struct wait_event event;
	uint64_t number; /* keeps events of the same time in the order they came */
};

struct open_wait {
	uint64_t began;
	uint32_t what;
	uint32_t next_free; /* 1 + index; 0: none */
};

struct waits {
	waits_ended_fn *ended;
	void *context;
	struct held *held;
	size_t count, room;
	uint64_t number;
	struct map open; /* task and lock to an index in waits */
	struct open_wait *waits;
	size_t waits_count, waits_room;
	uint32_t free;
	uint64_t lone_ends;
};

int waits_new(struct waits **out, waits_ended_fn *ended, void *context)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->ended = ended;
	(*out)->context = context;
	return 0;
}

struct waits *waits_free(struct waits *w)
{
	if (w) {
		map_clear(&w->open);
		free(w->held);
		free(w->waits);
		free(w);
	}
	return NULL;
}

int waits_add(struct waits *w, const struct wait_event *event)
{
	int r = array_grow((void **)&w->held, w->count, &w->room, sizeof(*w->held));

	if (r >= 0)
		w->held[w->count++] = (struct held){ *event, w->number++ };
	return r;
}

/* Both in one word: locks differ in their lower 48 bits, and two of 2^64 products rarely meet. */
static uint64_t key_of(const struct wait_event *e)
{
	uint64_t task = e->task ? e->task : (uint64_t)1 << 32 | e->cpu;

	return e->lock * 0x9e3779b97f4a7c15ULL ^ task * 0xc2b2ae3d27d4eb4fULL;
}

static int begin_wait(struct waits *w, const struct wait_event *e)
{
	uint64_t *place;
	uint32_t i;
	bool added;
	int r;

	if (!w->free) {
		r = array_grow((void **)&w->waits, w->waits_count, &w->waits_room,
		               sizeof(*w->waits));
		if (r < 0)
			return r;
		w->waits[w->waits_count].next_free = 0;
		w->free = (uint32_t)++w->waits_count;
	}
	r = map_place(&w->open, key_of(e), &place, &added);
	if (r < 0 || !added)
		return r;
	i = w->free - 1;
	w->free = w->waits[i].next_free;
	w->waits[i] = (struct open_wait){ .began = e->time, .what = e->what };
	*place = i;
	return 0;
}

static void end_wait(struct waits *w, const struct wait_event *e)
{
	uint64_t *place = map_find(&w->open, key_of(e));
	struct open_wait *wait;
	uint32_t i;

	if (!place) {
		w->lone_ends++;
		return;
	}
	i = (uint32_t)*place;
	wait = &w->waits[i];
	w->ended(w->context, wait->what, e->time > wait->began ? e->time - wait->began : 0);
	map_remove(&w->open, key_of(e));
	wait->next_free = w->free;
	w->free = i + 1;
}

static int compare(const void *a, const void *b)
{
	const struct held *x = a, *y = b;

	if (x->event.time != y->event.time)
		return x->event.time < y->event.time ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

int waits_flush(struct waits *w, uint64_t until)
{
	size_t done = 0;

	if (w->count)
		qsort(w->held, w->count, sizeof(*w->held), compare);
	for (; done < w->count && w->held[done].event.time < until; done++) {
		const struct wait_event *e = &w->held[done].event;
		int r = 0;

		if (e->end)
			end_wait(w, e);
		else
			r = begin_wait(w, e);
		if (r < 0)
			return r;
	}
	for (size_t i = done; i < w->count; i++)
		w->held[i - done] = w->held[i];
	w->count -= done;
	return 0;
}

void waits_rest(const struct waits *w, struct waits_rest *out)
{
	*out = (struct waits_rest){ .ends = w->lone_ends, .begins = w->open.count };
}

void waits_reset(struct waits *w)
{
	map_clear(&w->open);
	w->count = w->waits_count = 0;
	w->free = 0;
	w->lone_ends = 0;
}
