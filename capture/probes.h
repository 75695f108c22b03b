/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Dynamic events (kprobes) in a group of our own, named after the owner and noted
 * in the journal first. Probes of other groups are never touched.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

struct journal;
struct probes;

/* What a probe with this name saw since it was made. */
struct probe_counts {
	uint64_t hits, missed;
};

/* Whether this kernel takes kprobe events; otherwise -errno and "cause: remedy". Silent. */
int probes_explain(char *why, size_t size) _must_check_ _nonnull_;

/* The group mmtape_PID_N, empty. Prints its line. */
int probes_new(struct probes **out, struct journal *journal) _must_check_ _nonnull_;
/* Removes the events, then frees. Instances that use them must be gone. */
struct probes *probes_free(struct probes *p);

const char *probes_group(const struct probes *p) _nonnull_;

/* The name of that function's event: different from all that others may have. */
void probes_event_name(const struct probes *p, const char *function, char *out,
                       size_t size) _nonnull_;

/*
 * A probe at the start of a function; args may be "". 1: this kernel has no such
 * function or does not let it be probed. Prints its line otherwise.
 */
int probes_add(struct probes *p, const char *function, const char *args) _must_check_ _nonnull_;

/* What the probe of that function saw; -ENOENT: there is none. Silent. */
int probes_count(const struct probes *p, const char *function,
                 struct probe_counts *out) _must_check_ _nonnull_;

/* 1: some were there and are removed, 0: there were none. For recovery as well. Silent. */
int probes_remove_group(const char *group) _must_check_ _nonnull_;
