/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Mappings that must have been there although no recorded call made them: a
 * program's own, its stack, what was there before the recording. Where the
 * mappings were read from the process they say what and how long; they were
 * read late, so what recorded calls mapped is taken out. The rest is made
 * around what was used.
 */

#include <stdlib.h>
#include <sys/mman.h>

#include "replay/compile_core.h"

#define GAP_PAGES 16 /* used pages this close are one mapping */
#define MAX_MAPS 50000 /* the kernel allows 65530 to a process */
#define STACK_REACH (1ULL << 30) /* below its recorded end a use is the stack's */

static int add_map(struct compile *c, struct group *g, const struct assumed *a)
{
	int r;

	if (a->start >= a->end || g->map_count >= MAX_MAPS ||
	    ranges_overlap(&g->made, a->start, a->end))
		return 0;
	r = array_grow((void **)&g->maps, g->map_count, &g->map_room, sizeof(*g->maps));
	if (r < 0)
		return r;
	g->maps[g->map_count++] = *a;
	c->counts.assumed_maps++;
	c->counts.assumed_bytes += a->end - a->start;
	r = ranges_set(&g->slots, a->start >> 30, ((a->end - 1) >> 30) + 1, 1);
	if (r >= 0)
		r = ranges_set(&g->made, a->start, a->end, 1);
	return r < 0 ? r : ranges_cut(&g->unseen, a->start, a->end);
}

static uint64_t uses_of(const struct group *g, uint64_t start, uint64_t end)
{
	const struct range *n;
	uint64_t access = 0;

	for (n = ranges_find(&g->unseen, start); n && n->start < end;
	     n = ranges_find(&g->unseen, n->end))
		access |= n->value;
	return access;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Of the groups of one process, the one whose start is nearest gets a snapshot. */
static struct group *nearest_group(struct compile *c, const struct trace_maps *maps)
{
	const uint64_t *last = map_find(&c->process_groups, maps->process);
	struct group *best = NULL;

	for (uint32_t i = last ? (uint32_t)*last : NONE; i != NONE; i = c->groups[i].same_process)
		if (!best ||
		    distance(c->groups[i].time, maps->time) <= distance(best->time, maps->time))
			best = &c->groups[i];
	return best;
}

int assume_begin(struct compile *c)
{
	size_t count;
	const struct trace_maps *maps = trace_reader_maps(c->reader, &count);

	for (uint32_t i = 0; i < c->group_count; i++) {
		uint64_t *last;
		bool added;
		int r = map_place(&c->process_groups, c->groups[i].process_id, &last, &added);

		if (r < 0)
			return r;
		c->groups[i].same_process = added ? NONE : (uint32_t)*last;
		*last = i;
	}
	for (size_t i = 0; i < count; i++) {
		struct group *g = nearest_group(c, &maps[i]);

		if (g && (!g->snapshot ||
		          distance(maps[i].time, g->time) < distance(g->snapshot->time, g->time)))
			g->snapshot = &maps[i];
	}
	return 0;
}

static int describe_map(struct compile *c, const struct trace_map *m, struct assumed *out)
{
	int r = 0;

	out->prot = m->prot & 7;
	out->flags = m->prot & FORMAT_MAP_SHARED ? MAP_SHARED : MAP_PRIVATE;
	if (m->kind == MAP_KIND_FILE) {
		r = files_of_hash(c, m->file, &out->file);
		out->offset = page_down(c, m->offset) + (out->start - m->start);
	}
	if (r >= 0 && out->file && !files_need(c, out->file, out->offset, out->end - out->start))
		out->file = 0;
	if (!out->file) {
		out->flags |= MAP_ANONYMOUS;
		out->offset = 0;
	}
	return r;
}

/* The parts of a read mapping that no call made, as far as they were used. */
static int take_parts(struct compile *c, struct group *g, const struct trace_map *m)
{
	uint64_t at = m->start;
	int r = 0;

	while (r >= 0 && at < m->end) {
		const struct range *ever = ranges_find(&g->ever, at);
		struct assumed a = { .start = at, .end = m->end };
		uint64_t access;

		if (ever && ever->start <= at) {
			at = ever->end;
			continue;
		}
		if (ever && ever->start < a.end)
			a.end = ever->start;
		at = a.end;
		if (!ranges_overlap(&g->unseen, a.start, a.end))
			continue;
		access = uses_of(g, a.start, a.end);
		r = describe_map(c, m, &a);
		/* Read late, it may have been protected since. */
		a.prot |= access;
		if (r >= 0)
			r = add_map(c, g, &a);
	}
	return r;
}

/* One region from the lowest use to the recorded end. */
static int take_stack(struct compile *c, struct group *g, const struct trace_map *m)
{
	const struct range *below = ranges_below(&g->ever, m->start);
	uint64_t low = m->end > STACK_REACH ? m->end - STACK_REACH : 0;
	const struct range *use;
	struct assumed a = {
		.start = m->start,
		.end = m->end,
		.prot = PROT_READ | PROT_WRITE | (m->prot & PROT_EXEC),
		.flags = MAP_PRIVATE | MAP_ANONYMOUS,
	};

	if (ranges_overlap(&g->ever, m->start, m->end))
		return take_parts(c, g, m);
	if (below && below->end > low)
		low = below->end;
	use = ranges_find(&g->unseen, low);
	if (!use || use->start >= m->end)
		return 0;
	if (use->start < a.start)
		a.start = use->start > low ? use->start : low;
	return add_map(c, g, &a);
}

static bool map_is_plain(const struct compile *c, const struct trace_map *m)
{
	return m->start < m->end && m->end <= USER_END && !((m->start | m->end) & (c->page - 1));
}

static int take_maps(struct compile *c, struct group *g)
{
	const struct trace_maps *maps = g->snapshot;
	int r = 0;

	for (size_t i = 0; maps && r >= 0 && i < maps->count; i++) {
		const struct trace_map *m = &maps->maps[i];

		if (!map_is_plain(c, m))
			continue;
		r = m->kind == MAP_KIND_STACK ? take_stack(c, g, m) : take_parts(c, g, m);
	}
	return r;
}

/* Whether the space between two used parts can be of the same mapping. */
static bool joins(const struct group *g, const struct assumed *a, const struct range *n,
                  uint32_t prot, uint64_t gap)
{
	const struct range *ever = ranges_find(&g->ever, a->end);

	if (n->start - a->end > gap || a->prot != prot ||
	    ranges_overlap(&g->made, a->end, n->start))
		return false;
	return !ever || ever->start >= n->start;
}

static uint32_t prot_of_uses(uint64_t access)
{
	if (access & PROT_EXEC && !(access & PROT_WRITE))
		return PROT_READ | PROT_EXEC;
	return PROT_READ | PROT_WRITE | (uint32_t)(access & PROT_EXEC);
}

/* What no read mapping explains. */
static int take_uses(struct compile *c, struct group *g, uint64_t gap)
{
	struct assumed a = { .flags = MAP_PRIVATE | MAP_ANONYMOUS };
	const struct range *n;
	int r = 0;

	while (r >= 0 && (n = ranges_find(&g->unseen, a.end))) {
		uint32_t prot = prot_of_uses(n->value);

		if (a.end && joins(g, &a, n, prot, gap)) {
			a.end = n->end;
			continue;
		}
		if (a.end) {
			struct assumed done = a;

			a.end = n->end;
			a.start = n->start;
			a.prot = prot;
			r = add_map(c, g, &done);
			continue;
		}
		a.start = n->start;
		a.end = n->end;
		a.prot = prot;
	}
	return r < 0 || !a.end ? r : add_map(c, g, &a);
}

static int by_start(const void *a, const void *b)
{
	const struct assumed *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

int group_assume(struct compile *c, struct group *g)
{
	uint64_t gap = GAP_PAGES * c->page;
	int r = take_maps(c, g);

	/* More parts than a process may have: make them coarser. */
	for (size_t parts = g->unseen.count; parts > MAX_MAPS / 2; parts /= 2)
		gap *= 2;
	if (r >= 0)
		r = take_uses(c, g, gap);
	ranges_clear(&g->unseen);
	ranges_clear(&g->ever);
	ranges_clear(&g->made);
	if (g->map_count)
		qsort(g->maps, g->map_count, sizeof(*g->maps), by_start);
	return r;
}
