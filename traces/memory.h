/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How much memory the recorded spaces had at once, as mm.h estimates it, from
 * the items of a trace: which space each belongs to, and what calls and faults
 * do to it.
 */
#pragma once

#include "traces/calls.h"
#include "traces/descriptors.h"
#include "traces/lineage.h"
#include "traces/records.h"

/* A run of slots of 1 GiB, by address >> 30, that a space mapped or touched. */
struct memory_slots {
	uint64_t first, count;
};

struct memory_space {
	uint64_t peak_pages; /* without pages of files */
	struct memory_slots *slots; /* in address order */
	size_t slot_count;
};

struct memory;

/* maps are borrowed: mappings that were read after an exec, or at the start. */
int memory_new(struct memory **out, const struct trace_meta *meta, const struct trace_maps *maps,
               size_t map_count) _must_check_ _nonnull_args_(1, 2);
struct memory *memory_free(struct memory *m);

/*
 * Takes every item, after lineage_event() and descriptors_item(). Uses the
 * lower half of the cookie of calls. -ENOMEM, or -E2BIG beyond the budget of budget.h.
 */
int memory_item(struct memory *m, const struct lineage *l, struct descriptors *d, uint32_t task,
                const struct item *item) _must_check_ _nonnull_;

/* So far: the most that spaces had at once, and all pages of files. */
uint64_t memory_peak_bytes(const struct memory *m) _nonnull_;

/*
 * Ends all spaces and hands over what is known of each, by lineage's numbers;
 * freed with memory_spaces_free().
 */
int memory_spaces_take(struct memory *m, struct memory_space **out,
                       size_t *count) _must_check_ _nonnull_;
void memory_spaces_free(struct memory_space *spaces, size_t count);
