/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Chunks of at most CHUNK regions, like the leaves of a B+ tree under one wide
 * root. No chunk is empty. A chunk with several references belongs to several
 * copies and is copied before it changes.
 */

#include <stdlib.h>
#include <string.h>

#include "traces/budget.h"
#include "traces/regions.h"

#define CHUNK 64

struct region_chunk {
	size_t refs;
	size_t count;
	struct region at[CHUNK];
};

static int chunk_new(struct region_chunk **out)
{
	struct region_chunk *c;
	int r = budget_take(sizeof(*c));

	if (r < 0)
		return r;
	c = malloc(sizeof(*c));
	if (!c) {
		budget_give(sizeof(*c));
		return -ENOMEM;
	}
	c->refs = 1;
	c->count = 0;
	*out = c;
	return 0;
}

static void chunk_put(struct region_chunk *c)
{
	if (--c->refs)
		return;
	free(c);
	budget_give(sizeof(*c));
}

static int chunk_own(struct regions *r, size_t chunk)
{
	struct region_chunk *old = r->chunks[chunk], *c;
	int err;

	if (old->refs == 1)
		return 0;
	err = chunk_new(&c);
	if (err < 0)
		return err;
	c->count = old->count;
	memcpy(c->at, old->at, old->count * sizeof(c->at[0]));
	chunk_put(old);
	r->chunks[chunk] = c;
	return 0;
}

void regions_clear(struct regions *r)
{
	for (size_t i = 0; i < r->chunk_count; i++)
		chunk_put(r->chunks[i]);
	free(r->chunks);
	budget_give(r->chunk_room * sizeof(*r->chunks));
	*r = (struct regions){ 0 };
}

/* Room for one more chunk. */
static int directory_grow(struct regions *r, size_t room)
{
	struct region_chunk **p;
	int err;

	if (room <= r->chunk_room)
		return 0;
	err = budget_take((room - r->chunk_room) * sizeof(*p));
	if (err < 0)
		return err;
	p = realloc(r->chunks, room * sizeof(*p));
	if (!p) {
		budget_give((room - r->chunk_room) * sizeof(*p));
		return -ENOMEM;
	}
	r->chunks = p;
	r->chunk_room = room;
	return 0;
}

int regions_copy(const struct regions *r, struct regions *to)
{
	int err = directory_grow(to, r->chunk_count);

	if (err < 0)
		return err;
	for (size_t i = 0; i < r->chunk_count; i++) {
		to->chunks[i] = r->chunks[i];
		to->chunks[i]->refs++;
	}
	to->chunk_count = r->chunk_count;
	to->count = r->count;
	return 0;
}

static int chunk_insert(struct regions *r, size_t chunk, struct region_chunk *c)
{
	int err = 0;

	if (r->chunk_count == r->chunk_room)
		err = directory_grow(r, r->chunk_room ? r->chunk_room * 2 : 2);
	if (err < 0)
		return err;
	memmove(r->chunks + chunk + 1, r->chunks + chunk,
	        (r->chunk_count - chunk) * sizeof(*r->chunks));
	r->chunks[chunk] = c;
	r->chunk_count++;
	return 0;
}

static uint64_t chunk_end(const struct region_chunk *c)
{
	return c->at[c->count - 1].end;
}

const struct region *regions_search(const struct regions *r, uint64_t address,
                                    struct region_place *place)
{
	size_t low = 0, high = r->chunk_count;
	const struct region_chunk *c;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (chunk_end(r->chunks[mid]) > address)
			high = mid;
		else
			low = mid + 1;
	}
	*place = (struct region_place){ .chunk = low };
	if (low == r->chunk_count)
		return NULL;
	c = r->chunks[low];
	for (low = 0, high = c->count; low < high;) {
		size_t mid = low + (high - low) / 2;

		if (c->at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	place->at = low;
	return &c->at[low];
}

const struct region *regions_next(const struct regions *r, struct region_place *place)
{
	if (++place->at >= r->chunks[place->chunk]->count) {
		place->chunk++;
		place->at = 0;
	}
	return place->chunk < r->chunk_count ? &r->chunks[place->chunk]->at[place->at] : NULL;
}

int regions_edit(struct regions *r, const struct region_place *place, struct region **out)
{
	int err = chunk_own(r, place->chunk);

	if (err >= 0)
		*out = &r->chunks[place->chunk]->at[place->at];
	return err;
}

/* Halves a full chunk; *place moves with its region. */
static int chunk_halve(struct regions *r, struct region_place *place)
{
	struct region_chunk *left = r->chunks[place->chunk], *right;
	int err = chunk_new(&right);

	if (err < 0)
		return err;
	err = chunk_insert(r, place->chunk + 1, right);
	if (err < 0) {
		chunk_put(right);
		return err;
	}
	right->count = CHUNK / 2;
	left->count = CHUNK - CHUNK / 2;
	memcpy(right->at, left->at + left->count, right->count * sizeof(right->at[0]));
	if (place->at > left->count) {
		place->at -= left->count;
		place->chunk++;
	}
	return 0;
}

/* Puts a region in front of the place; behind the last region is a place too. */
static int insert_at(struct regions *r, struct region_place place, const struct region *region)
{
	struct region copy = *region; /* it may lie in the chunk that changes */
	struct region_chunk *c;
	int err;

	if (r->count >= SPACE_MAX_REGIONS)
		return -E2BIG;
	if (place.chunk == r->chunk_count && place.chunk) {
		place.chunk--;
		place.at = r->chunks[place.chunk]->count;
	}
	if (!r->chunk_count) {
		err = chunk_new(&c);
		if (err < 0)
			return err;
		err = chunk_insert(r, 0, c);
		if (err < 0) {
			chunk_put(c);
			return err;
		}
	}
	err = chunk_own(r, place.chunk);
	if (err >= 0 && r->chunks[place.chunk]->count == CHUNK)
		err = chunk_halve(r, &place);
	if (err < 0)
		return err;
	c = r->chunks[place.chunk];
	memmove(c->at + place.at + 1, c->at + place.at, (c->count - place.at) * sizeof(c->at[0]));
	c->at[place.at] = copy;
	c->count++;
	r->count++;
	return 0;
}

int regions_insert(struct regions *r, const struct region *region)
{
	struct region_place place;

	regions_search(r, region->start, &place);
	return insert_at(r, place, region);
}

int regions_split(struct regions *r, uint64_t address)
{
	struct region_place place;
	const struct region *found = regions_search(r, address, &place);
	struct region whole, left, *right;
	int err;

	if (!found || found->start >= address)
		return 0;
	whole = left = *found;
	left.end = address;
	err = regions_edit(r, &place, &right);
	if (err < 0)
		return err;
	right->start = address;
	if (right->file)
		right->offset += address - left.start;
	err = insert_at(r, place, &left);
	if (err < 0)
		*right = whole;
	return err;
}

/* Removes the chunks from…to of the directory, which are no longer referred to. */
static void chunks_close(struct regions *r, size_t from, size_t to)
{
	memmove(r->chunks + from, r->chunks + to, (r->chunk_count - to) * sizeof(*r->chunks));
	r->chunk_count -= to - from;
}

/* Joins two chunks that became small, so that chunks stay a quarter full on average. */
static int chunk_join(struct regions *r, size_t chunk)
{
	struct region_chunk *c, *next;
	int err;

	if (chunk + 1 >= r->chunk_count ||
	    r->chunks[chunk]->count + r->chunks[chunk + 1]->count > CHUNK / 2)
		return 0;
	err = chunk_own(r, chunk);
	if (err < 0)
		return err;
	c = r->chunks[chunk];
	next = r->chunks[chunk + 1];
	memcpy(c->at + c->count, next->at, next->count * sizeof(c->at[0]));
	c->count += next->count;
	chunk_put(next);
	chunks_close(r, chunk + 1, chunk + 2);
	return 0;
}

/* Removes the regions from `at` on that begin below end; the chunk keeps others. */
static int chunk_cut(struct regions *r, size_t chunk, size_t at, uint64_t end)
{
	struct region_chunk *c = r->chunks[chunk];
	size_t to = at;
	int err;

	while (to < c->count && c->at[to].start < end)
		to++;
	if (to == at)
		return 0;
	err = chunk_own(r, chunk);
	if (err < 0)
		return err;
	c = r->chunks[chunk];
	memmove(c->at + at, c->at + to, (c->count - to) * sizeof(c->at[0]));
	c->count -= to - at;
	r->count -= to - at;
	return 0;
}

int regions_remove(struct regions *r, uint64_t start, uint64_t end)
{
	struct region_place place;
	const struct region *found = regions_search(r, start, &place);
	size_t whole, after;
	int err = 0;

	if (!found || found->start >= end)
		return 0;
	whole = place.chunk;
	if (place.at)
		err = chunk_cut(r, whole++, place.at, end);
	for (after = whole; after < r->chunk_count && chunk_end(r->chunks[after]) <= end; after++) {
		r->count -= r->chunks[after]->count;
		chunk_put(r->chunks[after]);
	}
	chunks_close(r, whole, after);
	if (err >= 0 && whole < r->chunk_count)
		err = chunk_cut(r, whole, 0, end);
	if (err >= 0)
		err = chunk_join(r, whole);
	return err < 0 || !whole ? err : chunk_join(r, whole - 1);
}
