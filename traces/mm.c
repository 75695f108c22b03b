/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Resident memory of address spaces. Every change of `owned` is followed by
 * account(), so context->resident is always the sum over all spaces.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/bytes.h"
#include "traces/event.h"
#include "traces/mm.h"

#define USER_END (1ULL << 57) /* five levels of page tables */
#define FILE_WINDOW 16 /* pages that a replay fills around a touched one */

enum tag {
	TAG_HUGE = 1, /* MADV_HUGEPAGE */
	TAG_SMALL = 2, /* MADV_NOHUGEPAGE, or a stack on newer kernels */
};

int mm_new(struct mm **out, struct mm_context *context)
{
	struct mm *mm = calloc(1, sizeof(*mm));
	int r;

	if (!mm)
		return -ENOMEM;
	mm->context = context;
	r = space_new(&mm->space);
	if (r < 0) {
		free(mm);
		return r;
	}
	space_set_page_size(mm->space, context->page_size);
	*out = mm;
	return 0;
}

int mm_fork(const struct mm *parent, struct mm **out)
{
	struct mm *mm = calloc(1, sizeof(*mm));
	int r;

	if (!mm)
		return -ENOMEM;
	mm->context = parent->context;
	r = space_fork(parent->space, &mm->space);
	if (r < 0) {
		free(mm);
		return r;
	}
	touched_copy(&parent->slots, &mm->slots);
	mm->brk = parent->brk;
	*out = mm;
	return 0;
}

/* Brings the totals in line with `owned`. */
static void account(struct mm *mm)
{
	struct mm_context *c = mm->context;
	uint64_t now = touched_total(&mm->owned) + mm->inherited;

	c->resident = c->resident - mm->counted + now;
	mm->counted = now;
	if (now > mm->peak)
		mm->peak = now;
	if (c->resident > c->peak)
		c->peak = c->resident;
}

struct mm *mm_end(struct mm *mm, struct mm *heir)
{
	if (!mm)
		return NULL;
	if (heir) {
		heir->inherited += mm->counted;
		mm->context->resident -= mm->counted;
		account(heir);
	} else {
		mm->context->resident -= mm->counted;
	}
	touched_clear(&mm->owned);
	touched_clear(&mm->slots);
	space_free(mm->space);
	free(mm);
	return NULL;
}

struct range {
	uint64_t start, end;
};

static struct range range_of(const struct mm *mm, uint64_t start, uint64_t length)
{
	uint64_t end;

	if (!add_fits(start, length, &end) || end > USER_END)
		end = USER_END;
	if (start > end)
		start = end;
	return (struct range){ align_down(start, mm->context->page_size),
		               align_up(end, mm->context->page_size) };
}

static uint64_t page_of(const struct mm *mm, uint64_t address)
{
	return address / mm->context->page_size;
}

static int own(struct mm *mm, uint64_t start, uint64_t end)
{
	uint64_t added;
	int r = touched_add(&mm->owned, page_of(mm, start), page_of(mm, end), &added);

	if (r >= 0)
		r = space_touch_range(mm->space, start, end, &added);
	account(mm);
	return r;
}

static int disown(struct mm *mm, uint64_t start, uint64_t end)
{
	int r = touched_remove(&mm->owned, page_of(mm, start), page_of(mm, end));

	account(mm);
	return r;
}

static int use_slots(struct mm *mm, uint64_t start, uint64_t end)
{
	uint64_t added;

	if (start >= end)
		return 0;
	return touched_add(&mm->slots, start >> MM_SLOT_SHIFT, ((end - 1) >> MM_SLOT_SHIFT) + 1,
	                   &added);
}

/* The file pages behind a part of a region, and what a replay fills around them. */
static int touch_file(struct mm *mm, const struct region *r, uint64_t start, uint64_t end)
{
	const uint64_t window = FILE_WINDOW * mm->context->page_size;
	uint64_t from, to;

	if (!add_fits(r->offset, end - r->start + window, &to))
		return 0;
	from = align_down(r->offset + (start - r->start), window);
	to = align_up(r->offset + (end - r->start), window);
	return mm_context_touch_file(mm->context, r->file, page_of(mm, from), page_of(mm, to));
}

static bool is_shared(const struct region *r)
{
	return r->map_flags & MAP_SHARED; /* MAP_SHARED_VALIDATE has the bit too */
}

/* What populating a part of a region brings in. */
static int populate_part(struct mm *mm, const struct region *r, uint64_t start, uint64_t end)
{
	if (!(r->prot & (PROT_READ | PROT_WRITE | PROT_EXEC)))
		return 0;
	if (r->file) {
		int err = touch_file(mm, r, start, end);

		if (err < 0 || is_shared(r) || !(r->prot & PROT_WRITE))
			return err;
	}
	return own(mm, start, end);
}

static int populate_range(struct mm *mm, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct region *found = space_find(mm->space, start);
		struct region r;
		int err;

		if (!found || found->start >= end)
			return 0;
		r = *found;
		if (start < r.start)
			start = r.start;
		err = populate_part(mm, &r, start, r.end < end ? r.end : end);
		if (err < 0)
			return err;
		start = r.end;
	}
	return 0;
}

int mm_map(struct mm *mm, const struct region *region, bool populate)
{
	struct range at = range_of(mm, region->start, region->end - region->start);
	struct region r = *region;
	int err;

	if (at.start >= at.end)
		return 0;
	r.start = at.start;
	r.end = at.end;
	r.locked |= mm->lock_future;
	if (r.map_flags & MAP_STACK && mm->context->stacks_small)
		r.tag = TAG_SMALL;
	err = disown(mm, at.start, at.end);
	if (err >= 0)
		err = space_map(mm->space, &r);
	if (err >= 0)
		err = use_slots(mm, at.start, at.end);
	if (err >= 0 && (populate || r.locked))
		err = populate_range(mm, at.start, at.end);
	return err;
}

int mm_unmap(struct mm *mm, uint64_t start, uint64_t length)
{
	struct range at = range_of(mm, start, length);
	int r = disown(mm, at.start, at.end);

	return r < 0 ? r : space_unmap(mm->space, at.start, at.end);
}

int mm_discard(struct mm *mm, uint64_t start, uint64_t length)
{
	struct range at = range_of(mm, start, length);
	int r = disown(mm, at.start, at.end);

	return r < 0 ? r : space_discard(mm->space, at.start, at.end);
}

/* Moves `owned` as space_move() has moved the rest. */
static int move_owned(struct mm *mm, struct range old, struct range to, bool keep_old)
{
	uint64_t kept = old.end - old.start < to.end - to.start ? old.end - old.start
	                                                        : to.end - to.start;
	int r;

	if (old.start == to.start)
		return disown(mm, old.start + kept, old.end > to.end ? old.end : to.end);
	r = disown(mm, to.start, to.end);
	if (r >= 0)
		r = touched_move(&mm->owned, page_of(mm, old.start), page_of(mm, old.start + kept),
		                 page_of(mm, to.start));
	if (r >= 0 && !keep_old)
		r = disown(mm, old.start, old.end);
	return r;
}

int mm_move(struct mm *mm, uint64_t old, uint64_t old_len, uint64_t to, uint64_t new_len,
            bool keep_old)
{
	struct range from = range_of(mm, old, old_len), into = range_of(mm, to, new_len);
	const struct region *found;
	int r;

	r = space_move(mm->space, from.start, from.end - from.start, into.start,
	               into.end - into.start, keep_old);
	if (r)
		return r < 0 ? r : 0;
	r = use_slots(mm, into.start, into.end);
	if (r >= 0)
		r = from.start < from.end ? move_owned(mm, from, into, keep_old)
		                          : disown(mm, into.start, into.end);
	found = space_find(mm->space, into.start);
	if (r >= 0 && found && found->locked && found->start <= into.start)
		r = populate_range(mm, into.start, into.end);
	return r;
}

int mm_protect(struct mm *mm, uint64_t start, uint64_t length, uint32_t prot)
{
	struct range at = range_of(mm, start, length);

	return space_protect(mm->space, at.start, at.end,
	                     prot & (PROT_READ | PROT_WRITE | PROT_EXEC));
}

int mm_lock(struct mm *mm, uint64_t start, uint64_t length, bool populate)
{
	struct range at = range_of(mm, start, length);
	int r = space_lock(mm->space, at.start, at.end, true);

	return r < 0 || !populate ? r : populate_range(mm, at.start, at.end);
}

int mm_unlock(struct mm *mm, uint64_t start, uint64_t length)
{
	struct range at = range_of(mm, start, length);

	return space_lock(mm->space, at.start, at.end, false);
}

int mm_set_huge(struct mm *mm, uint64_t start, uint64_t length, bool huge)
{
	struct range at = range_of(mm, start, length);

	return space_set_tag(mm->space, at.start, at.end, huge ? TAG_HUGE : TAG_SMALL);
}

int mm_populate(struct mm *mm, uint64_t start, uint64_t length)
{
	struct range at = range_of(mm, start, length);

	return populate_range(mm, at.start, at.end);
}

int mm_set_brk(struct mm *mm, uint64_t brk)
{
	uint64_t now = align_up(brk < USER_END ? brk : USER_END, mm->context->page_size);
	uint64_t was = mm->brk;
	struct region heap = { .start = was,
		               .end = now,
		               .prot = PROT_READ | PROT_WRITE,
		               .map_flags = MAP_PRIVATE | MAP_ANONYMOUS };

	mm->brk = now;
	if (!was || now == was)
		return 0;
	return now > was ? mm_map(mm, &heap, false) : mm_unmap(mm, now, was - now);
}

/* A huge page may be there: regions that the kernel would have merged, all anonymous. */
static bool huge_allowed(const struct mm *mm, uint64_t start, uint64_t end)
{
	uint64_t at = start;

	while (at < end) {
		const struct region *r = space_find(mm->space, at);

		if (!r || r->start > at || r->file || r->tag == TAG_SMALL || is_shared(r))
			return false;
		if (mm->context->thp == MM_THP_MADVISE && r->tag != TAG_HUGE &&
		    !(r->map_flags & MAP_HUGETLB))
			return false;
		at = r->end;
	}
	return true;
}

static int fault_anonymous(struct mm *mm, uint64_t address, bool write, bool present)
{
	const struct mm_context *c = mm->context;
	uint64_t page = align_down(address, c->page_size), huge = align_down(address, c->huge_size);

	if (c->thp != MM_THP_NEVER && !present &&
	    !space_touched_pages(mm->space, huge, huge + c->huge_size) &&
	    huge_allowed(mm, huge, huge + c->huge_size))
		return own(mm, huge, huge + c->huge_size);
	if (write || !c->zero_page)
		return own(mm, page, page + c->page_size);
	return space_touch(mm->space, page);
}

int mm_fault(struct mm *mm, uint64_t address, uint64_t code)
{
	const bool write = code & FAULT_WRITE, present = code & FAULT_PRESENT;
	const struct region *r;
	uint64_t page = align_down(address, mm->context->page_size);
	int err;

	if (address >= USER_END || (present && !write))
		return 0;
	err = use_slots(mm, address, address + 1);
	if (err < 0)
		return err;
	r = space_find(mm->space, address);
	if (r && r->start <= address && r->file) {
		bool copied = write && !is_shared(r);

		err = touch_file(mm, r, page, page + mm->context->page_size);
		return err < 0 || !copied ? err : own(mm, page, page + mm->context->page_size);
	}
	return fault_anonymous(mm, address, write, present);
}
