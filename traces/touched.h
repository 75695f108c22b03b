/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of page numbers (or other numbers that come in runs), made for address
 * spaces: whole ranges are added, removed and counted in the time of their
 * edges, and a copy costs nothing until one of the two changes. Not for use by
 * several threads.
 *
 * Numbers are below TOUCHED_END; ranges are half-open, and what is beyond or
 * backward is ignored. Errors are -ENOMEM and the budget's -E2BIG.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define TOUCHED_END (1ULL << 63)

struct touched_node;

/* Zeroed is empty. */
struct touched {
	struct touched_node *root;
	unsigned level; /* of root */
};

void touched_clear(struct touched *t) _nonnull_;
/* *to, which must be empty, becomes a copy. */
void touched_copy(const struct touched *t, struct touched *to) _nonnull_;

/* *added: how many were not in it. */
int touched_add(struct touched *t, uint64_t first, uint64_t end,
                uint64_t *added) _must_check_ _nonnull_;
int touched_remove(struct touched *t, uint64_t first, uint64_t end) _must_check_ _nonnull_;
/* Moves what is in the range to where `to` is its first page; the two must not overlap. */
int touched_move(struct touched *t, uint64_t first, uint64_t end,
                 uint64_t to) _must_check_ _nonnull_;

bool touched_has(const struct touched *t, uint64_t page) _nonnull_;
uint64_t touched_count(const struct touched *t, uint64_t first, uint64_t end) _nonnull_;
uint64_t touched_total(const struct touched *t) _nonnull_;
/* The first run of pages in the set at or above `from`; false if there is none. */
bool touched_next_run(const struct touched *t, uint64_t from, uint64_t *first,
                      uint64_t *end) _nonnull_;
