/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces: a sorted array of regions that never overlap and are never
 * empty, and a set of touched pages. Neighbours that look alike stay apart,
 * since a region is one mapping call. Copies made by fork share the array
 * until one of them changes.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "traces/budget.h"
#include "traces/space.h"
#include "traces/touched.h"

#define DEFAULT_PAGE_SHIFT 12

struct region_list {
	size_t refs;
	size_t count, room;
	struct region at[];
};

struct space {
	struct region_list *regions; /* NULL: none */
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

static size_t list_size(size_t room)
{
	return sizeof(struct region_list) + room * sizeof(struct region);
}

static void list_put(struct region_list *list)
{
	if (!list || --list->refs)
		return;
	budget_give(list_size(list->room));
	free(list);
}

struct space *space_free(struct space *space)
{
	if (!space)
		return NULL;
	list_put(space->regions);
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
	int r = space_new(out);

	if (r < 0)
		return r;
	(*out)->page_shift = space->page_shift;
	(*out)->regions = space->regions;
	if (space->regions)
		space->regions->refs++;
	touched_copy(&space->touched, &(*out)->touched);
	return 0;
}

/* A list of our own with room for `more` regions. */
static int list_own(struct space *space, size_t more)
{
	struct region_list *old = space->regions, *list;
	size_t count = old ? old->count : 0, room = 16;
	int r;

	if (old && old->refs == 1 && count + more <= old->room)
		return 0;
	if (more > SPACE_MAX_REGIONS || count > SPACE_MAX_REGIONS - more)
		return -E2BIG;
	while (room < count + more)
		room *= 2;
	r = budget_take(list_size(room));
	if (r < 0)
		return r;
	list = malloc(list_size(room));
	if (!list) {
		budget_give(list_size(room));
		return -ENOMEM;
	}
	*list = (struct region_list){ .refs = 1, .count = count, .room = room };
	if (count)
		memcpy(list->at, old->at, count * sizeof(list->at[0]));
	list_put(old);
	space->regions = list;
	return 0;
}

/* Index of the first region that ends above address. */
static size_t list_search(const struct region_list *list, uint64_t address)
{
	size_t low = 0, high = list ? list->count : 0;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->at[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low;
}

/* Opens a gap of `count` regions at i. */
static int list_insert(struct space *space, size_t i, size_t count)
{
	struct region_list *list;
	int r = list_own(space, count);

	if (r < 0)
		return r;
	list = space->regions;
	memmove(list->at + i + count, list->at + i, (list->count - i) * sizeof(list->at[0]));
	list->count += count;
	return 0;
}

static void list_remove(struct region_list *list, size_t i, size_t count)
{
	list->count -= count;
	memmove(list->at + i, list->at + i + count, (list->count - i) * sizeof(list->at[0]));
}

/* Makes start a border if it lies within a region; the first region from there on. */
static int split_at(struct space *space, uint64_t address, size_t *index)
{
	size_t i = list_search(space->regions, address);
	struct region *left;
	int r;

	*index = i;
	if (!space->regions || i == space->regions->count || space->regions->at[i].start >= address)
		return 0;
	r = list_insert(space, i + 1, 1);
	if (r < 0)
		return r;
	left = &space->regions->at[i];
	left[1] = left[0];
	left[0].end = left[1].start = address;
	if (left[0].file)
		left[1].offset += address - left[0].start;
	*index = i + 1;
	return 0;
}

/* Makes both ends borders, in a list of our own: regions from…to lie in the range. */
static int split_range(struct space *space, uint64_t start, uint64_t end, size_t *from, size_t *to)
{
	int r;

	*from = *to = 0;
	if (start >= end)
		return 0;
	r = list_own(space, 0);
	if (r >= 0)
		r = split_at(space, start, from);
	if (r >= 0)
		r = split_at(space, end, to);
	return r;
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
	size_t from, to;
	int r = split_range(space, start, end, &from, &to);

	if (r < 0)
		return r;
	if (from < to)
		list_remove(space->regions, from, to - from);
	return space_discard(space, start, end);
}

int space_map(struct space *space, const struct region *r)
{
	struct region region = *r; /* it may lie in the list that changes */
	size_t i;
	int err;

	if (region.start >= region.end)
		return 0;
	err = space_unmap(space, region.start, region.end);
	if (err < 0)
		return err;
	i = list_search(space->regions, region.start);
	err = list_insert(space, i, 1);
	if (err < 0)
		return err;
	space->regions->at[i] = region;
	return 0;
}

int space_protect(struct space *space, uint64_t start, uint64_t end, uint32_t prot)
{
	size_t from, to;
	int r = split_range(space, start, end, &from, &to);

	for (size_t i = from; r >= 0 && i < to; i++)
		space->regions->at[i].prot = prot;
	return r;
}

int space_set_tag(struct space *space, uint64_t start, uint64_t end, uint32_t tag)
{
	size_t from, to;
	int r = split_range(space, start, end, &from, &to);

	for (size_t i = from; r >= 0 && i < to; i++)
		space->regions->at[i].tag = tag;
	return r;
}

int space_lock(struct space *space, uint64_t start, uint64_t end, bool locked)
{
	size_t from, to;
	int r = split_range(space, start, end, &from, &to);

	for (size_t i = from; r >= 0 && i < to; i++)
		space->regions->at[i].locked = locked;
	return r;
}

/* The regions of a range, copied out. */
struct pieces {
	struct region *at;
	size_t count;
};

static int pieces_take(struct space *space, uint64_t start, uint64_t end, struct pieces *out)
{
	size_t from, to;
	int r = split_range(space, start, end, &from, &to);

	if (r < 0 || from == to)
		return r;
	out->count = to - from;
	out->at = malloc(out->count * sizeof(out->at[0]));
	if (!out->at)
		return -ENOMEM;
	memcpy(out->at, space->regions->at + from, out->count * sizeof(out->at[0]));
	return 0;
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

static int grow_in_place(struct space *space, uint64_t old_end, uint64_t new_end)
{
	size_t i;
	int r = space_unmap(space, old_end, new_end);

	if (r < 0 || !space->regions)
		return r;
	i = list_search(space->regions, old_end - 1);
	if (i == space->regions->count || space->regions->at[i].start >= old_end)
		return 0;
	r = list_own(space, 0);
	if (r >= 0)
		space->regions->at[i].end = new_end;
	return r;
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
	size_t i = list_search(space->regions, address);

	return space->regions && i < space->regions->count ? &space->regions->at[i] : NULL;
}

bool space_mapped(const struct space *space, uint64_t start, uint64_t end)
{
	return start >= end || space_mapped_bytes(space, start, end) == end - start;
}

uint64_t space_mapped_bytes(const struct space *space, uint64_t start, uint64_t end)
{
	uint64_t sum = 0;

	for (size_t i = list_search(space->regions, start); i < space_count(space); i++) {
		const struct region *r = &space->regions->at[i];

		if (r->start >= end)
			break;
		sum += (r->end < end ? r->end : end) - (r->start > start ? r->start : start);
	}
	return sum;
}

size_t space_count(const struct space *space)
{
	return space->regions ? space->regions->count : 0;
}

const struct region *space_at(const struct space *space, size_t i)
{
	return &space->regions->at[i];
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
