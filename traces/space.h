/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The model of an address space: which ranges are mapped and how, and which
 * pages were touched. info, explain and plans share it. Pure: it neither reads
 * nor prints. Addresses are those of the trace, page-aligned; ranges are
 * half-open. An empty or backward range is allowed and does nothing.
 *
 * -ENOMEM and -E2BIG (SPACE_MAX_REGIONS, or the budget of budget.h) are the
 * only errors; after one the space may have been changed in part.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct region {
	uint64_t start, end;
	uint64_t offset; /* bytes into the file at start */
	uint32_t file; /* the consumer's number of the file, 0: anonymous */
	uint32_t prot; /* PROT_* */
	uint32_t map_flags; /* MAP_SHARED, MAP_PRIVATE, MAP_GROWSDOWN, MAP_STACK, MAP_NORESERVE … */
	uint32_t tag; /* the consumer's; a split region keeps it on both sides */
	bool assumed; /* its mapping was never recorded */
	bool locked;
};

struct space;

/* More than any vm.max_map_count in use; the kernel's default is 65530. */
#define SPACE_MAX_REGIONS (1u << 20)

int space_new(struct space **out) _must_check_ _nonnull_;
struct space *space_free(struct space *space);

/* Bytes, a power of two from 4096 on, before the first touch; 4096 until set. */
void space_set_page_size(struct space *space, uint64_t page_size) _nonnull_;

/* A copy as fork makes it: regions and touched pages. Memory is shared until one side changes. */
int space_fork(const struct space *space, struct space **out) _must_check_ _nonnull_;

/* Replaces what was in r's range, as mmap with MAP_FIXED does. */
int space_map(struct space *space, const struct region *r) _must_check_ _nonnull_;
int space_unmap(struct space *space, uint64_t start, uint64_t end) _must_check_ _nonnull_;
int space_protect(struct space *space, uint64_t start, uint64_t end,
                  uint32_t prot) _must_check_ _nonnull_;
int space_set_tag(struct space *space, uint64_t start, uint64_t end,
                  uint32_t tag) _must_check_ _nonnull_;
int space_lock(struct space *space, uint64_t start, uint64_t end,
               bool locked) _must_check_ _nonnull_;
/*
 * Moves regions and touched pages as a successful mremap does. new_len may be
 * smaller (the rest is unmapped) or larger (the last region grows). to == old
 * resizes in place. keep_old is MREMAP_DONTUNMAP: the old regions stay, without
 * their pages. old_len 0 maps the region at old a second time. Returns
 * SPACE_IMPOSSIBLE, having done nothing, for what the kernel cannot have done:
 * overlapping ranges, the end beyond 2^64.
 */
#define SPACE_IMPOSSIBLE 1
int space_move(struct space *space, uint64_t old, uint64_t old_len, uint64_t to, uint64_t new_len,
               bool keep_old) _must_check_ _nonnull_;

/* The region holding address, or the next one above it; NULL if none. */
const struct region *space_find(const struct space *space, uint64_t address) _nonnull_;
bool space_mapped(const struct space *space, uint64_t start, uint64_t end) _nonnull_;
/* Bytes of the range that are mapped. */
uint64_t space_mapped_bytes(const struct space *space, uint64_t start, uint64_t end) _nonnull_;

/* How many regions; space_find(0), then of each end, walks them in order. */
size_t space_count(const struct space *space) _nonnull_;

/* Touched pages need no region below them: unseen memory is touched too. */
/* Marks the page; returns 1 if it was not marked before, 0 if it was, or -ENOMEM. */
int space_touch(struct space *space, uint64_t address) _must_check_ _nonnull_;
/* Marks all pages of the range; *added: how many were not marked before. */
int space_touch_range(struct space *space, uint64_t start, uint64_t end,
                      uint64_t *added) _must_check_ _nonnull_;
/* Forgets touches, as DONTNEED does; unmap and map do it by themselves. */
int space_discard(struct space *space, uint64_t start, uint64_t end) _must_check_ _nonnull_;
uint64_t space_touched_pages(const struct space *space, uint64_t start, uint64_t end) _nonnull_;
bool space_touched(const struct space *space, uint64_t address) _nonnull_;

/* All touched pages now, anonymous or private-written and shared apart is the consumer's work. */
uint64_t space_resident_pages(const struct space *space) _nonnull_;
