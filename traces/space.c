/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: regions in order, and a set of touched pages. Neighbours that
 * look alike stay apart, since a region is one mapping call.
 */

#include <stdlib.h>

#include "common/bytes.h"
#include "traces/regions.h"
#include "traces/space.h"
#include "traces/touched.h"

#define DEFAULT_PAGE_SHIFT 12

struct space {
	struct regions regions;
	struct touched touched;
	unsigned page_shift;
};

int space_new(struct space **out)
{
	struct space *space = calloc(1, sizeof(*space));

	if (!space)
		return -ENOMEM;
	space->page_shift = DEFAULT_PAGE_SHIFT;
	*out = space;
	return 0;
}

struct space *space_free(struct space *space)
{
	if (!space)
		return NULL;
	regions_clear(&space->regions);
	touched_clear(&space->touched);
	free(space);
	return NULL;
}

void space_set_page_size(struct space *space, uint64_t page_size)
{
	if (page_size >= 1ULL << DEFAULT_PAGE_SHIFT)
		space->page_shift = (unsigned)__builtin_ctzll(page_size);
}

int space_fork(const struct space *space, struct space **out)
{
	struct space *copy;
	int r = space_new(&copy);

	if (r < 0)
		return r;
	copy->page_shift = space->page_shift;
	r = regions_copy(&space->regions, &copy->regions);
	if (r < 0) {
		space_free(copy);
		return r;
	}
	touched_copy(&space->touched, &copy->touched);
	*out = copy;
	return 0;
}

/* Makes both ends borders. */
static int split_range(struct space *space, uint64_t start, uint64_t end)
{
	int r = regions_split(&space->regions, start);

	return r < 0 ? r : regions_split(&space->regions, end);
}

static uint64_t page_of(const struct space *space, uint64_t address)
{
	return address >> space->page_shift;
}

static uint64_t page_end(const struct space *space, uint64_t end)
{
	uint64_t partial = end & ((1ULL << space->page_shift) - 1);

	return page_of(space, end) + (partial != 0);
}

int space_unmap(struct space *space, uint64_t start, uint64_t end)
{
	int r;

	if (start >= end)
		return 0;
	r = split_range(space, start, end);
	if (r >= 0)
		r = regions_remove(&space->regions, start, end);
	return r < 0 ? r : space_discard(space, start, end);
}

int space_map(struct space *space, const struct region *r)
{
	const struct region region = *r; /* it may lie in the space that changes */
	int err;

	if (region.start >= region.end)
		return 0;
	err = space_unmap(space, region.start, region.end);
	return err < 0 ? err : regions_insert(&space->regions, &region);
}

/* What is set in every region of a range. */
struct change {
	enum { SET_PROT, SET_TAG, SET_LOCKED } what;
	uint32_t value;
};

static void change_region(struct region *r, struct change change)
{
	switch (change.what) {
	case SET_PROT:
		r->prot = change.value;
		break;
	case SET_TAG:
		r->tag = change.value;
		break;
	case SET_LOCKED:
		r->locked = change.value;
		break;
	}
}

static int change_range(struct space *space, uint64_t start, uint64_t end, struct change change)
{
	const struct region *found;
	struct region_place place;
	struct region *region;
	int r;

	if (start >= end)
		return 0;
	r = split_range(space, start, end);
	found = regions_search(&space->regions, start, &place);
	while (r >= 0 && found && found->start < end) {
		r = regions_edit(&space->regions, &place, &region);
		if (r >= 0)
			change_region(region, change);
		found = regions_next(&space->regions, &place);
	}
	return r;
}

int space_protect(struct space *space, uint64_t start, uint64_t end, uint32_t prot)
{
	return change_range(space, start, end, (struct change){ SET_PROT, prot });
}

int space_set_tag(struct space *space, uint64_t start, uint64_t end, uint32_t tag)
{
	return change_range(space, start, end, (struct change){ SET_TAG, tag });
}

int space_lock(struct space *space, uint64_t start, uint64_t end, bool locked)
{
	return change_range(space, start, end, (struct change){ SET_LOCKED, locked });
}

/* The regions of a range, copied out. */
struct pieces {
	struct region *at;
	size_t count;
};

static int pieces_take(struct space *space, uint64_t start, uint64_t end, struct pieces *out)
{
	const struct region *found;
	struct region_place place;
	size_t room = 0;
	int r = split_range(space, start, end);

	found = regions_search(&space->regions, start, &place);
	for (; r >= 0 && found && found->start < end;
	     found = regions_next(&space->regions, &place)) {
		if (out->count == room) {
			struct region *p;

			room = room ? room * 2 : 4;
			p = realloc(out->at, room * sizeof(*p));
			if (!p)
				return -ENOMEM;
			out->at = p;
		}
		out->at[out->count++] = *found;
	}
	return r;
}

/* Puts pieces of old…old_end at to…; one that reaches old_end goes on to new_end. */
static int pieces_put(struct space *space, const struct pieces *pieces, uint64_t old,
                      uint64_t old_end, uint64_t to, uint64_t new_end)
{
	for (size_t i = 0; i < pieces->count; i++) {
		struct region region = pieces->at[i];
		int r;

		region.start = region.start - old + to;
		region.end = region.end < old_end ? region.end - old + to : new_end;
		r = space_map(space, &region);
		if (r < 0)
			return r;
	}
	return 0;
}

/* The region that ends at old_end, if one does, goes on to new_end. */
static int grow_in_place(struct space *space, uint64_t old_end, uint64_t new_end)
{
	const struct region *found;
	struct region_place place;
	struct region grown;
	int r = space_unmap(space, old_end, new_end);

	if (r < 0)
		return r;
	found = regions_search(&space->regions, old_end - 1, &place);
	if (!found || found->end != old_end)
		return 0;
	grown = *found;
	grown.end = new_end;
	r = regions_remove(&space->regions, grown.start, old_end);
	return r < 0 ? r : regions_insert(&space->regions, &grown);
}

static int map_again(struct space *space, uint64_t old, uint64_t to, uint64_t new_len)
{
	const struct region *found = space_find(space, old);
	struct region region;

	if (!found || found->start > old)
		return 0;
	region = *found;
	if (region.file)
		region.offset += old - region.start;
	region.start = to;
	region.end = to + new_len;
	return space_map(space, &region);
}

static int move_away(struct space *space, uint64_t old, uint64_t old_len, uint64_t to,
                     uint64_t new_len, bool keep_old)
{
	uint64_t kept = old_len < new_len ? old_len : new_len;
	struct pieces pieces = { 0 };
	int r;

	r = pieces_take(space, old, old + kept, &pieces);
	if (r >= 0)
		r = space_unmap(space, to, to + new_len);
	if (r >= 0)
		r = pieces_put(space, &pieces, old, old + kept, to, to + new_len);
	if (r >= 0)
		r = touched_move(&space->touched, page_of(space, old), page_end(space, old + kept),
		                 page_of(space, to));
	if (r >= 0 && !keep_old)
		r = space_unmap(space, old, old + old_len);
	free(pieces.at);
	return r;
}

int space_move(struct space *space, uint64_t old, uint64_t old_len, uint64_t to, uint64_t new_len,
               bool keep_old)
{
	uint64_t old_end, new_end;

	if (!add_fits(old, old_len, &old_end) || !add_fits(to, new_len, &new_end) || !new_len)
		return SPACE_IMPOSSIBLE;
	if (!old_len)
		return map_again(space, old, to, new_len);
	if (to == old && new_len <= old_len)
		return space_unmap(space, new_end, old_end);
	if (to == old)
		return grow_in_place(space, old_end, new_end);
	if (to < old_end && old < new_end)
		return SPACE_IMPOSSIBLE;
	return move_away(space, old, old_len, to, new_len, keep_old);
}

const struct region *space_find(const struct space *space, uint64_t address)
{
	struct region_place place;

	return regions_search(&space->regions, address, &place);
}

bool space_mapped(const struct space *space, uint64_t start, uint64_t end)
{
	return start >= end || space_mapped_bytes(space, start, end) == end - start;
}

uint64_t space_mapped_bytes(const struct space *space, uint64_t start, uint64_t end)
{
	struct region_place place;
	const struct region *r = regions_search(&space->regions, start, &place);
	uint64_t sum = 0;

	for (; r && r->start < end; r = regions_next(&space->regions, &place))
		sum += (r->end < end ? r->end : end) - (r->start > start ? r->start : start);
	return sum;
}

size_t space_count(const struct space *space)
{
	return space->regions.count;
}

int space_touch(struct space *space, uint64_t address)
{
	uint64_t added, page = page_of(space, address);
	int r = touched_add(&space->touched, page, page + 1, &added);

	return r < 0 ? r : (int)added;
}

int space_touch_range(struct space *space, uint64_t start, uint64_t end, uint64_t *added)
{
	return touched_add(&space->touched, page_of(space, start), page_end(space, end), added);
}

int space_discard(struct space *space, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	return touched_remove(&space->touched, page_of(space, start), page_end(space, end));
}

uint64_t space_touched_pages(const struct space *space, uint64_t start, uint64_t end)
{
	if (start >= end)
		return 0;
	return touched_count(&space->touched, page_of(space, start), page_end(space, end));
}

bool space_touched(const struct space *space, uint64_t address)
{
	return touched_has(&space->touched, page_of(space, address));
}

uint64_t space_resident_pages(const struct space *space)
{
	return touched_total(&space->touched);
}
