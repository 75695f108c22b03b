/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An ordered map from address ranges to 64-bit values. Ranges are half-open
 * and never overlap; neighbours of equal value are one range.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct range {
	uint64_t start, end, value;
};

struct ranges {
	struct range_node *root; /* NULL: empty */
	size_t count;
};

void ranges_clear(struct ranges *r) _nonnull_;
/* *to, which must be empty, becomes a copy. */
int ranges_copy(const struct ranges *from, struct ranges *to) _must_check_ _nonnull_;

/* Replaces what was in the range. An empty or backward range does nothing. */
int ranges_set(struct ranges *r, uint64_t start, uint64_t end,
               uint64_t value) _must_check_ _nonnull_;
/* Removes what was in the range. */
int ranges_cut(struct ranges *r, uint64_t start, uint64_t end) _must_check_ _nonnull_;

/*
 * The range that holds address, or the next one above it; NULL if none. Valid
 * until the map changes. The ranges that overlap start…end are
 *   for (n = ranges_find(r, start); n && n->start < end; n = ranges_find(r, n->end))
 */
const struct range *ranges_find(const struct ranges *r, uint64_t address) _nonnull_;
/* The last range that ends at or below address; NULL if none. */
const struct range *ranges_below(const struct ranges *r, uint64_t address) _nonnull_;
/* The range that holds address, or NULL. */
const struct range *ranges_at(const struct ranges *r, uint64_t address) _nonnull_;
bool ranges_overlap(const struct ranges *r, uint64_t start, uint64_t end) _nonnull_;
bool ranges_cover(const struct ranges *r, uint64_t start, uint64_t end) _nonnull_;
