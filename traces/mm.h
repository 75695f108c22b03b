/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An estimate of what one recorded address space keeps in memory. Pages are
 * counted where a replay would have them:
 *
 *   - a written page of a private or anonymous region, once per space; after a
 *     fork the child's copy counts from the child's first write on;
 *   - a read page of an anonymous region if the recording kernel had no zero
 *     page for it;
 *   - 512 pages for the first touch of a huge page, where the settings and the
 *     region allowed one and the aligned range was anonymous and empty;
 *   - all of what MAP_POPULATE, MAP_LOCKED, mlock or MADV_POPULATE_* asked for;
 *   - pages of files once per file, in windows of 16 pages, until the end: the
 *     scratch files of a replay stay.
 *
 * Shared anonymous memory counts as private. MADV_FREE frees nothing. Page
 * tables are left out. Beside pages the slots of 1 GiB in use are remembered.
 */
#pragma once

#include "common/map.h"
#include "traces/calls.h"
#include "traces/meta.h"
#include "traces/records.h"
#include "traces/space.h"
#include "traces/touched.h"

#define MM_SLOT_SHIFT 30

enum mm_thp { MM_THP_NEVER, MM_THP_MADVISE, MM_THP_ALWAYS };

/* What all spaces of a trace share. */
struct mm_context {
	uint64_t page_size, huge_size;
	enum mm_thp thp;
	bool zero_page;
	bool stacks_small; /* MAP_STACK means no huge pages: since 6.7 */
	struct map segments; /* SysV segment id to its size */
	struct map files; /* region.file to index in file_pages */
	struct touched *file_pages;
	size_t file_count, file_room;
	uint64_t files_resident; /* pages of all files */
	uint64_t resident, peak; /* pages of all spaces */
};

struct mm {
	struct mm_context *context;
	struct space *space; /* its touches are the pages that are there, of whatever kind */
	struct touched owned; /* the pages counted for this space */
	struct touched slots; /* address >> MM_SLOT_SHIFT, of its whole life */
	uint64_t inherited; /* pages that a parent left at its end */
	uint64_t counted; /* part of context->resident that is ours */
	uint64_t peak; /* pages */
	uint64_t brk; /* page-aligned, 0: not known yet */
	bool lock_future;
};

void mm_context_init(struct mm_context *context, const struct trace_meta *meta) _nonnull_;
void mm_context_clear(struct mm_context *context) _nonnull_;
/* Pages first…end of a file are in memory. */
int mm_context_touch_file(struct mm_context *context, uint32_t file, uint64_t first,
                          uint64_t end) _must_check_ _nonnull_;

int mm_new(struct mm **out, struct mm_context *context) _must_check_ _nonnull_;
/* As fork makes it: nothing of it counts yet. */
int mm_fork(const struct mm *parent, struct mm **out) _must_check_ _nonnull_;
/* Its pages are gone, or stay with heir, a child that is still there. */
struct mm *mm_end(struct mm *mm, struct mm *heir);

/* Ranges are cut to user addresses and to whole pages, outward. */
int mm_map(struct mm *mm, const struct region *region, bool populate) _must_check_ _nonnull_;
int mm_unmap(struct mm *mm, uint64_t start, uint64_t length) _must_check_ _nonnull_;
int mm_discard(struct mm *mm, uint64_t start, uint64_t length) _must_check_ _nonnull_;
int mm_move(struct mm *mm, uint64_t old, uint64_t old_len, uint64_t to, uint64_t new_len,
            bool keep_old) _must_check_ _nonnull_;
int mm_protect(struct mm *mm, uint64_t start, uint64_t length,
               uint32_t prot) _must_check_ _nonnull_;
int mm_lock(struct mm *mm, uint64_t start, uint64_t length, bool populate) _must_check_ _nonnull_;
int mm_unlock(struct mm *mm, uint64_t start, uint64_t length) _must_check_ _nonnull_;
/* MADV_HUGEPAGE or MADV_NOHUGEPAGE. */
int mm_set_huge(struct mm *mm, uint64_t start, uint64_t length, bool huge) _must_check_ _nonnull_;
int mm_populate(struct mm *mm, uint64_t start, uint64_t length) _must_check_ _nonnull_;
int mm_set_brk(struct mm *mm, uint64_t brk) _must_check_ _nonnull_;
/* A fault with its x86 error code. */
int mm_fault(struct mm *mm, uint64_t address, uint64_t code) _must_check_ _nonnull_;
/*
 * A call that is over, with its result. The cookie of mmap is the number of its
 * file. mm_calls.c.
 */
int mm_call(struct mm *mm, const struct paired_call *c) _must_check_ _nonnull_;
