/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiles a trace into a plan. */
#pragma once

#include "replay/plan.h"
#include "traces/reader.h"

struct compile_options {
	enum plan_placement placement;
	enum plan_order order;
	enum plan_touch touch;
	bool paced; /* keep times */
	bool incomplete; /* go on although events were lost */
	bool drop_map_stack;
	bool seal; /* mseal is replayed */
	bool hugetlb; /* MAP_HUGETLB is replayed */
	bool emulate_brk; /* no CAP_SYS_RESOURCE here: the heap is made of fixed mappings */
	bool write_reads; /* anonymous read touches become writes: recorded without a zero page */
	unsigned rules; /* enum plan_rule */
	uint64_t max_tasks; /* alive at once */
	uint64_t max_plan_bytes;
};

struct plan {
	int fd; /* the shared memory object, sealed against change of size */
	const struct plan_header *header; /* mapped here, wherever the kernel chose */
};

/*
 * Reads the trace (twice) and builds the plan. Prints its one line and returns
 * -EINVAL (cannot be replayed, and why), -ENODATA (no operation in it),
 * -E2BIG (a bound), or what a lower layer said.
 */
int plan_compile(struct plan *out, struct trace_reader *reader,
                 const struct compile_options *options) _must_check_ _nonnull_;
void plan_release(struct plan *plan) _nonnull_;

static inline const void *plan_at(const struct plan *plan, uint64_t offset)
{
	return (const char *)plan->header + offset;
}

/* "mmap", …: what an operation is called in messages and results. */
const char *plan_kind_name(enum plan_kind kind);

/* The words of that operation, or NULL when there is none. */
const uint64_t *plan_find(const struct plan *plan, uint32_t task, uint64_t ordinal) _nonnull_;

/* "task 1234, operation 17: munmap(0x…, 0x1000)" into out, cut to size. */
void plan_describe(const struct plan *plan, uint32_t task, uint64_t ordinal, char *out,
                   size_t size) _nonnull_;
