/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the streams. An operation is opened (waits go in front of it), emitted
 * as one or several pieces, and closed (those that follow wait for the last
 * piece). A wait goes only to operations that were emitted before, so that the
 * waits of a plan have no cycle.
 */

#include <stdlib.h>
#include <string.h>

#include "replay/compile_core.h"

int grow_list(uint32_t **list, uint32_t count, uint32_t *room)
{
	size_t wide = *room;
	int r = array_grow((void **)list, count, &wide, sizeof(**list));

	*room = (uint32_t)wide;
	return r;
}

int emit_word(struct compile *c, struct ctask *t, uint64_t word)
{
	int r = array_grow((void **)&t->words, t->word_count, &t->word_room, sizeof(word));

	if (r < 0)
		return r;
	if (++c->words > c->options->max_plan_bytes / sizeof(word))
		return -E2BIG;
	t->words[t->word_count++] = word;
	return 0;
}

bool is_known(const struct ctask *t, uint32_t task, uint64_t ordinal)
{
	const uint64_t *known;

	if (task == t->number)
		return true;
	known = map_find(&t->known, task);
	return known && *known >= ordinal;
}

bool is_notified(const struct ctask *t, uint64_t ordinal)
{
	return ordinal / 8 < t->notify_bytes && t->notify[ordinal / 8] & 1 << ordinal % 8;
}

static int set_notify(struct ctask *t, uint64_t ordinal)
{
	size_t need = ordinal / 8 + 1;

	if (need > t->notify_bytes) {
		size_t bytes = t->notify_bytes ? t->notify_bytes * 2 : 16;
		uint8_t *p;

		while (bytes < need)
			bytes *= 2;
		p = realloc(t->notify, bytes);
		if (!p)
			return -ENOMEM;
		memset(p + t->notify_bytes, 0, bytes - t->notify_bytes);
		t->notify = p;
		t->notify_bytes = bytes;
	}
	t->notify[ordinal / 8] |= (uint8_t)(1 << ordinal % 8);
	return 0;
}

int emit_wait(struct compile *c, struct ctask *t, uint32_t task, uint64_t ordinal)
{
	struct ctask *on = &c->tasks[task];
	uint64_t word;
	int r;

	if (!ordinal || is_known(t, task, ordinal))
		return 0;
	r = set_notify(on, ordinal);
	if (r >= 0)
		r = map_set(&t->known, task, ordinal);
	if (r < 0)
		return r;
	c->counts.waits++;
	word = PLAN_WAIT | (uint64_t)on->plan << 8 | ordinal << 32;
	return emit_word(c, t, word);
}

/* A fork of this space by another task is over before anything else happens in it. */
static int wait_barrier(struct compile *c, struct ctask *t, struct cspace *sp)
{
	if (t->barrier_space == t->space && t->barrier_seen == sp->barrier)
		return 0;
	t->barrier_space = t->space;
	t->barrier_seen = sp->barrier;
	if (!sp->barrier || !(c->options->rules & RULE_FORK))
		return 0;
	return emit_wait(c, t, sp->barrier_task, sp->barrier_ordinal);
}

/* Times below this are not told apart: each PLAN_TIME costs a look at the clock. */
#define TIME_STEP 1000

static int emit_time(struct compile *c, struct ctask *t, uint64_t time)
{
	uint64_t since;

	if (c->start_time == UINT64_MAX)
		c->start_time = time;
	if (time > c->end_time)
		c->end_time = time;
	since = time > c->start_time ? time - c->start_time : 0;
	if (!c->options->paced || since < t->last_time + TIME_STEP)
		return 0;
	t->last_time = since;
	return emit_word(c, t, PLAN_TIME | since << 8);
}

int op_open(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t time,
            const struct access *access, size_t count)
{
	int r = emit_time(c, t, time);

	if (r < 0)
		return r;
	if (c->options->order == ORDER_SERIAL)
		return c->last_task == NONE ? 0 : emit_wait(c, t, c->last_task, c->last_ordinal);
	r = wait_barrier(c, t, sp);
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = order_before(c, t, sp, &access[i]);
	return r < 0 ? r : order_flush(c, t);
}

int op_emit(struct compile *c, struct ctask *t, uint64_t head, const uint64_t *operands,
            unsigned count)
{
	int r = emit_word(c, t, head);

	for (unsigned i = 0; r >= 0 && i < count; i++)
		r = emit_word(c, t, operands[i]);
	if (r < 0)
		return r;
	if (t->ordinal >= UINT32_MAX - 1)
		return -E2BIG;
	t->ordinal++;
	c->counts.operations++;
	c->last_task = t->number;
	c->last_ordinal = t->ordinal;
	return 0;
}

int op_close(struct compile *c, struct ctask *t, struct cspace *sp, const struct access *access,
             size_t count)
{
	int r = 0;

	if (c->options->order == ORDER_SERIAL)
		return 0;
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = order_after(c, t, sp, &access[i]);
	return r;
}

/* Its place in the stream shows where it was. */
static int emit_unmade(struct compile *c, struct ctask *t, struct cspace *sp,
                       const struct paired_call *call)
{
	uint64_t operand = call->call;
	int r = op_open(c, t, sp, call->enter, NULL, 0);

	return r < 0 ? r : op_emit(c, t, plan_head(PLAN_REFUSED, 0, 0, 0, 0), &operand, 1);
}

int refuse_call(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call)
{
	c->counts.refused[call->call]++;
	return emit_unmade(c, t, sp, call);
}

int skip_call(struct compile *c, struct ctask *t, struct cspace *sp, const struct paired_call *call)
{
	c->counts.skipped++;
	return emit_unmade(c, t, sp, call);
}
