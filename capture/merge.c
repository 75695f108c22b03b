/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A binary heap of CPUs by the time of their next record. Each CPU has a
 * cursor on the first of its queued pages; a page leaves the queue when the
 * record after its last one is asked for, so a record stays valid until then.
 *
 * A record is handed out only when no CPU can still deliver an older one: not
 * younger than the start of the reading, and where a CPU's queue was full, not
 * younger than its last page's first record. With at least two slots per CPU
 * the CPU that is furthest behind can always go on.
 */

#include <event-parse.h>
#include <kbuffer.h>
#include <stdlib.h>
#include <string.h>

#include "capture/merge.h"

/* A CPU may be held up between taking the time of a record and storing it. */
#define COMMIT_MARGIN_NS 1000000

struct cursor {
	struct page_queue *queue;
	struct kbuffer *kbuf;
	void *data; /* the next record, NULL: none known */
	size_t size;
	uint64_t time;
	uint64_t last; /* time of the last record handed out */
	bool loaded; /* kbuf is on the queue's first page */
	bool gap; /* to be told before the next record */
	uint64_t missed;
};

struct merge {
	struct cursor *cursors;
	unsigned count;
	struct cursor **heap;
	unsigned heap_count;
	struct cursor *current; /* its record was handed out and is to be left behind */
};

struct merge *merge_free(struct merge *m)
{
	if (!m)
		return NULL;
	for (unsigned i = 0; m->cursors && i < m->count; i++)
		if (m->cursors[i].kbuf)
			kbuffer_free(m->cursors[i].kbuf);
	free(m->cursors);
	free(m->heap);
	free(m);
	return NULL;
}

int merge_new(struct merge **out, struct page_queue *queues, unsigned count, uint64_t start)
{
	struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->count = count;
	m->cursors = calloc(count, sizeof(*m->cursors));
	m->heap = calloc(count, sizeof(struct cursor *));
	if (!m->cursors || !m->heap)
		goto no_memory;
	for (unsigned i = 0; i < count; i++) {
		m->cursors[i].queue = &queues[i];
		m->cursors[i].last = start;
		m->cursors[i].kbuf =
			kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST);
		if (!m->cursors[i].kbuf)
			goto no_memory;
	}
	*out = m;
	return 0;
no_memory:
	merge_free(m);
	return -ENOMEM;
}

static void load_page(struct cursor *c)
{
	int missed;

	kbuffer_load_subbuffer(c->kbuf, page_queue_slot(c->queue, 0));
	missed = kbuffer_missed_events(c->kbuf);
	if (missed) {
		/* -1: the page had no room for the number. */
		c->missed = c->gap && !c->missed ? 0
		            : missed > 0         ? c->missed + (uint64_t)missed
		                                 : 0;
		c->gap = true;
	}
	c->loaded = true;
}

/* Moves to the next record; c->data is NULL when the queue has no more. */
static void cursor_advance(struct cursor *c)
{
	unsigned long long time = 0;
	void *data = NULL;

	if (c->loaded)
		data = kbuffer_next_event(c->kbuf, &time);
	while (!data) {
		if (c->loaded)
			page_queue_pop(c->queue);
		c->loaded = false;
		if (!c->queue->count)
			break;
		load_page(c);
		data = kbuffer_read_event(c->kbuf, &time);
	}
	c->data = data;
	if (!data)
		return;
	c->size = (size_t)kbuffer_event_size(c->kbuf);
	/* The clock can step back a little when the kernel adjusts it. */
	c->time = time > c->last ? time : c->last;
}

static void heap_down(struct merge *m, unsigned at)
{
	for (;;) {
		unsigned child = 2 * at + 1;
		struct cursor *c = m->heap[at];

		if (child >= m->heap_count)
			return;
		if (child + 1 < m->heap_count && m->heap[child + 1]->time < m->heap[child]->time)
			child++;
		if (c->time <= m->heap[child]->time)
			return;
		m->heap[at] = m->heap[child];
		m->heap[child] = c;
		at = child;
	}
}

static void heap_up(struct merge *m, unsigned at)
{
	while (at) {
		unsigned parent = (at - 1) / 2;
		struct cursor *c = m->heap[at];

		if (m->heap[parent]->time <= c->time)
			return;
		m->heap[at] = m->heap[parent];
		m->heap[parent] = c;
		at = parent;
	}
}

/* The top's record is done with. */
static void leave_current(struct merge *m)
{
	struct cursor *c = m->current;

	if (!c)
		return;
	m->current = NULL;
	c->last = c->time;
	cursor_advance(c);
	if (!c->data)
		m->heap[0] = m->heap[--m->heap_count];
	if (m->heap_count)
		heap_down(m, 0);
}

uint64_t merge_begin_round(struct merge *m, uint64_t began)
{
	uint64_t until = began > COMMIT_MARGIN_NS ? began - COMMIT_MARGIN_NS : 0;

	leave_current(m);
	for (unsigned i = 0; i < m->count; i++) {
		struct cursor *c = &m->cursors[i];
		const struct page_queue *q = c->queue;
		uint64_t last_page;

		if (!c->data) {
			cursor_advance(c);
			if (c->data) {
				m->heap[m->heap_count++] = c;
				heap_up(m, m->heap_count - 1);
			}
		}
		if (!q->more || !q->count)
			continue;
		/* A page begins with its time. */
		memcpy(&last_page, page_queue_slot(q, q->count - 1), sizeof(last_page));
		if (last_page < until)
			until = last_page;
	}
	return until;
}

int merge_next(struct merge *m, uint64_t until, struct merge_item *out)
{
	struct cursor *c;

	leave_current(m);
	if (!m->heap_count || m->heap[0]->time > until)
		return MERGE_NONE;
	c = m->heap[0];
	*out = (struct merge_item){ .time = c->time, .cpu = c->queue->cpu, .since = c->last };
	if (c->gap) {
		out->missed = c->missed;
		c->gap = false;
		c->missed = 0;
		return MERGE_GAP;
	}
	out->data = c->data;
	out->size = c->size;
	m->current = c;
	return MERGE_RECORD;
}
