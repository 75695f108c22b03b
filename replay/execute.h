/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a plan: one call is one repetition. */
#pragma once

#include "replay/compile.h"
#include "replay/state.h"

struct execute_options {
	uint32_t copies;
	uint64_t pace; /* speed * 65536, 0: as soon as possible */
	enum state_fill fill;
	uint32_t fill_ratio;
	bool latency; /* time every call; a pass of its own */
	bool marks;
	bool files_on_disk; /* scratch files in TMPDIR or /var/tmp instead of tmpfs */
	bool files_cold;
	const struct cgroups *groups; /* one for each copy, or one for all; NULL: none */
	const char *pin; /* cpu list, tasks are spread over it; NULL: not pinned */
	uint64_t timeout; /* ns without any progress after which the run is ended; 0: a minute */
	/* Called by the caller's process with all tasks at the start line, and at the end with
	 * the last one gone; NULL: not called. */
	void (*at_line)(void *arg, bool end);
	void *at_line_arg;
};

struct execute_latency {
	uint64_t count, sum, max; /* ns */
	uint64_t p50, p99;
};

/* Figures of one repetition, the replayer's own cost already taken off. */
struct execute_figures {
	uint64_t elapsed, user, system; /* ns; elapsed from the start line to the last exit */
	uint64_t faults_minor, faults_major;
	uint64_t operations, touches;
	uint64_t segv, sigbus, mismatches;
	uint64_t overhead_minor, overhead_major, overhead_user, overhead_system;
	uint64_t slept; /* waits that went to sleep */
	uint64_t drift_max, drift_sum;
	uint64_t refused; /* operations passed over: not on a white list */
	bool plan_streamed; /* too large to be locked in memory: no verdict on time */
	uint64_t peak_in_flight; /* latency pass only */
	uint64_t peak_alive; /* tasks alive at once, of one copy */
	uint64_t mappings; /* VMAs of the first root's space at its end; latency pass, else 0 */
	uint64_t placed_aligned; /* see plan_counts; of the first copy */
	struct execute_latency latency[PLAN_KIND_COUNT]; /* latency pass only */
	struct state_mismatch first[STATE_MISMATCHES];
	uint32_t first_count;
};

/*
 * Starts the roots, lets them go together, waits for all, collects. Prints its
 * one line on failure: -EINTR when a signal asked to stop, -ETIMEDOUT, -ECHILD
 * when a replaying process died of something unplanned. No process is left
 * behind in any case.
 */
int execute_run(const struct plan *plan, const struct execute_options *options,
                struct execute_figures *out) _must_check_ _nonnull_;
