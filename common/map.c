/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linear probing with deletion by moving later entries up (Knuth 6.4, algorithm R). */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/map.h"

#define FIRST_SLOTS 16

/* Two rounds of multiply and fold; the seed keeps a file from choosing collisions. */
static size_t home_of(const struct map *m, uint64_t key)
{
	static uint64_t seed;

	while (!seed)
		if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != sizeof(seed))
			seed = (uintptr_t)&seed ^ 0x9e3779b97f4a7c15ULL;
	key = (key ^ seed) * 0x9fb21c651e98df25ULL;
	key = (key ^ key >> 32) * 0x9e3779b97f4a7c15ULL;
	return (size_t)(key >> 32) & (m->slots - 1);
}

void map_clear(struct map *m)
{
	free(m->entries);
	free(m->taken);
	*m = (struct map){ 0 };
}

static size_t slot_of(const struct map *m, uint64_t key)
{
	size_t i = home_of(m, key);

	while (m->taken[i] && m->entries[i].key != key)
		i = (i + 1) & (m->slots - 1);
	return i;
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	size_t i;

	if (!m->count)
		return NULL;
	i = slot_of(m, key);
	return m->taken[i] ? &m->entries[i].value : NULL;
}

static int map_grow(struct map *m)
{
	struct map bigger = { .slots = m->slots ? m->slots * 2 : FIRST_SLOTS, .count = m->count };

	bigger.entries = malloc(bigger.slots * sizeof(*bigger.entries));
	bigger.taken = calloc(bigger.slots, 1);
	if (!bigger.entries || !bigger.taken) {
		map_clear(&bigger);
		return -ENOMEM;
	}
	for (size_t i = 0; i < m->slots; i++) {
		size_t to;

		if (!m->taken[i])
			continue;
		to = slot_of(&bigger, m->entries[i].key);
		bigger.taken[to] = 1;
		bigger.entries[to] = m->entries[i];
	}
	map_clear(m);
	*m = bigger;
	return 0;
}

int map_place(struct map *m, uint64_t key, uint64_t **value, bool *added)
{
	size_t i;

	*added = false;
	*value = map_find(m, key);
	if (*value)
		return 0;
	if (m->count >= m->slots / 8 * 5) {
		int r = map_grow(m);

		if (r < 0)
			return r;
	}
	i = slot_of(m, key);
	m->taken[i] = 1;
	m->entries[i] = (struct map_entry){ key, 0 };
	m->count++;
	*value = &m->entries[i].value;
	*added = true;
	return 0;
}

int map_set(struct map *m, uint64_t key, uint64_t value)
{
	uint64_t *place;
	bool added;
	int r = map_place(m, key, &place, &added);

	if (r >= 0)
		*place = value;
	return r;
}

void map_remove(struct map *m, uint64_t key)
{
	size_t hole, i;

	if (!map_find(m, key))
		return;
	hole = i = slot_of(m, key);
	for (;;) {
		size_t home;

		i = (i + 1) & (m->slots - 1);
		if (!m->taken[i])
			break;
		/* An entry moves up unless its home lies behind the hole. */
		home = home_of(m, m->entries[i].key);
		if (((i - home) & (m->slots - 1)) < ((i - hole) & (m->slots - 1)))
			continue;
		m->entries[hole] = m->entries[i];
		hole = i;
	}
	m->taken[hole] = 0;
	m->count--;
}

struct map_entry *map_next(const struct map *m, size_t *i)
{
	while (*i < m->slots)
		if (m->taken[(*i)++])
			return &m->entries[*i - 1];
	return NULL;
}
