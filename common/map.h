/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A map from 64-bit keys to 64-bit values: open addressing, linear probing, no
 * tombstones. Zeroed is empty. Keys may come from hostile files: the hash is
 * seeded per process, so that a file cannot be made to collide.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct map_entry {
	uint64_t key, value;
};

struct map {
	struct map_entry *entries;
	uint8_t *taken;
	size_t slots; /* 0 or a power of two */
	size_t count;
};

void map_clear(struct map *m) _nonnull_;

/* The value's place, valid until the map is changed; NULL if there is none. */
uint64_t *map_find(const struct map *m, uint64_t key) _nonnull_;
/* Finds, or adds with value 0 and sets *added. -ENOMEM. */
int map_place(struct map *m, uint64_t key, uint64_t **value, bool *added) _must_check_ _nonnull_;
int map_set(struct map *m, uint64_t key, uint64_t value) _must_check_ _nonnull_;
void map_remove(struct map *m, uint64_t key) _nonnull_;

/* Walks all entries in no order: *i starts at 0. NULL at the end. */
struct map_entry *map_next(const struct map *m, size_t *i) _nonnull_;
