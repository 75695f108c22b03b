/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of pages: an open-addressing hash of groups of 512 pages, a bit each.
 * A group that became empty keeps its place until the table is rebuilt, so
 * probing needs no tombstones. Invariant: used (empty groups included) is at
 * most three quarters of the slots.
 */

#include <stdlib.h>
#include <string.h>

#include "traces/touched.h"

#define GROUP_SHIFT 9
#define GROUP_PAGES (1u << GROUP_SHIFT)
#define GROUP_WORDS (GROUP_PAGES / 64)
#define FIRST_SLOTS 16

struct group {
	uint64_t key; /* page number >> GROUP_SHIFT */
	uint32_t taken; /* the slot is in use */
	uint32_t count;
	uint64_t bits[GROUP_WORDS];
};

struct touched_table {
	uint64_t pages;
	size_t refs;
	size_t slots; /* a power of two */
	size_t used;
	struct group group[];
};

/* The part of a range within one group: bits from…to of it. */
struct span {
	uint64_t key;
	unsigned from, to;
};

static size_t table_size(size_t slots)
{
	return sizeof(struct touched_table) + slots * sizeof(struct group);
}

static struct touched_table *table_new(size_t slots)
{
	struct touched_table *t = calloc(1, table_size(slots));

	if (t) {
		t->refs = 1;
		t->slots = slots;
	}
	return t;
}

static void table_put(struct touched_table *t)
{
	if (t && --t->refs == 0)
		free(t);
}

/* The group's slot, or the free one where it belongs. */
static struct group *table_slot(struct touched_table *t, uint64_t key)
{
	size_t i = (size_t)(key * 0x9e3779b97f4a7c15ULL >> 20) & (t->slots - 1);

	while (t->group[i].taken && t->group[i].key != key)
		i = (i + 1) & (t->slots - 1);
	return &t->group[i];
}

static struct group *table_find(const struct touched_table *t, uint64_t key)
{
	struct group *g = table_slot((struct touched_table *)t, key);

	return g->taken ? g : NULL;
}

/* A table of our own, with room for one more group. */
static int make_room(struct touched *set)
{
	struct touched_table *old = set->table, *t;
	size_t live = 0, slots = FIRST_SLOTS;

	if (old && old->refs == 1 && old->used + 1 <= old->slots / 4 * 3)
		return 0;
	for (size_t i = 0; old && i < old->slots; i++)
		live += old->group[i].count > 0;
	if (live >= TOUCHED_MAX_GROUPS)
		return -E2BIG;
	while (slots / 2 < live + 1)
		slots *= 2;
	t = table_new(slots);
	if (!t)
		return -ENOMEM;
	for (size_t i = 0; old && i < old->slots; i++)
		if (old->group[i].count)
			*table_slot(t, old->group[i].key) = old->group[i];
	t->used = live;
	t->pages = old ? old->pages : 0;
	table_put(old);
	set->table = t;
	return 0;
}

static int make_own(struct touched *set)
{
	struct touched_table *old = set->table, *t;

	if (!old || old->refs == 1)
		return 0;
	t = malloc(table_size(old->slots));
	if (!t)
		return -ENOMEM;
	memcpy(t, old, table_size(old->slots));
	t->refs = 1;
	table_put(old);
	set->table = t;
	return 0;
}

void touched_clear_all(struct touched *t)
{
	table_put(t->table);
	t->table = NULL;
}

void touched_copy(const struct touched *t, struct touched *to)
{
	to->table = t->table;
	if (to->table)
		to->table->refs++;
}

/* The bits of word w that lie in the span. */
static uint64_t span_mask(const struct span *s, unsigned w)
{
	unsigned low = s->from > w * 64 ? s->from - w * 64 : 0;
	unsigned high = s->to < w * 64 + 64 ? (s->to > w * 64 ? s->to - w * 64 : 0) : 64;

	if (low >= high)
		return 0;
	return (high == 64 ? UINT64_MAX : (1ULL << high) - 1) & (UINT64_MAX << low);
}

static struct span span_of(uint64_t key, uint64_t first, uint64_t end)
{
	uint64_t base = key << GROUP_SHIFT;

	return (struct span){
		.key = key,
		.from = first > base ? (unsigned)(first - base) : 0,
		.to = end - base < GROUP_PAGES ? (unsigned)(end - base) : GROUP_PAGES,
	};
}

static unsigned span_count(const struct group *g, const struct span *s)
{
	unsigned n = 0;

	for (unsigned w = s->from / 64; w * 64 < s->to; w++)
		n += (unsigned)__builtin_popcountll(g->bits[w] & span_mask(s, w));
	return n;
}

static int span_add(struct touched *t, const struct span *s, uint64_t *added)
{
	struct group *g = t->table && t->table->refs == 1 ? table_find(t->table, s->key) : NULL;
	unsigned fresh;
	int r;

	if (!g) {
		r = make_room(t);
		if (r < 0)
			return r;
		g = table_slot(t->table, s->key);
		t->table->used += !g->taken;
		g->taken = 1;
		g->key = s->key;
	}
	fresh = s->to - s->from - span_count(g, s);
	for (unsigned w = s->from / 64; w * 64 < s->to; w++)
		g->bits[w] |= span_mask(s, w);
	g->count += fresh;
	t->table->pages += fresh;
	*added += fresh;
	return 0;
}

static void span_remove(struct touched_table *t, struct group *g, const struct span *s)
{
	unsigned gone = span_count(g, s);

	for (unsigned w = s->from / 64; w * 64 < s->to; w++)
		g->bits[w] &= ~span_mask(s, w);
	g->count -= gone;
	t->pages -= gone;
}

/*
 * The next group that has pages in the range, in no order; a small range is
 * looked up group by group, a large one by walking the table. *i starts at 0.
 */
static struct group *next_in_range(const struct touched_table *t, uint64_t first, uint64_t end,
                                   uint64_t *i)
{
	uint64_t low = first >> GROUP_SHIFT, high = (end - 1) >> GROUP_SHIFT;

	if (!t || first >= end)
		return NULL;
	if (high - low < t->slots) {
		while (*i <= high - low) {
			struct group *g = table_find(t, low + (*i)++);

			if (g && g->count)
				return g;
		}
		return NULL;
	}
	while (*i < t->slots) {
		const struct group *g = &t->group[(*i)++];

		if (g->count && g->key >= low && g->key <= high)
			return (struct group *)g;
	}
	return NULL;
}

int touched_add(struct touched *t, uint64_t first, uint64_t end, uint64_t *added)
{
	*added = 0;
	if (first >= end)
		return 0;
	for (uint64_t key = first >> GROUP_SHIFT; key <= (end - 1) >> GROUP_SHIFT; key++) {
		struct span s = span_of(key, first, end);
		int r = span_add(t, &s, added);

		if (r < 0)
			return r;
	}
	return 0;
}

int touched_remove(struct touched *t, uint64_t first, uint64_t end)
{
	struct group *g;
	uint64_t i = 0;
	int r;

	if (!next_in_range(t->table, first, end, &i))
		return 0;
	r = make_own(t);
	if (r < 0)
		return r;
	i = 0;
	while ((g = next_in_range(t->table, first, end, &i))) {
		struct span s = span_of(g->key, first, end);

		span_remove(t->table, g, &s);
	}
	return 0;
}

/* Adds the pages that g has in the span, moved up by delta (modulo 2^64). */
static int add_moved(struct touched *t, const struct group *g, const struct span *s, uint64_t delta)
{
	uint64_t added;

	for (unsigned from = s->from; from < s->to;) {
		unsigned to;
		uint64_t page;
		int r;

		if (!(g->bits[from / 64] >> from % 64 & 1)) {
			from++;
			continue;
		}
		for (to = from + 1; to < s->to && g->bits[to / 64] >> to % 64 & 1;)
			to++;
		page = (g->key << GROUP_SHIFT) + from + delta;
		r = touched_add(t, page, page + (to - from), &added);
		if (r < 0)
			return r;
		from = to;
	}
	return 0;
}

int touched_move(struct touched *t, uint64_t first, uint64_t end, uint64_t to)
{
	struct touched old;
	const struct group *g;
	uint64_t i = 0;
	int r;

	touched_copy(t, &old);
	r = touched_remove(t, first, end);
	while (r >= 0 && (g = next_in_range(old.table, first, end, &i))) {
		struct span s = span_of(g->key, first, end);

		r = add_moved(t, g, &s, to - first);
	}
	touched_clear_all(&old);
	return r;
}

bool touched_has(const struct touched *t, uint64_t page)
{
	const struct group *g = t->table ? table_find(t->table, page >> GROUP_SHIFT) : NULL;

	return g && g->bits[page % GROUP_PAGES / 64] >> page % 64 & 1;
}

uint64_t touched_count(const struct touched *t, uint64_t first, uint64_t end)
{
	const struct group *g;
	uint64_t i = 0, n = 0;

	while ((g = next_in_range(t->table, first, end, &i))) {
		struct span s = span_of(g->key, first, end);

		n += span_count(g, &s);
	}
	return n;
}

uint64_t touched_total(const struct touched *t)
{
	return t->table ? t->table->pages : 0;
}

size_t touched_bytes(const struct touched *t)
{
	return t->table ? table_size(t->table->slots) : 0;
}
