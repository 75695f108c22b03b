/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pairing by look-ahead. Read events wait in a ring until the one at its head
 * can be shown: an enter is held back while its leave may still come and the
 * ring has room. `pending` has, per task, the call it is inside of.
 *
 * A held call has a reference from its enter in the ring, its leave in the
 * ring, and from pending; the item shown last keeps its own until the next.
 */

#include <stdlib.h>
#include <string.h>

#include "common/map.h"
#include "traces/calls.h"

struct held {
	struct paired_call call; /* first: an item's call is a held */
	unsigned refs;
	bool pending;
};

struct queued {
	struct event event;
	enum item_kind kind;
	struct held *held; /* NULL for a point */
};

struct call_pairer {
	struct event_source source;
	struct queued *ring;
	size_t ring_size; /* a power of two */
	size_t head, tail; /* head is shown next; both count on, modulo 2^64 */
	uint64_t number; /* of the event at head */
	bool ended; /* the source has no more */
	struct map pending; /* task to struct held * */
	struct held *shown;
	struct trace_loss *losses; /* by `from`; `to` is the latest up to here */
	size_t loss_count;
	struct call_counts counts;
};

static int loss_order(const void *a, const void *b)
{
	const struct trace_loss *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static int losses_sort(struct call_pairer *p, const struct event_source *source)
{
	if (!source->loss_count)
		return 0;
	p->losses = calloc(source->loss_count, sizeof(*p->losses));
	if (!p->losses)
		return -ENOMEM;
	p->loss_count = source->loss_count;
	memcpy(p->losses, source->losses, p->loss_count * sizeof(*p->losses));
	qsort(p->losses, p->loss_count, sizeof(*p->losses), loss_order);
	for (size_t i = 1; i < p->loss_count; i++)
		if (p->losses[i].to < p->losses[i - 1].to)
			p->losses[i].to = p->losses[i - 1].to;
	return 0;
}

/* Something may be missing between the two times. */
static bool loss_between(const struct call_pairer *p, uint64_t from, uint64_t to)
{
	size_t low = 0, high = p->loss_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->losses[mid].from <= to)
			low = mid + 1;
		else
			high = mid;
	}
	return low && p->losses[low - 1].to >= from;
}

int call_pairer_new_source(struct call_pairer **out, const struct event_source *source)
{
	struct call_pairer *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->source = *source;
	r = losses_sort(p, source);
	if (r < 0) {
		call_pairer_free(p);
		return r;
	}
	*out = p;
	return 0;
}

static void held_put(struct held *h)
{
	if (h && --h->refs == 0)
		free(h);
}

struct call_pairer *call_pairer_free(struct call_pairer *p)
{
	const struct map_entry *e;
	size_t i = 0;

	if (!p)
		return NULL;
	while ((e = map_next(&p->pending, &i)))
		held_put((struct held *)(uintptr_t)e->value);
	for (; p->head != p->tail; p->head++)
		held_put(p->ring[p->head & (p->ring_size - 1)].held);
	held_put(p->shown);
	map_clear(&p->pending);
	free(p->ring);
	free(p->losses);
	free(p);
	return NULL;
}

static struct held *held_new(const struct event *e)
{
	struct held *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->refs = 1;
	h->call.task = e->task;
	h->call.call = (uint16_t)event_call(e->kind);
	h->call.leave = UINT64_MAX;
	return h;
}

static struct held *pending_of(const struct call_pairer *p, uint32_t task)
{
	const uint64_t *held = map_find(&p->pending, task);

	return held ? (struct held *)(uintptr_t)*held : NULL;
}

/* No leave will come for the call that the task is inside of. */
static void pending_drop(struct call_pairer *p, uint32_t task, uint64_t time)
{
	struct held *h = pending_of(p, task);

	if (!h)
		return;
	p->counts.unfinished++;
	p->counts.abandoned += loss_between(p, h->call.enter, time);
	h->pending = false;
	map_remove(&p->pending, task);
	held_put(h);
}

static int take_enter(struct call_pairer *p, const struct event *e, struct held **out)
{
	enum call call = event_call(e->kind);
	struct held *h = held_new(e);
	int r;

	if (!h)
		return -ENOMEM;
	*out = h;
	h->call.enter = e->time;
	h->call.has_enter = true;
	memcpy(h->call.arg, e->arg, sizeof(h->call.arg));
	pending_drop(p, e->task, e->time);
	if (call_recorded(call) != CALL_LEAVE_ONLY)
		p->counts.enters[call]++;
	if (call_recorded(call) == CALL_ENTER_ONLY)
		return 0;
	if (p->pending.count >= CALLS_MAX_PENDING) {
		p->counts.unfinished++;
		return 0;
	}
	r = map_set(&p->pending, e->task, (uintptr_t)h);
	if (r < 0)
		return r;
	h->refs++;
	h->pending = true;
	return 0;
}

static int take_leave(struct call_pairer *p, const struct event *e, struct held **out)
{
	enum call call = event_call(e->kind);
	struct held *h = pending_of(p, e->task);

	if (h && (h->call.call != call || loss_between(p, h->call.enter, e->time))) {
		pending_drop(p, e->task, e->time);
		h = NULL;
	}
	if (h) {
		map_remove(&p->pending, e->task); /* its reference becomes the leave's */
		h->pending = false;
	} else {
		h = held_new(e);
		if (!h)
			return -ENOMEM;
		p->counts.orphan_leaves += call_recorded(call) == CALL_BOTH;
	}
	h->call.leave = e->time;
	h->call.has_leave = true;
	h->call.result = e->arg[0];
	p->counts.failed[call] += result_is_error(e->arg[0]);
	if (call_recorded(call) == CALL_LEAVE_ONLY)
		p->counts.enters[call]++;
	*out = h;
	return 0;
}

/* What task events mean for calls under way. */
static int take_point(struct call_pairer *p, const struct event *e)
{
	uint32_t old = (uint32_t)e->arg[0];
	struct held *h;
	int r;

	switch (e->kind) {
	case EVENT_EXIT:
		pending_drop(p, e->task, e->time);
		return 0;
	case EVENT_NEWTASK:
		if (old != e->task)
			pending_drop(p, old, e->time);
		return 0;
	case EVENT_EXEC:
		h = pending_of(p, old);
		if (old == e->task || !h)
			return 0;
		pending_drop(p, e->task, e->time);
		r = map_set(&p->pending, e->task, (uintptr_t)h);
		if (r < 0)
			return r;
		map_remove(&p->pending, old);
		h->call.task = e->task;
		return 0;
	default:
		return 0;
	}
}

/* Room in the ring for one more; the caller sees to it that the window is kept. */
static int ring_grow(struct call_pairer *p)
{
	size_t size = p->ring_size ? p->ring_size * 2 : 64;
	struct queued *ring;

	if (p->tail - p->head < p->ring_size)
		return 0;
	ring = malloc(size * sizeof(*ring));
	if (!ring)
		return -ENOMEM;
	for (size_t i = p->head; i != p->tail; i++)
		ring[i & (size - 1)] = p->ring[i & (p->ring_size - 1)];
	free(p->ring);
	p->ring = ring;
	p->ring_size = size;
	return 0;
}

static void end_reached(struct call_pairer *p)
{
	const struct map_entry *e;
	size_t i = 0;

	p->ended = true;
	while ((e = map_next(&p->pending, &i))) {
		struct held *h = (struct held *)(uintptr_t)e->value;

		p->counts.unfinished++;
		p->counts.abandoned += loss_between(p, h->call.enter, UINT64_MAX);
		h->pending = false;
		held_put(h);
	}
	map_clear(&p->pending);
}

/* Reads one event into the ring. */
static int read_ahead(struct call_pairer *p)
{
	const struct event *e;
	struct queued q = { 0 };
	int r = ring_grow(p);

	if (r < 0)
		return r;
	r = p->source.next(p->source.from, &e);
	if (r == 0)
		end_reached(p);
	if (r <= 0)
		return r;
	q.event = *e;
	q.kind = !event_is_call(e->kind)   ? ITEM_POINT
	         : event_is_leave(e->kind) ? ITEM_LEAVE
	                                   : ITEM_ENTER;
	if (q.kind == ITEM_POINT)
		r = take_point(p, e);
	else if (q.kind == ITEM_ENTER)
		r = take_enter(p, e, &q.held);
	else
		r = take_leave(p, e, &q.held);
	if (r < 0) {
		held_put(q.held);
		return r;
	}
	p->ring[p->tail++ & (p->ring_size - 1)] = q;
	return 0;
}

static struct queued *head_of(const struct call_pairer *p)
{
	return p->head != p->tail ? &p->ring[p->head & (p->ring_size - 1)] : NULL;
}

/* The head must wait for what comes behind it. */
static bool head_waits(const struct call_pairer *p)
{
	const struct queued *head = head_of(p);

	if (!head)
		return true;
	return head->kind == ITEM_ENTER && head->held->pending && p->tail - p->head < CALLS_WINDOW;
}

int call_pairer_next(struct call_pairer *p, struct item *out)
{
	struct queued *head;

	held_put(p->shown);
	p->shown = NULL;
	while (!p->ended && head_waits(p)) {
		int r = read_ahead(p);

		if (r < 0)
			return r;
	}
	head = head_of(p);
	if (!head)
		return 0;
	*out = (struct item){
		.kind = head->kind,
		.event = head->event,
		.call = head->held ? &head->held->call : NULL,
		.number = p->number++,
	};
	p->shown = head->held;
	p->head++;
	return 1;
}

const struct call_counts *call_pairer_counts(const struct call_pairer *p)
{
	return &p->counts;
}
