/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address spaces as the second pass follows them. One is made for a root or an
 * exec with what its group is assumed to hold, and copied by fork.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "replay/compile_core.h"

static struct cspace *free_space(struct cspace *sp)
{
	if (!sp)
		return NULL;
	space_free(sp->model);
	ranges_clear(&sp->gone);
	ranges_clear(&sp->anchors);
	ranges_clear(&sp->huge);
	ranges_clear(&sp->done);
	ranges_clear(&sp->no_fork);
	ranges_clear(&sp->free);
	deps_clear(&sp->deps);
	free(sp->members);
	free(sp);
	return NULL;
}

static int fill_assumed(struct compile *c, struct cspace *sp)
{
	const struct group *g = &c->groups[sp->group];
	int r = space_new(&sp->model);

	if (r < 0)
		return r;
	space_set_page_size(sp->model, c->page);
	for (size_t i = 0; r >= 0 && i < g->map_count; i++) {
		const struct assumed *a = &g->maps[i];
		struct region region = {
			.start = a->start,
			.end = a->end,
			.offset = a->offset,
			.file = a->file,
			.prot = a->prot,
			.map_flags = a->flags,
			.assumed = true,
		};

		r = space_map(sp->model, &region);
	}
	return r;
}

static int grow_spaces(struct compile *c, uint32_t number)
{
	while (number >= c->space_count) {
		int r = array_grow((void **)&c->spaces, c->space_count, &c->space_room,
		                   sizeof(struct cspace *));

		if (r < 0)
			return r;
		c->spaces[c->space_count++] = NULL;
	}
	return 0;
}

struct cspace *space_get(struct compile *c, uint32_t number, int *err)
{
	struct cspace *sp;

	*err = grow_spaces(c, number);
	if (*err < 0)
		return NULL;
	if (c->spaces[number])
		return c->spaces[number];
	sp = calloc(1, sizeof(*sp));
	if (!sp) {
		*err = -ENOMEM;
		return NULL;
	}
	sp->group = c->group_of[number];
	sp->chosen = 1;
	*err = fill_assumed(c, sp);
	if (*err < 0)
		return free_space(sp);
	c->spaces[number] = sp;
	return sp;
}

/* What MADV_DONTFORK covers is not in the copy. */
static int leave_out(struct cspace *from, struct cspace *to)
{
	const struct range *n;
	int r = 0;

	for (n = ranges_find(&from->no_fork, 0); r >= 0 && n;
	     n = ranges_find(&from->no_fork, n->end)) {
		r = space_unmap(to->model, n->start, n->end);
		if (r >= 0)
			r = ranges_set(&to->gone, n->start, n->end, 1);
	}
	return r;
}

int space_copy(struct compile *c, struct cspace *from, uint32_t number)
{
	struct cspace *sp = calloc(1, sizeof(*sp));
	int r = sp ? grow_spaces(c, number) : -ENOMEM;

	if (r >= 0)
		r = space_fork(from->model, &sp->model);
	if (r >= 0)
		r = ranges_copy(&from->gone, &sp->gone);
	if (r >= 0)
		r = ranges_copy(&from->anchors, &sp->anchors);
	if (r >= 0)
		r = ranges_copy(&from->huge, &sp->huge);
	if (r >= 0)
		r = ranges_copy(&from->done, &sp->done);
	if (r >= 0)
		r = ranges_copy(&from->free, &sp->free);
	if (r >= 0)
		r = leave_out(from, sp);
	if (r < 0) {
		free_space(sp);
		return r;
	}
	sp->group = from->group;
	sp->free_next = from->free_next;
	sp->brk = from->brk;
	sp->forks = ++from->forks;
	sp->chosen = from->chosen;
	sp->inherited = space_resident_pages(sp->model);
	c->spaces[number] = sp;
	return 0;
}

void space_drop(struct compile *c, uint32_t number)
{
	if (number >= c->space_count || !c->spaces[number])
		return;
	c->resident -= c->spaces[number]->resident;
	for (struct flight *f = c->spaces[number]->flights; f; f = f->next)
		f->space = NULL;
	c->spaces[number] = free_space(c->spaces[number]);
}

int space_join(struct cspace *sp, uint32_t task)
{
	int r = grow_list(&sp->members, sp->member_count, &sp->member_room);

	if (r >= 0)
		sp->members[sp->member_count++] = task;
	return r;
}

/* Pages of a copy count once they are its own: those beyond what it inherited. */
void space_account(struct compile *c, struct cspace *sp)
{
	uint64_t pages = space_resident_pages(sp->model);

	if (pages < sp->inherited)
		sp->inherited = pages;
	c->resident += pages - sp->inherited - sp->resident;
	sp->resident = pages - sp->inherited;
	if (c->resident * c->page > c->counts.peak_bytes)
		c->counts.peak_bytes = c->resident * c->page;
}

/* An unseen mapping that the survey did not foresee: made just before its use. */
static int assume_here(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end, uint32_t prot, uint64_t time)
{
	const uint32_t flags = MAP_PRIVATE | MAP_ANONYMOUS;
	struct access access = { start, end, ACCESS_MAP };
	struct region region = {
		.start = start, .end = end, .prot = prot, .map_flags = flags, .assumed = true
	};
	struct piece piece;
	uint64_t operands[3];
	int r;

	if (!place_whole(c, sp, start, end, &piece) || piece.end != end)
		return 0;
	r = op_open(c, t, sp, time, &access, 1);
	if (r < 0)
		return r;
	operands[0] = piece.offset;
	operands[1] = end - start;
	operands[2] = flags | MAP_FIXED_NOREPLACE;
	r = op_emit(c, t, plan_head(PLAN_MMAP, PLAN_ASSUMED, 0, prot, piece.anchor), operands, 3);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.assumed_maps++;
	c->counts.assumed_bytes += end - start;
	return r < 0 ? r : space_map(sp->model, &region);
}

int space_need(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start, uint64_t end,
               uint32_t prot, uint64_t time)
{
	uint64_t at = start;

	while (at < end) {
		const struct region *next = space_find(sp->model, at);
		const struct range *gone = ranges_find(&sp->gone, at);
		uint64_t to = next && next->start < end ? next->start : end;
		int r;

		if (next && next->start <= at) {
			at = next->end;
			continue;
		}
		if (gone && gone->start <= at) {
			at = gone->end < to ? gone->end : to;
			continue;
		}
		if (gone && gone->start < to)
			to = gone->start;
		r = assume_here(c, t, sp, at, to, prot, time);
		if (r < 0)
			return r;
		at = to;
	}
	return 0;
}
