/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A radix tree, like page tables: leaves are 512 bits, inner nodes have 64
 * children. Nodes are counted and shared between copies; one that is shared is
 * copied before it changes (path copying). Ranges that cover a whole node use
 * one full node per level, so a set of 2^40 pages can be a few nodes.
 *
 * Invariants: a node's `pages` is the number of pages below it; a child is NULL
 * rather than empty.
 */

#include <stdlib.h>
#include <string.h>

#include "traces/budget.h"
#include "traces/touched.h"

#define LEAF_SHIFT 9
#define LEAF_PAGES (1u << LEAF_SHIFT)
#define LEAF_WORDS (LEAF_PAGES / 64)
#define NODE_SHIFT 6
#define NODE_CHILDREN (1u << NODE_SHIFT)
#define MAX_LEVEL ((63 - LEAF_SHIFT) / NODE_SHIFT)

struct touched_node {
	uint64_t pages;
	size_t refs;
	union {
		uint64_t bits[LEAF_WORDS]; /* level 0 */
		struct touched_node *child[NODE_CHILDREN];
	};
};

/* log2 of the pages below a node. */
static unsigned level_shift(unsigned level)
{
	return LEAF_SHIFT + NODE_SHIFT * level;
}

static uint64_t level_pages(unsigned level)
{
	return 1ULL << level_shift(level);
}

static size_t node_size(unsigned level)
{
	return offsetof(struct touched_node, bits) +
	       (level ? NODE_CHILDREN * sizeof(struct touched_node *)
	              : LEAF_WORDS * sizeof(uint64_t));
}

static int node_new(unsigned level, struct touched_node **out)
{
	struct touched_node *n;
	int r = budget_take(node_size(level));

	if (r < 0)
		return r;
	n = calloc(1, node_size(level));
	if (!n) {
		budget_give(node_size(level));
		return -ENOMEM;
	}
	n->refs = 1;
	*out = n;
	return 0;
}

static struct touched_node *node_get(struct touched_node *n)
{
	if (n)
		n->refs++;
	return n;
}

static void node_put(struct touched_node *n, unsigned level)
{
	if (!n || --n->refs)
		return;
	for (unsigned i = 0; level && i < NODE_CHILDREN; i++)
		node_put(n->child[i], level - 1);
	free(n);
	budget_give(node_size(level));
}

/* Makes the node in *slot one that nobody else has. */
static int node_own(struct touched_node **slot, unsigned level)
{
	struct touched_node *old = *slot, *n;
	int r;

	if (old && old->refs == 1)
		return 0;
	r = node_new(level, &n);
	if (r < 0)
		return r;
	if (old) {
		memcpy(n, old, node_size(level));
		n->refs = 1;
		for (unsigned i = 0; level && i < NODE_CHILDREN; i++)
			node_get(n->child[i]);
		node_put(old, level);
	}
	*slot = n;
	return 0;
}

/* The node of that level with every page in it; kept for good, one per level. */
static int node_full(unsigned level, struct touched_node **out)
{
	static struct touched_node *full[MAX_LEVEL + 1];
	struct touched_node *n;
	int r;

	*out = full[level];
	if (*out)
		return 0;
	r = node_new(level, &n);
	if (r < 0)
		return r;
	if (!level)
		memset(n->bits, 0xff, sizeof(n->bits));
	for (unsigned i = 0; level && i < NODE_CHILDREN; i++) {
		r = node_full(level - 1, &n->child[i]);
		if (r < 0) {
			node_put(n, level);
			return r;
		}
		node_get(n->child[i]);
	}
	n->pages = level_pages(level);
	*out = full[level] = n;
	return 0;
}

void touched_clear(struct touched *t)
{
	node_put(t->root, t->level);
	*t = (struct touched){ 0 };
}

void touched_copy(const struct touched *t, struct touched *to)
{
	*to = *t;
	node_get(to->root);
}

/* The bits of word w that lie in first…end of a leaf. */
static uint64_t leaf_mask(unsigned w, uint64_t first, uint64_t end)
{
	uint64_t base = w * 64, low = first > base ? first - base : 0;
	uint64_t high = end > base ? end - base : 0;

	if (low >= 64 || low >= high)
		return 0;
	return (high >= 64 ? UINT64_MAX : (1ULL << high) - 1) & (UINT64_MAX << low);
}

static uint64_t leaf_count(const struct touched_node *n, uint64_t first, uint64_t end)
{
	uint64_t count = 0;

	for (unsigned w = (unsigned)first / 64; w < LEAF_WORDS && w * 64 < end; w++)
		count += (unsigned)__builtin_popcountll(n->bits[w] & leaf_mask(w, first, end));
	return count;
}

/* The part of first…end that lies in child i, counted from the child's first page. */
struct part {
	uint64_t first, end;
};

static struct part part_of(unsigned level, unsigned i, uint64_t first, uint64_t end)
{
	uint64_t size = level_pages(level - 1), base = i * size;

	return (struct part){
		.first = first > base ? first - base : 0,
		.end = end - base < size ? end - base : size,
	};
}

static unsigned child_of(unsigned level, uint64_t page)
{
	return (unsigned)(page >> level_shift(level - 1));
}

/* Ranges of these count from the node's first page and lie within it. */
static int node_add(struct touched_node **slot, unsigned level, uint64_t first, uint64_t end,
                    uint64_t *added)
{
	uint64_t had = *slot ? (*slot)->pages : 0, before = *added;
	struct touched_node *full;
	int r = 0;

	if (had == level_pages(level))
		return 0;
	if (end - first == level_pages(level)) {
		r = node_full(level, &full);
		if (r < 0)
			return r;
		node_put(*slot, level);
		*slot = node_get(full);
		*added += full->pages - had;
		return 0;
	}
	r = node_own(slot, level);
	if (r < 0)
		return r;
	if (!level) {
		*added += end - first - leaf_count(*slot, first, end);
		for (unsigned w = (unsigned)first / 64; w < LEAF_WORDS && w * 64 < end; w++)
			(*slot)->bits[w] |= leaf_mask(w, first, end);
	} else {
		for (unsigned i = child_of(level, first); r >= 0 && i <= child_of(level, end - 1);
		     i++) {
			struct part p = part_of(level, i, first, end);

			r = node_add(&(*slot)->child[i], level - 1, p.first, p.end, added);
		}
	}
	(*slot)->pages += *added - before;
	return r;
}

static uint64_t node_count(const struct touched_node *n, unsigned level, uint64_t first,
                           uint64_t end)
{
	uint64_t count = 0;

	if (!n)
		return 0;
	if (end - first == level_pages(level) || n->pages == level_pages(level))
		return n->pages == level_pages(level) ? end - first : n->pages;
	if (!level)
		return leaf_count(n, first, end);
	for (unsigned i = child_of(level, first); i <= child_of(level, end - 1); i++) {
		struct part p = part_of(level, i, first, end);

		count += node_count(n->child[i], level - 1, p.first, p.end);
	}
	return count;
}

static int node_remove(struct touched_node **slot, unsigned level, uint64_t first, uint64_t end)
{
	uint64_t gone = node_count(*slot, level, first, end);
	int r;

	if (!gone)
		return 0;
	if (gone == (*slot)->pages) {
		node_put(*slot, level);
		*slot = NULL;
		return 0;
	}
	r = node_own(slot, level);
	if (r < 0)
		return r;
	(*slot)->pages -= gone;
	if (!level) {
		for (unsigned w = (unsigned)first / 64; w < LEAF_WORDS && w * 64 < end; w++)
			(*slot)->bits[w] &= ~leaf_mask(w, first, end);
		return 0;
	}
	for (unsigned i = child_of(level, first); r >= 0 && i <= child_of(level, end - 1); i++) {
		struct part p = part_of(level, i, first, end);

		r = node_remove(&(*slot)->child[i], level - 1, p.first, p.end);
	}
	return r;
}

/* Cuts a range to what can be in the tree; false if nothing is left. */
static bool range_clip(const struct touched *t, uint64_t first, uint64_t *end)
{
	if (t->root && *end > level_pages(t->level))
		*end = level_pages(t->level);
	return t->root && first < *end;
}

/* Makes the tree high enough for pages below end. */
static int tree_raise(struct touched *t, uint64_t end)
{
	while (end > level_pages(t->level)) {
		struct touched_node *n;
		int r;

		if (t->root) {
			r = node_new(t->level + 1, &n);
			if (r < 0)
				return r;
			n->pages = t->root->pages;
			n->child[0] = t->root;
			t->root = n;
		}
		t->level++;
	}
	return 0;
}

/* The usual case: one page, of a group that is there and nobody else's. false: not that. */
static bool add_one(struct touched *t, uint64_t page, uint64_t *added)
{
	struct touched_node *path[MAX_LEVEL + 1], *n = t->root;
	uint64_t *word;

	if (!n || page >= level_pages(t->level))
		return false;
	for (unsigned level = t->level;; level--) {
		if (!n || n->refs != 1)
			return false;
		path[level] = n;
		if (!level)
			break;
		n = n->child[page >> level_shift(level - 1) & (NODE_CHILDREN - 1)];
	}
	word = &n->bits[page % LEAF_PAGES / 64];
	*added = !(*word >> page % 64 & 1);
	*word |= 1ULL << page % 64;
	for (unsigned level = 0; level <= t->level; level++)
		path[level]->pages += *added;
	return true;
}

int touched_add(struct touched *t, uint64_t first, uint64_t end, uint64_t *added)
{
	int r;

	*added = 0;
	if (end > TOUCHED_END)
		end = TOUCHED_END;
	if (first >= end || (end - first == 1 && add_one(t, first, added)))
		return 0;
	r = tree_raise(t, end);
	return r < 0 ? r : node_add(&t->root, t->level, first, end, added);
}

int touched_remove(struct touched *t, uint64_t first, uint64_t end)
{
	return range_clip(t, first, &end) ? node_remove(&t->root, t->level, first, end) : 0;
}

int touched_move(struct touched *t, uint64_t first, uint64_t end, uint64_t to)
{
	uint64_t run, run_end, added, at = first;
	struct touched old;
	int r;

	touched_copy(t, &old);
	r = touched_remove(t, first, end);
	while (r >= 0 && at < end && touched_next_run(&old, at, &run, &run_end) && run < end) {
		if (run_end > end)
			run_end = end;
		if (run - first < TOUCHED_END && run - first + to < TOUCHED_END)
			r = touched_add(t, run - first + to, run_end - first + to, &added);
		at = run_end;
	}
	touched_clear(&old);
	return r;
}

bool touched_has(const struct touched *t, uint64_t page)
{
	const struct touched_node *n = t->root;

	if (!n || page >= level_pages(t->level))
		return false;
	for (unsigned level = t->level; level && n; level--)
		n = n->child[page >> level_shift(level - 1) & (NODE_CHILDREN - 1)];
	return n && n->bits[page % LEAF_PAGES / 64] >> page % 64 & 1;
}

uint64_t touched_count(const struct touched *t, uint64_t first, uint64_t end)
{
	return range_clip(t, first, &end) ? node_count(t->root, t->level, first, end) : 0;
}

uint64_t touched_total(const struct touched *t)
{
	return t->root ? t->root->pages : 0;
}

static uint64_t leaf_next(const struct touched_node *n, uint64_t from, bool set)
{
	for (unsigned w = (unsigned)from / 64; w < LEAF_WORDS; w++) {
		uint64_t bits = (set ? n->bits[w] : ~n->bits[w]) & leaf_mask(w, from, LEAF_PAGES);

		if (bits)
			return w * 64 + (unsigned)__builtin_ctzll(bits);
	}
	return LEAF_PAGES;
}

/* The first page at or above `from` that is in the set, or is not; the node's end if none. */
static uint64_t node_next(const struct touched_node *n, unsigned level, uint64_t from, bool set)
{
	const uint64_t pages = level_pages(level);

	if (!n || n->pages == pages)
		return (n != NULL) == set ? from : pages;
	if (!level)
		return leaf_next(n, from, set);
	while (from < pages) {
		unsigned i = child_of(level, from);
		uint64_t base = i * level_pages(level - 1);
		uint64_t at = node_next(n->child[i], level - 1, from - base, set);

		if (at < level_pages(level - 1))
			return base + at;
		from = base + at;
	}
	return pages;
}

bool touched_next_run(const struct touched *t, uint64_t from, uint64_t *first, uint64_t *end)
{
	const uint64_t pages = t->root ? level_pages(t->level) : 0;

	if (from >= pages)
		return false;
	*first = node_next(t->root, t->level, from, true);
	if (*first == pages)
		return false;
	*end = node_next(t->root, t->level, *first, false);
	return true;
}
