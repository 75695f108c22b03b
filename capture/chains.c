/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks in one array of addresses, found by hash. */

#include <stdlib.h>
#include <string.h>

#include "capture/chains.h"
#include "common/array.h"
#include "common/map.h"

#define CHAINS_MAX 65536
#define ADDRESSES_MAX (4u << 20) /* 32 MiB */
#define SEVERAL 1 /* as a callee: stacks do not agree */

struct chain {
	size_t first, count; /* in addresses */
	uint64_t samples;
};

struct chains {
	const struct symbols *symbols;
	struct map by_hash;
	struct chain *items;
	size_t count, room;
	uint64_t *addresses;
	size_t addresses_count, addresses_room;
	struct map callees; /* return address to the start of the function called before it */
};

int chains_new(struct chains **out, const struct symbols *symbols)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->symbols = symbols;
	return 0;
}

struct chains *chains_free(struct chains *c)
{
	if (c) {
		map_clear(&c->by_hash);
		map_clear(&c->callees);
		free(c->items);
		free(c->addresses);
		free(c);
	}
	return NULL;
}

void chains_reset(struct chains *c)
{
	map_clear(&c->by_hash);
	map_clear(&c->callees);
	c->count = c->addresses_count = 0;
}

/* FNV-1a by words with a fold: stacks are the kernel's own, not chosen to collide. */
uint64_t chains_hash(const uint64_t *chain, size_t count)
{
	uint64_t h = 0xcbf29ce484222325ULL ^ count;

	for (size_t i = 0; i < count; i++) {
		h = (h ^ chain[i]) * 0x100000001b3ULL;
		h ^= h >> 29;
	}
	return h;
}

/*
 * Only from the third address on: whoever called the innermost function may be missing,
 * all others had a frame.
 */
static int learn(struct chains *c, const uint64_t *chain, size_t count)
{
	for (size_t i = 2; i < count; i++) {
		uint64_t start = symbols_start(c->symbols, chain[i - 1] - 1), *callee;
		bool added;
		int r = map_place(&c->callees, chain[i], &callee, &added);

		if (r < 0)
			return r;
		*callee = added || *callee == start ? start : SEVERAL;
	}
	return 0;
}

static int store(struct chains *c, uint64_t hash, const uint64_t *chain, size_t count)
{
	int r = array_grow((void **)&c->items, c->count, &c->room, sizeof(*c->items));

	for (size_t i = 0; i < count && r >= 0; i++) {
		r = array_grow((void **)&c->addresses, c->addresses_count + i, &c->addresses_room,
		               sizeof(*c->addresses));
		if (r >= 0)
			c->addresses[c->addresses_count + i] = chain[i];
	}
	if (r >= 0)
		r = map_set(&c->by_hash, hash, c->count);
	if (r < 0)
		return r;
	c->items[c->count++] = (struct chain){ c->addresses_count, count, 1 };
	c->addresses_count += count;
	return learn(c, chain, count);
}

int chains_add(struct chains *c, const uint64_t *chain, size_t count)
{
	uint64_t hash = chains_hash(chain, count), *found = map_find(&c->by_hash, hash);

	if (found) {
		c->items[*found].samples++;
		return 0;
	}
	if (c->count == CHAINS_MAX || c->addresses_count + count > ADDRESSES_MAX)
		return 1;
	return store(c, hash, chain, count);
}

const uint64_t *chains_at(const struct chains *c, size_t number, size_t *count, uint64_t *samples)
{
	if (number >= c->count)
		return NULL;
	*count = c->items[number].count;
	*samples = c->items[number].samples;
	return c->addresses + c->items[number].first;
}

uint64_t chains_lost_caller(const struct chains *c, const uint64_t *chain, size_t count)
{
	const uint64_t *callee = count > 1 ? map_find(&c->callees, chain[1]) : NULL;

	if (!callee || *callee <= SEVERAL || *callee == symbols_start(c->symbols, chain[0]))
		return 0;
	return *callee + 1;
}
