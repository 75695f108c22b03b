/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ordered ranges as a treap: a search tree by start that is a heap by random
 * priority, so that it stays shallow whatever the order of insertion
 * (Seidel and Aragon, Randomized Search Trees, 1996). The priorities come from
 * a seed of the process, so that no file can be made to fit them.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "replay/ranges.h"

struct range_node {
	struct range range; /* first: a range handed out is its node */
	struct range_node *left, *right;
	uint32_t priority;
};

static uint32_t next_priority(void)
{
	static _Thread_local uint64_t state;

	if (!state) {
		const void *seed = (const void *)getauxval(AT_RANDOM); /* 16 bytes, unaligned */

		if (seed)
			memcpy(&state, seed, sizeof(state));
		state |= 1;
	}
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static void free_tree(struct range_node *n)
{
	if (!n)
		return;
	free_tree(n->left);
	free_tree(n->right);
	free(n);
}

void ranges_clear(struct ranges *r)
{
	free_tree(r->root);
	r->root = NULL;
	r->count = 0;
}

static int copy_tree(const struct range_node *from, struct range_node **to)
{
	int r;

	if (!from)
		return 0;
	*to = malloc(sizeof(**to));
	if (!*to)
		return -ENOMEM;
	**to = *from;
	(*to)->left = (*to)->right = NULL;
	r = copy_tree(from->left, &(*to)->left);
	return r < 0 ? r : copy_tree(from->right, &(*to)->right);
}

int ranges_copy(const struct ranges *from, struct ranges *to)
{
	int r = copy_tree(from->root, &to->root);

	to->count = from->count;
	if (r < 0)
		ranges_clear(to);
	return r;
}

/* Parts the tree by start: below key to the left. */
static void split_tree(struct range_node *n, uint64_t key, struct range_node **left,
                       struct range_node **right)
{
	if (!n) {
		*left = *right = NULL;
	} else if (n->range.start < key) {
		*left = n;
		split_tree(n->right, key, &n->right, right);
	} else {
		*right = n;
		split_tree(n->left, key, left, &n->left);
	}
}

static struct range_node *join_trees(struct range_node *left, struct range_node *right)
{
	if (!left || !right)
		return left ? left : right;
	if (left->priority > right->priority) {
		left->right = join_trees(left->right, right);
		return left;
	}
	right->left = join_trees(left, right->left);
	return right;
}

static int insert(struct ranges *r, uint64_t start, uint64_t end, uint64_t value)
{
	struct range_node *n = malloc(sizeof(*n)), **at = &r->root;

	if (!n)
		return -ENOMEM;
	*n = (struct range_node){ .range = { start, end, value }, .priority = next_priority() };
	while (*at && (*at)->priority >= n->priority)
		at = start < (*at)->range.start ? &(*at)->left : &(*at)->right;
	split_tree(*at, start, &n->left, &n->right);
	*at = n;
	r->count++;
	return 0;
}

static struct range_node *find_node(const struct ranges *r, uint64_t address)
{
	struct range_node *best = NULL;

	for (struct range_node *n = r->root; n;) {
		if (n->range.end > address) {
			best = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return best;
}

static size_t free_counted(struct range_node *n)
{
	size_t count;

	if (!n)
		return 0;
	count = free_counted(n->left) + free_counted(n->right) + 1;
	free(n);
	return count;
}

/* Removes the ranges whose starts lie in start…end. */
static void remove_starts(struct ranges *r, uint64_t start, uint64_t end)
{
	struct range_node *left, *middle, *right;

	split_tree(r->root, start, &left, &middle);
	split_tree(middle, end, &middle, &right);
	r->count -= free_counted(middle);
	r->root = join_trees(left, right);
}

int ranges_cut(struct ranges *r, uint64_t start, uint64_t end)
{
	struct range_node *n;
	int err;

	if (start >= end)
		return 0;
	n = find_node(r, start);
	if (!n || n->range.start >= end)
		return 0;
	if (n->range.start < start) {
		uint64_t old_end = n->range.end;

		n->range.end = start;
		if (old_end > end)
			return insert(r, end, old_end, n->range.value);
		n = find_node(r, start);
	}
	/* The last range that starts below end may reach beyond it. */
	for (; n && n->range.start < end; n = find_node(r, n->range.end)) {
		if (n->range.end <= end)
			continue;
		err = insert(r, end, n->range.end, n->range.value);
		if (err < 0)
			return err;
		n->range.end = end;
		break;
	}
	remove_starts(r, start, end);
	return 0;
}

int ranges_set(struct ranges *r, uint64_t start, uint64_t end, uint64_t value)
{
	struct range_node *n;
	int err;

	if (start >= end)
		return 0;
	n = find_node(r, start);
	if (n && n->range.start <= start && n->range.end >= end && n->range.value == value)
		return 0;
	err = ranges_cut(r, start, end);
	if (err < 0)
		return err;
	n = find_node(r, end);
	if (n && n->range.start == end && n->range.value == value) {
		end = n->range.end;
		remove_starts(r, n->range.start, n->range.start + 1);
	}
	n = start ? find_node(r, start - 1) : NULL;
	if (n && n->range.end == start && n->range.value == value) {
		n->range.end = end;
		return 0;
	}
	return insert(r, start, end, value);
}

const struct range *ranges_find(const struct ranges *r, uint64_t address)
{
	struct range_node *n = find_node(r, address);

	return n ? &n->range : NULL;
}

const struct range *ranges_below(const struct ranges *r, uint64_t address)
{
	const struct range_node *best = NULL;

	for (const struct range_node *n = r->root; n;) {
		if (n->range.end <= address) {
			best = n;
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return best ? &best->range : NULL;
}

const struct range *ranges_at(const struct ranges *r, uint64_t address)
{
	const struct range *n = ranges_find(r, address);

	return n && n->start <= address ? n : NULL;
}

bool ranges_overlap(const struct ranges *r, uint64_t start, uint64_t end)
{
	const struct range *n = ranges_find(r, start);

	return n && n->start < end && start < end;
}

bool ranges_cover(const struct ranges *r, uint64_t start, uint64_t end)
{
	while (start < end) {
		const struct range *n = ranges_at(r, start);

		if (!n)
			return false;
		start = n->end;
	}
	return true;
}
