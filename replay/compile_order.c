/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The `deps` order within one address space: an exclusive operation (one that
 * changes mappings or contents) waits for the last exclusive one of its range
 * and for all users since; a user waits for the last exclusive one. Touched
 * pages are users of their page. Nothing is followed while a space has one
 * task: its children know what it did before it made them.
 */

#include <stdlib.h>

#include "replay/compile_core.h"

#define BLOCK HUGE_PAGE

struct page_users {
	uint32_t used; /* pages with a list */
	uint32_t list[]; /* of each page of the block */
};

/* Which rule makes the later operation (row) wait for the earlier one (column). */
static const uint8_t rules[ACCESS_KINDS][ACCESS_KINDS] = {
	[ACCESS_USE] = { 0, RULE_USE_AFTER_MAP, RULE_USE_AFTER_MAP, RULE_PROTECT, RULE_CONTENTS },
	[ACCESS_MAP] = { RULE_UNMAP_AFTER_USE, RULE_USE_AFTER_MAP, RULE_MAP_AFTER_UNMAP,
	                 RULE_PROTECT, RULE_CONTENTS },
	[ACCESS_UNMAP] = { RULE_UNMAP_AFTER_USE, RULE_USE_AFTER_MAP, RULE_UNMAP_AFTER_USE,
	                   RULE_PROTECT, RULE_CONTENTS },
	[ACCESS_PROTECT] = { RULE_PROTECT, RULE_USE_AFTER_MAP, RULE_MAP_AFTER_UNMAP, RULE_PROTECT,
	                     RULE_CONTENTS },
	[ACCESS_CONTENTS] = { RULE_CONTENTS, RULE_USE_AFTER_MAP, RULE_MAP_AFTER_UNMAP, RULE_PROTECT,
	                      RULE_CONTENTS },
};

static uint64_t pack(enum access_kind kind, const struct ctask *t)
{
	return (uint64_t)kind << 60 | (uint64_t)t->number << 32 | t->ordinal;
}

static uint32_t task_of(uint64_t packed)
{
	return (packed >> 32) & 0xfffffff;
}

static uint32_t ordinal_of(uint64_t packed)
{
	return packed & 0xffffffff;
}

int order_flush(struct compile *c, struct ctask *t)
{
	int r = 0;

	for (uint32_t i = 0; r >= 0 && i < c->want_count; i++)
		r = emit_wait(c, t, c->wants[i].task, c->wants[i].ordinal);
	c->want_count = 0;
	return r;
}

/* Of one task an operation waits for the last one only. */
static int want(struct compile *c, struct ctask *t, uint32_t task, uint32_t ordinal)
{
	if (!ordinal || is_known(t, task, ordinal))
		return 0;
	for (uint32_t i = 0; i < c->want_count; i++) {
		if (c->wants[i].task != task)
			continue;
		if (c->wants[i].ordinal < ordinal)
			c->wants[i].ordinal = ordinal;
		return 0;
	}
	c->wants[c->want_count++] = (struct want){ task, ordinal };
	return c->want_count == MAX_WANTS ? order_flush(c, t) : 0;
}

static int want_exclusive(struct compile *c, struct ctask *t, enum access_kind later,
                          uint64_t packed)
{
	if (!(c->options->rules & rules[later][packed >> 60]))
		return 0;
	return want(c, t, task_of(packed), ordinal_of(packed));
}

static int want_users(struct compile *c, struct ctask *t, const struct deps *d, uint32_t list)
{
	int r = 0;

	for (; r >= 0 && list; list = d->users[list].next)
		r = want(c, t, d->users[list].task, d->users[list].ordinal);
	return r;
}

/* Waits for those who used from…to; *used: there are some. */
static int want_range_users(struct compile *c, struct ctask *t, const struct deps *d, uint64_t from,
                            uint64_t to, bool *used)
{
	const struct range *n;
	int r = 0;

	for (n = ranges_find(&d->uses, from); r >= 0 && n && n->start < to;
	     n = ranges_find(&d->uses, n->end)) {
		*used = true;
		r = want_users(c, t, d, (uint32_t)n->value);
	}
	return r;
}

static int want_page_users(struct compile *c, struct ctask *t, const struct deps *d, uint64_t from,
                           uint64_t to, bool *used)
{
	const struct range *n;
	int r = 0;

	for (n = ranges_find(&d->pages, from); r >= 0 && n && n->start < to;
	     n = ranges_find(&d->pages, n->end)) {
		const struct page_users *users = (const struct page_users *)(uintptr_t)n->value;
		uint64_t at = from > n->start ? from : n->start;
		uint64_t end = to < n->end ? to : n->end;

		for (; r >= 0 && at < end; at += c->page) {
			uint32_t list = users->list[(at - n->start) / c->page];

			*used |= list != 0;
			r = want_users(c, t, d, list);
		}
	}
	return r;
}

/*
 * A part of a range with one last exclusive operation, or with none. Whoever
 * used the part since has waited for that one, so waiting for a user is enough.
 */
static int want_part(struct compile *c, struct ctask *t, const struct deps *d,
                     const struct access *a, uint64_t from, uint64_t to, const struct range *last)
{
	unsigned on = c->options->rules;
	bool used = false;
	int r = 0;

	if (on & rules[a->kind][ACCESS_USE]) {
		r = want_range_users(c, t, d, from, to, &used);
		if (r >= 0)
			r = want_page_users(c, t, d, from, to, &used);
	}
	if (r < 0 || !last)
		return r;
	if (used && on & rules[ACCESS_USE][last->value >> 60])
		return 0;
	return want_exclusive(c, t, a->kind, last->value);
}

int order_before(struct compile *c, struct ctask *t, struct cspace *sp, const struct access *a)
{
	const struct deps *d = &sp->deps;
	uint64_t at = a->start;
	int r = 0;

	if (!sp->shared)
		return 0;
	while (r >= 0 && at < a->end) {
		const struct range *n = ranges_find(&d->exclusive, at);
		bool inside = n && n->start <= at;
		uint64_t end = !n ? a->end : inside ? n->end : n->start;

		if (end > a->end)
			end = a->end;
		r = want_part(c, t, d, a, at, end, inside ? n : NULL);
		at = end;
	}
	return r;
}

/* Index of a user in front of the list, or 0 without memory. */
static uint32_t new_user(struct deps *d, const struct ctask *t, uint64_t ordinal, uint32_t list)
{
	uint32_t i = d->user_free;

	if (i) {
		d->user_free = d->users[i].next;
	} else {
		size_t room = d->user_room;

		if (!d->user_count)
			d->user_count = 1; /* 0 ends lists */
		if (array_grow((void **)&d->users, d->user_count, &room, sizeof(*d->users)) < 0 ||
		    room > UINT32_MAX)
			return 0;
		d->user_room = (uint32_t)room;
		i = d->user_count++;
	}
	d->users[i] = (struct user){ t->number, (uint32_t)ordinal, list };
	return i;
}

static void free_users(struct deps *d, uint32_t list)
{
	while (list) {
		uint32_t next = d->users[list].next;

		d->users[list].next = d->user_free;
		d->user_free = list;
		list = next;
	}
}

static int cut_pages(struct deps *d, const struct access *a, uint64_t page)
{
	const struct range *n;

	for (n = ranges_find(&d->pages, a->start); n && n->start < a->end;) {
		struct page_users *users = (struct page_users *)(uintptr_t)n->value;
		uint64_t from = a->start > n->start ? a->start : n->start, next = n->end;
		uint64_t to = a->end < n->end ? a->end : n->end;
		uint64_t block = n->start;

		for (; from < to; from += page) {
			uint32_t *list = &users->list[(from - block) / page];

			users->used -= *list != 0;
			free_users(d, *list);
			*list = 0;
		}
		if (!users->used) {
			int r = ranges_cut(&d->pages, block, next);

			free(users);
			if (r < 0)
				return r;
		}
		n = ranges_find(&d->pages, next);
	}
	return 0;
}

/* A range use: in front of every list it meets; lists are never changed, only dropped. */
static int add_use(struct ctask *t, struct deps *d, const struct access *a)
{
	uint64_t at = a->start;

	while (at < a->end) {
		const struct range *n = ranges_find(&d->uses, at);
		uint64_t end = a->end;
		uint32_t list = 0;
		int r;

		if (n && n->start <= at) {
			list = (uint32_t)n->value;
			end = n->end < end ? n->end : end;
		} else if (n && n->start < end) {
			end = n->start;
		}
		/* What t knows to be done needs no user of its own beside t. */
		while (list && is_known(t, d->users[list].task, d->users[list].ordinal))
			list = d->users[list].next;
		list = new_user(d, t, t->ordinal, list);
		r = list ? ranges_set(&d->uses, at, end, list) : -ENOMEM;
		if (r < 0)
			return r;
		at = end;
	}
	return 0;
}

int order_after(struct compile *c, struct ctask *t, struct cspace *sp, const struct access *a)
{
	struct deps *d = &sp->deps;
	int r;

	if (!sp->shared || a->start >= a->end)
		return 0;
	if (a->kind == ACCESS_USE)
		return add_use(t, d, a);
	r = ranges_set(&d->exclusive, a->start, a->end, pack(a->kind, t));
	if (r >= 0)
		r = ranges_cut(&d->uses, a->start, a->end);
	return r < 0 ? r : cut_pages(d, a, c->page);
}

int order_touch_before(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t page)
{
	const struct range *n;

	if (!sp->shared)
		return 0;
	n = ranges_at(&sp->deps.exclusive, page);
	if (!n || !(c->options->rules & rules[ACCESS_USE][n->value >> 60]))
		return 0;
	return emit_wait(c, t, task_of(n->value), ordinal_of(n->value));
}

static int block_of(struct compile *c, struct deps *d, uint64_t page, struct page_users **out)
{
	const struct range *n = ranges_at(&d->pages, page);
	uint64_t start = page & ~(BLOCK - 1);
	struct page_users *users;
	int r;

	if (n) {
		*out = (struct page_users *)(uintptr_t)n->value;
		return 0;
	}
	users = calloc(1, sizeof(*users) + BLOCK / c->page * sizeof(users->list[0]));
	if (!users)
		return -ENOMEM;
	r = ranges_set(&d->pages, start, start + BLOCK, (uintptr_t)users);
	if (r < 0) {
		free(users);
		return r;
	}
	*out = users;
	return 0;
}

int order_touch_after(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t page)
{
	struct deps *d = &sp->deps;
	struct page_users *users;
	uint32_t *list, i;
	int r;

	if (!sp->shared)
		return 0;
	r = block_of(c, d, page, &users);
	if (r < 0)
		return r;
	list = &users->list[page % BLOCK / c->page];
	for (i = *list; i; i = d->users[i].next) {
		if (d->users[i].task == t->number) {
			d->users[i].ordinal = (uint32_t)t->ordinal;
			return 0;
		}
	}
	users->used += *list == 0;
	i = new_user(d, t, t->ordinal, *list);
	if (!i)
		return -ENOMEM;
	*list = i;
	return 0;
}

void deps_clear(struct deps *d)
{
	const struct range *n;

	for (n = ranges_find(&d->pages, 0); n; n = ranges_find(&d->pages, n->end))
		free((void *)(uintptr_t)n->value);
	ranges_clear(&d->pages);
	ranges_clear(&d->exclusive);
	ranges_clear(&d->uses);
	free(d->users);
	*d = (struct deps){ 0 };
}
