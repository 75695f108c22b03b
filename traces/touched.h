/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A set of page numbers, made for address spaces: pages come in runs, ranges
 * are cleared and counted whole, and fork copies the set. Copies share memory
 * until one of them changes. Not for use by several threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* Groups of 512 pages that a set may touch: 8 TiB of 4 KiB pages if full, 320 MiB of memory. */
#define TOUCHED_MAX_GROUPS (1u << 22)

struct touched_table;

struct touched {
	struct touched_table *table; /* NULL: empty */
};

void touched_clear_all(struct touched *t) _nonnull_;
/* *to, which must be empty, becomes a copy. */
void touched_copy(const struct touched *t, struct touched *to) _nonnull_;

/* Ranges of pages are half-open. *added: how many were not in it. -ENOMEM, -E2BIG. */
int touched_add(struct touched *t, uint64_t first, uint64_t end,
                uint64_t *added) _must_check_ _nonnull_;
int touched_remove(struct touched *t, uint64_t first, uint64_t end) _must_check_ _nonnull_;
/* Moves what is in the range to where `to` is its first page; the two must not overlap. */
int touched_move(struct touched *t, uint64_t first, uint64_t end,
                 uint64_t to) _must_check_ _nonnull_;

bool touched_has(const struct touched *t, uint64_t page) _nonnull_;
uint64_t touched_count(const struct touched *t, uint64_t first, uint64_t end) _nonnull_;
uint64_t touched_total(const struct touched *t) _nonnull_;
/* Memory of the table; copies that still share it each say so. */
size_t touched_bytes(const struct touched *t) _nonnull_;
