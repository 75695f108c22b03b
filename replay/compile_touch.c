/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults become touches. A touch whose page follows the last one's at the same
 * distance as before goes into one operation with it, so long as nothing of
 * another task has to come between them.
 */

#include <sys/mman.h>

#include "replay/compile_core.h"

#define MAX_RUN 65536
#define MAX_REGION (1ULL << 38) /* 256 GiB: beyond, only what was touched is touched */
#define MAX_RUN_SHARED 32 /* others wait for the whole run */

struct touch {
	uint64_t page, time;
	uint32_t access; /* FAULT_WRITE, FAULT_INSTRUCTION */
	bool write, forbidden;
};

static bool is_repeat(struct ctask *t, uint64_t page, uint32_t access, bool kernel)
{
	bool repeat = kernel && t->repeat_page == page && t->repeat_access == access;

	t->repeat_page = kernel ? page : UINT64_MAX;
	t->repeat_access = access;
	return repeat;
}

/* Grows a stack down to the page, as the kernel does at a fault below it. */
static int grow_down(struct cspace *sp, const struct region *above, uint64_t page)
{
	struct region grown;

	if (!above || !(above->map_flags & MAP_GROWSDOWN) || above->start <= page ||
	    above->start - page > (8ULL << 20))
		return 0;
	grown = *above;
	grown.end = grown.start;
	grown.start = page;
	return space_map(sp->model, &grown);
}

static uint32_t prot_needed(const struct touch *touch)
{
	if (touch->write)
		return PROT_WRITE;
	return touch->access & FAULT_INSTRUCTION ? PROT_EXEC : PROT_READ | PROT_WRITE | PROT_EXEC;
}

static const struct region *region_at(const struct cspace *sp, uint64_t page)
{
	const struct region *n = space_find(sp->model, page);

	return n && n->start <= page ? n : NULL;
}

/* The region touched. Memory never seen is assumed; memory known to be gone gives NULL. */
static int find_region(struct compile *c, struct ctask *t, struct cspace *sp,
                       const struct touch *touch, const struct region **out)
{
	uint32_t prot = PROT_READ | PROT_WRITE;
	int r;

	*out = region_at(sp, touch->page);
	if (*out)
		return 0;
	r = flight_settle_made(c, t, sp, touch->page, touch->page + c->page);
	if (r >= 0)
		r = grow_down(sp, space_find(sp->model, touch->page), touch->page);
	if (r >= 0)
		r = space_need(c, t, sp, touch->page, touch->page + c->page,
		               touch->access & FAULT_INSTRUCTION ? prot | PROT_EXEC : prot,
		               touch->time);
	*out = region_at(sp, touch->page);
	return r;
}

/* Without the rule, a call under way that unmaps the page is taken to have come first. */
static int break_rule(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t page)
{
	if (c->options->rules & RULE_FAULT_BEFORE_UNMAP)
		return 0;
	return flight_settle_gone(c, t, sp, page, page + c->page);
}

static bool extends_run(const struct compile *c, const struct ctask *t, const struct cspace *sp,
                        uint64_t head, uint64_t offset)
{
	const struct touch_run *run = &t->run;
	uint64_t stride = offset - run->last;

	if (!run->count || run->end != t->word_count || run->head != head || c->options->paced)
		return false;
	if (offset <= run->last || stride >> 32 || (run->stride && stride != run->stride))
		return false;
	if (run->count >= (sp->shared ? MAX_RUN_SHARED : MAX_RUN))
		return false;
	return !is_notified(t, t->ordinal);
}

static int extend_run(struct compile *c, struct ctask *t, uint64_t offset)
{
	struct touch_run *run = &t->run;
	int r;

	if (run->count == 1) {
		run->stride = offset - run->last;
		t->words[run->word] = (run->head & ~0xffULL) | PLAN_TOUCH_RUN;
		r = emit_word(c, t, 0);
		if (r < 0)
			return r;
		run->end = t->word_count;
	}
	run->last = offset;
	run->count++;
	t->words[run->word + 2] = run->count | run->stride / c->page << 32;
	return 0;
}

static int emit_touch(struct compile *c, struct ctask *t, struct cspace *sp,
                      const struct touch *touch)
{
	struct piece p;
	uint64_t head;
	int r = op_open(c, t, sp, touch->time, NULL, 0);

	if (r >= 0 && c->options->order != ORDER_SERIAL)
		r = order_touch_before(c, t, sp, touch->page);
	if (r < 0)
		return r;
	if (!place_whole(c, sp, touch->page, touch->page + c->page, &p)) {
		c->counts.skipped++;
		return 0;
	}
	head = plan_head(PLAN_TOUCH, 0, touch->forbidden ? EFAULT : 0, touch->write, p.anchor);
	c->counts.touches++;
	if (extends_run(c, t, sp, head, p.offset)) {
		r = extend_run(c, t, p.offset);
	} else {
		t->run = (struct touch_run){ .word = t->word_count,
			                     .first = p.offset,
			                     .last = p.offset,
			                     .count = 1,
			                     .head = head };
		r = op_emit(c, t, head, &p.offset, 1);
		t->run.end = t->word_count;
	}
	if (r < 0 || c->options->order == ORDER_SERIAL)
		return r;
	return order_touch_after(c, t, sp, touch->page);
}

static bool may_be_huge(const struct compile *c, const struct cspace *sp, uint64_t block)
{
	const struct range *advice = ranges_at(&sp->huge, block);
	const struct region *n = space_find(sp->model, block);
	uint64_t at = block, value = advice && advice->end >= block + HUGE_PAGE ? advice->value : 0;

	if (!c->thp_always && !c->thp_madvise)
		return false;
	if (value == 2 || (!c->thp_always && value != 1))
		return false;
	for (; n && n->start <= at; n = space_find(sp->model, at)) {
		if (n->file || n->map_flags & MAP_SHARED || !(n->prot & PROT_WRITE) ||
		    (n->map_flags & MAP_STACK && c->stack_is_small))
			return false;
		at = n->end;
		if (at >= block + HUGE_PAGE)
			return true;
	}
	return false;
}

/* Every page of a range, once. */
static int touch_all(struct compile *c, struct ctask *t, struct cspace *sp,
                     const struct touch *touch, uint64_t start, uint64_t end)
{
	struct touch one = *touch;
	int r = ranges_set(&sp->done, start, end, 1);
	uint64_t added;

	for (one.page = start; r >= 0 && one.page < end; one.page += c->page)
		r = emit_touch(c, t, sp, &one);
	return r < 0 ? r : space_touch_range(sp->model, start, end, &added);
}

static int touch_wide(struct compile *c, struct ctask *t, struct cspace *sp,
                      const struct touch *touch, const struct region *region, bool *done)
{
	uint64_t block = touch->page & ~(HUGE_PAGE - 1);
	uint64_t start = region->start, end = region->end;
	int r = 0;

	*done = false;
	if (c->options->touch == TOUCH_RECORDED || touch->forbidden ||
	    ranges_at(&sp->done, touch->page))
		return 0;
	if (c->options->touch == TOUCH_DENSE) {
		if (!may_be_huge(c, sp, block))
			return 0;
		start = block;
		end = block + HUGE_PAGE;
	} else if (end - start > MAX_REGION) {
		return 0;
	} else if (region->file) {
		r = files_touch(c, region->file, region->offset, end - start);
	}
	*done = true;
	return r < 0 ? r : touch_all(c, t, sp, touch, start, end);
}

static int make_touch(struct compile *c, struct ctask *t, struct cspace *sp, struct touch *touch,
                      uint32_t code)
{
	const struct region *region;
	bool done;
	int r = find_region(c, t, sp, touch, &region);

	if (r < 0)
		return r;
	touch->forbidden = !region || !(region->prot & prot_needed(touch));
	/* A present page that may be read faults only to show where it is used (NUMA balancing). */
	if (!touch->forbidden && code & FAULT_PRESENT && !touch->write) {
		c->counts.dropped_faults++;
		return 0;
	}
	/* Memory that can be read but not run: a read does not fail as the fetch did. */
	if (touch->forbidden && touch->access & FAULT_INSTRUCTION && region && region->prot) {
		c->counts.skipped++;
		return 0;
	}
	if (c->options->write_reads && region && !region->file && region->prot & PROT_WRITE)
		touch->write = true;
	r = break_rule(c, t, sp, touch->page);
	if (r < 0)
		return r;
	region = region_at(sp, touch->page);
	if (region) {
		r = touch_wide(c, t, sp, touch, region, &done);
		if (r < 0 || done)
			return r;
	}
	r = emit_touch(c, t, sp, touch);
	if (r < 0 || !region || touch->forbidden)
		return r;
	if (region->file)
		r = files_touch(c, region->file, region->offset + (touch->page - region->start),
		                c->page);
	return r < 0 ? r : space_touch(sp->model, touch->page);
}

static int fault_at(struct compile *c, struct ctask *t, uint64_t address, uint32_t code,
                    uint64_t time)
{
	struct touch touch = {
		.page = page_down(c, address),
		.time = time,
		.access = code & (FAULT_WRITE | FAULT_INSTRUCTION),
		.write = code & FAULT_WRITE,
	};
	struct cspace *sp;
	int r;

	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	r = make_touch(c, t, sp, &touch, code);
	space_account(c, sp);
	return r < 0 ? r : 0;
}

int compile_fault(struct compile *c, struct ctask *t, const struct event *e)
{
	bool kernel = e->kind == EVENT_FAULT_KERNEL;
	uint32_t code = (uint32_t)e->arg[1];
	int r;

	c->counts.recorded_faults++;
	c->counts.recorded_kernel_faults += kernel;
	if (e->arg[0] >= USER_END) {
		c->counts.dropped_faults++;
		return 0;
	}
	if (is_repeat(t, page_down(c, e->arg[0]), code & (FAULT_WRITE | FAULT_INSTRUCTION),
	              kernel)) {
		c->counts.dropped_faults++;
		return 0;
	}
	if (!lineage_task(c->lineage, t->number)->execing && !t->exec_forced)
		return fault_at(c, t, e->arg[0], code, e->time);
	r = array_grow((void **)&t->pending, t->pending_count, &t->pending_room,
	               sizeof(*t->pending));
	if (r >= 0)
		t->pending[t->pending_count++] =
			(struct pending_touch){ e->arg[0], e->time, code, kernel };
	return r;
}

int touch_pending(struct compile *c, struct ctask *t)
{
	size_t count = t->pending_count;
	int r = 0;

	t->pending_count = 0;
	for (size_t i = 0; r >= 0 && i < count; i++)
		r = fault_at(c, t, t->pending[i].address, t->pending[i].code, t->pending[i].time);
	return r;
}
