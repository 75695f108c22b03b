/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regions in address order, which never overlap and are never empty: for
 * space.c only. Held in chunks, so that a change costs little among a million
 * of them; copies share chunks until one changes.
 */
#pragma once

#include "traces/space.h"

struct region_chunk;

/* Zeroed is empty. */
struct regions {
	struct region_chunk **chunks;
	size_t chunk_count, chunk_room;
	size_t count;
};

/* A position; valid until the regions change. */
struct region_place {
	size_t chunk, at;
};

void regions_clear(struct regions *r) _nonnull_;
/* *to, which must be empty, becomes a copy. */
int regions_copy(const struct regions *r, struct regions *to) _must_check_ _nonnull_;

/* The first region that ends above address, NULL if none. */
const struct region *regions_search(const struct regions *r, uint64_t address,
                                    struct region_place *place) _nonnull_;
/* The one behind, NULL at the end. */
const struct region *regions_next(const struct regions *r, struct region_place *place) _nonnull_;
/* The region at a place, to be changed in all but its ends. */
int regions_edit(struct regions *r, const struct region_place *place,
                 struct region **out) _must_check_ _nonnull_;

/* Makes address a border, if it lies within a region. */
int regions_split(struct regions *r, uint64_t address) _must_check_ _nonnull_;
/* Where nothing is. */
int regions_insert(struct regions *r, const struct region *region) _must_check_ _nonnull_;
/* Removes all regions that begin in start…end; both ends must be borders. */
int regions_remove(struct regions *r, uint64_t start, uint64_t end) _must_check_ _nonnull_;
