/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compares what was recorded with what a replay (or a program) did, operation
 * by operation. Three lists of operations per task are made alike: from the
 * trace, from its plan, and from a capture of the replay. What is compared:
 * kinds, lengths, flags without MAP_FIXED, MAP_FIXED_NOREPLACE and hints, brk
 * as differences, success or errno, and with placement `traced` the alignment
 * of new mappings.
 */
#pragma once

#include <sys/mman.h>

#include "replay/compile.h"
#include "traces/calls.h"
#include "traces/lineage.h"

#define VERIFY_NO_ALIGNMENT UINT64_MAX
#define VERIFY_NO_LENGTH UINT64_MAX
#define VERIFY_ALIGNMENT_MASK ((1ULL << 30) - 1)

/* Where a mapping goes is the replayer's business; the rest the kernel ignores (mm/mmap.c). */
#define VERIFY_MMAP_IGNORED                                                                        \
	((uint32_t)(MAP_FIXED | MAP_FIXED_NOREPLACE | MAP_32BIT | MAP_DENYWRITE | MAP_EXECUTABLE))
#define VERIFY_BELOW (UINT64_MAX - 1) /* a break below the heap: refused, however far below */

struct verify_op {
	uint64_t length, new_length; /* new_length: mremap's; brk: the difference, as int64_t */
	uint64_t alignment; /* of the result modulo 1 GiB, or VERIFY_NO_ALIGNMENT */
	uint64_t number; /* the event's position in its trace, or the plan's ordinal */
	uint32_t flags; /* MAP_*, MREMAP_*, advice … without placement bits */
	uint16_t call; /* enum call */
	uint8_t prot;
	uint8_t error; /* errno, 0 for success */
	uint8_t file; /* 1: a file mapping */
	uint8_t assumed, piece, refused, unchecked; /* from the plan only */
};

struct verify_list {
	struct verify_op *ops;
	size_t count, room;
	uint32_t id; /* recorded task id */
	uint32_t seen; /* windows found, for a capture of a replay */
};

struct verify_lists {
	struct verify_list *tasks;
	size_t count;
	uint64_t faults; /* user and kernel, consecutive kernel repeats merged; in windows */
	uint64_t faults_outside; /* of tasks of the replay, but not in a window or its own memory */
	uint64_t orphans;
};

void verify_lists_clear(struct verify_lists *lists) _nonnull_;

int verify_list_add(struct verify_list *list, const struct verify_op *op) _must_check_ _nonnull_;
/* Makes room for list number n; lists that were not there are empty. */
int verify_lists_grow(struct verify_lists *lists, size_t n) _must_check_ _nonnull_;

/* Every task of a trace, numbered as lineage numbers them. */
int verify_from_trace(struct verify_lists *out, struct trace_reader *reader) _must_check_ _nonnull_;
/*
 * Every task of a plan. merged: pieces of one recorded call are one operation
 * again and assumed mappings are left out, as in the trace; otherwise the list
 * is what the engine will do.
 */
int verify_from_plan(struct verify_lists *out, const struct plan *plan,
                     bool merged) _must_check_ _nonnull_;
/* The windows that a replay marked, numbered by its plan. `tasks` in all. */
int verify_from_windows(struct verify_lists *out, struct trace_reader *reader,
                        uint32_t tasks) _must_check_ _nonnull_;

/*
 * Normal form of a call; false when it is not an operation on memory.
 * *first_break is the break that the space's first brk returned, 0 until then:
 * breaks are compared as differences from it.
 */
bool verify_op_from_call(const struct paired_call *call, uint64_t number, uint64_t *first_break,
                         struct verify_op *out) _nonnull_;

enum verify_rule {
	VERIFY_ALIGNMENT = 1 << 0,
	VERIFY_PLAN = 1 << 1, /* trace against plan: what the plan leaves out is counted */
	VERIFY_CLIPPED = 1 << 2, /* the same where the kernel places: a munmap has no holes */
};

/* What differs, or NULL: a constant such as "length". */
const char *verify_op_differs(const struct verify_op *want, const struct verify_op *got,
                              unsigned rules) _nonnull_;

/* "madvise(0x7fb000, MADV_DONTNEED)" and so on. */
void verify_op_format(const struct verify_op *op, char *out, size_t size) _nonnull_;

struct verify_difference {
	uint32_t task; /* recorded id */
	uint64_t number; /* of the recorded event, UINT64_MAX when only the replay has it */
	size_t index; /* of the operation within its task */
	const char *what;
	char want[128], got[128];
};

#define VERIFY_SHOWN 32

struct verify_report {
	uint64_t operations; /* compared */
	uint64_t not_replayed; /* refused or outside every known range */
	uint64_t differences;
	struct verify_difference first[VERIFY_SHOWN];
};

/*
 * A list against a list. After a difference the lists are aligned again where
 * one operation was dropped or inserted, else the next ones are compared.
 */
void verify_compare(struct verify_report *report, const struct verify_list *want,
                    const struct verify_list *got, unsigned rules) _nonnull_;
