/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From recorded to replayed addresses. The window is parted:
 *
 *   CLUSTER_BASE … CLUSTERS_END   clusters of recorded addresses, moved whole
 *   CLUSTERS_END … ALIGNED_END    thp-aligned: mappings that we place
 *   ALIGNED_END  … CLUSTER_END    the hole: never mapped
 *
 * Whatever a trace says, no operation leaves the window or a mapping that the
 * kernel chose for it.
 */

#include <stdlib.h>

#include "common/bytes.h"
#include "common/log.h"
#include "replay/compile_core.h"

#define SLOT_SHIFT 30
#define SLOT (1ULL << SLOT_SHIFT)
#define CLUSTER_GAP 16 /* slots: wider gaps part two clusters */
#define TOP_ENTRY (1ULL << 39) /* x86-64: of the page table of level 4; of 5 levels the second */
#define CLUSTERS_END 0x380000000000ULL /* 56 TiB */
#define MAX_LOOKS 64 /* at free blocks, per mapping */
#define ALIGNED_END 0x480000000000ULL /* 72 TiB */

/*
 * The first address from at on with the phase of start in what one entry of the top page
 * table covers, in an entry that the cluster before is in only if it was in the recording.
 * Page tables are then shared as they were: an unmap frees, and walks, as many.
 */
static uint64_t in_step(const struct group *g, uint64_t start, uint64_t at)
{
	const struct cluster *before = g->cluster_count ? &g->clusters[g->cluster_count - 1] : NULL;
	uint64_t to = align_down(at, TOP_ENTRY) + start % TOP_ENTRY;

	if (to < at)
		to += TOP_ENTRY;
	if (before && (before->end - 1) / TOP_ENTRY != start / TOP_ENTRY &&
	    (at - SLOT - 1) / TOP_ENTRY == to / TOP_ENTRY)
		to += TOP_ENTRY;
	return to;
}

/* Gives a cluster its place; at is the end of the one before. */
static int add_cluster(struct group *g, uint64_t first, uint64_t last, bool close, uint64_t *at)
{
	uint64_t bytes = (last - first) << SLOT_SHIFT;
	int r;

	if (!close)
		*at = in_step(g, first << SLOT_SHIFT, *at);
	if (*at > CLUSTERS_END || bytes + SLOT > CLUSTERS_END - *at)
		return -E2BIG;
	r = array_grow((void **)&g->clusters, g->cluster_count, &g->cluster_room,
	               sizeof(*g->clusters));
	if (r < 0)
		return r;
	g->clusters[g->cluster_count++] = (struct cluster){
		.start = first << SLOT_SHIFT,
		.end = last << SLOT_SHIFT,
		.to = *at,
	};
	*at += bytes + SLOT;
	return 0;
}

/* close: one behind the other, whatever page tables they share. */
static int place_clusters(struct group *g, bool close)
{
	uint64_t at = CLUSTER_BASE, first = 0, last = 0;
	const struct range *n;
	int r = 0;

	g->cluster_count = 0;
	for (n = ranges_find(&g->slots, 0); r >= 0 && n; n = ranges_find(&g->slots, n->end)) {
		if (last && n->start - last > CLUSTER_GAP) {
			r = add_cluster(g, first, last, close, &at);
			last = 0;
		}
		if (!last)
			first = n->start;
		last = n->end;
	}
	if (r >= 0 && last)
		r = add_cluster(g, first, last, close, &at);
	return r;
}

int place_group(struct compile *c, struct group *g)
{
	int r = place_clusters(g, false);

	if (r == -E2BIG)
		r = place_clusters(g, true);
	ranges_clear(&g->slots);
	if (r == -E2BIG)
		log_error("%s: the addresses of task %u are spread over more than %llu TiB",
		          trace_reader_path(c->reader), g->process_id,
		          (unsigned long long)((CLUSTERS_END - CLUSTER_BASE) >> 40));
	return r;
}

/* The cluster that holds address, or the next one above it; NULL if none. */
static const struct cluster *find_cluster(const struct group *g, uint64_t address)
{
	size_t low = 0, high = g->cluster_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (g->clusters[mid].end > address)
			high = mid;
		else
			low = mid + 1;
	}
	return low < g->cluster_count ? &g->clusters[low] : NULL;
}

static void piece_in_cluster(const struct group *g, struct piece *out)
{
	const struct cluster *k = find_cluster(g, out->start);

	out->anchor = 0;
	if (!k || k->start > out->start) {
		out->outside = true;
		out->offset = 0;
		if (k && k->start < out->end)
			out->end = k->start;
		return;
	}
	out->outside = false;
	out->offset = out->start - k->start + k->to;
	if (out->end > k->end)
		out->end = k->end;
}

void place_piece(const struct compile *c, const struct cspace *sp, uint64_t start, uint64_t end,
                 struct piece *out)
{
	const struct range *n = ranges_find(&sp->anchors, start);

	*out = (struct piece){ .start = start, .end = end };
	if (n && n->start <= start) {
		const struct anchor *a = &c->anchors[n->value];

		out->end = end < n->end ? end : n->end;
		out->anchor = a->id;
		out->offset = start - a->recorded + a->base;
		return;
	}
	if (n && n->start < end)
		out->end = n->start;
	piece_in_cluster(&c->groups[sp->group], out);
}

void place_hole(const struct compile *c, uint64_t start, struct piece *out)
{
	*out = (struct piece){
		.start = start,
		.end = start,
		.offset = ALIGNED_END + HUGE_PAGE + (start & (c->page - 1)),
	};
}

bool place_whole(const struct compile *c, const struct cspace *sp, uint64_t start, uint64_t end,
                 struct piece *out)
{
	place_piece(c, sp, start, end, out);
	if (!out->outside && out->end == end)
		return true;
	place_hole(c, start, out);
	if (space_mapped_bytes(sp->model, start, end))
		return false;
	return end - start < HOLE_BYTES;
}

static int new_anchor(struct compile *c, const struct anchor *a, uint64_t *index)
{
	int r = array_grow((void **)&c->anchors, c->anchor_count, &c->anchor_room,
	                   sizeof(*c->anchors));

	if (r < 0)
		return r;
	*index = c->anchor_count++;
	c->anchors[*index] = *a;
	return 0;
}

/* thp-aligned: the first free block that is long enough, or new addresses. */
static int take_aligned(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t length,
                        uint64_t *base)
{
	const struct range *n = ranges_find(&sp->free, 0);
	uint64_t at = 0;
	bool found = false;

	for (int i = 0; n && i < MAX_LOOKS && !found; i++) {
		at = align_up(n->start, HUGE_PAGE);
		found = at < n->end && n->end - at >= length;
		if (!found)
			n = ranges_find(&sp->free, n->end);
	}
	if (found) {
		int r = 0;

		*base = at;
		if (c->options->rules & RULE_MAP_AFTER_UNMAP)
			r = emit_wait(c, t, (uint32_t)(n->value >> 32), (uint32_t)n->value);
		return r < 0 ? r : ranges_cut(&sp->free, at, at + length);
	}
	if (!sp->free_next)
		sp->free_next = CLUSTERS_END;
	/* A page between neighbours: the recording's neighbours would merge elsewhere. */
	*base = align_up(sp->free_next + c->page, HUGE_PAGE);
	if (length > ALIGNED_END - *base)
		return -E2BIG;
	sp->free_next = *base + length;
	return 0;
}

static int take_id(struct compile *c, struct ctask *t, uint32_t *id)
{
	if (t->free_anchor_count) {
		*id = t->free_anchors[--t->free_anchor_count];
		return 0;
	}
	if (c->anchor_ids == UINT32_MAX)
		return -E2BIG;
	*id = c->anchor_ids++;
	return 0;
}

/* Longer ones are aligned by the kernel itself and say nothing of where the area began. */
static void note_first_choice(struct compile *c, const struct cspace *sp, uint64_t start,
                              uint64_t end)
{
	struct group *g = &c->groups[sp->group];

	if (g->chosen_end)
		return;
	g->chosen_end = end;
	g->chosen_length = end - start < PLAN_PHASE ? end - start : 0;
}

bool place_holes_taken(const struct compile *c, const struct cspace *sp, uint64_t start,
                       uint64_t end)
{
	const struct range *n = ranges_find(&sp->anchors, start);

	/* Within one anchor, when nothing was chosen since its first hole, its holes are free. */
	if (n && n->start <= start && n->end >= end)
		return c->anchors[n->value].hole_chosen != sp->chosen;
	return n && n->start < end;
}

int place_choose(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                 uint64_t end, bool aligned, struct piece *out)
{
	struct anchor a = {
		.recorded = start, .recorded_end = end, .task = t->number, .forks = sp->forks
	};
	uint64_t index;
	int r;

	note_first_choice(c, sp, start, end);
	r = aligned ? take_aligned(c, t, sp, end - start, &a.base) : take_id(c, t, &a.id);
	if (r >= 0)
		r = new_anchor(c, &a, &index);
	if (r >= 0)
		r = ranges_set(&sp->anchors, start, end, index);
	sp->chosen++;
	*out = (struct piece){ .start = start, .end = end, .offset = a.base, .anchor = a.id };
	return r;
}

int place_fixed(struct compile *c, struct cspace *sp, uint64_t start, uint64_t end)
{
	return ranges_cut(&sp->anchors, start, end);
}

/*
 * An anchor whose whole range goes is forgotten, and its number is used again
 * by the task that made it: its operations are over by then, and no copy of the
 * space knows it.
 */
static int forget_anchor(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                         uint64_t end, uint64_t index)
{
	const struct anchor a = c->anchors[index];
	int r = ranges_cut(&sp->anchors, start, end);

	uint64_t base = a.base + (start - a.recorded);

	if (r < 0)
		return r;
	if (!a.id)
		return ranges_set(&sp->free, base, base + (end - start),
		                  (uint64_t)t->number << 32 | t->ordinal);
	if (start != a.recorded || end != a.recorded_end || a.task != t->number ||
	    a.forks != sp->forks)
		return 0;
	r = grow_list(&t->free_anchors, t->free_anchor_count, &t->free_anchor_room);
	if (r >= 0)
		t->free_anchors[t->free_anchor_count++] = a.id;
	return r;
}

int place_unmapped(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                   uint64_t end)
{
	const struct range *n;
	int r = 0;

	for (n = ranges_find(&sp->anchors, start); r >= 0 && n && n->start < end;) {
		uint64_t next = n->end;

		/* Part of an anchor that still has memory keeps its place, holes included. */
		if (!space_mapped_bytes(sp->model, n->start, n->end))
			r = forget_anchor(c, t, sp, n->start, n->end, n->value);
		else if (!c->anchors[n->value].hole_chosen)
			c->anchors[n->value].hole_chosen = sp->chosen;
		n = ranges_find(&sp->anchors, next);
	}
	return r;
}
