/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Internal to execution. Three levels of processes:
 *
 *   the caller     keeps its privileges; watches, kills, collects
 *   the conductor  sandboxed, leads a process group and reaps all orphans of
 *                  it; prepares descriptors, starts roots, takes the time
 *   the replayed   roots and what they fork, in the conductor's group
 *
 * The group's number is the conductor's, who is reaped last, so that one kill
 * of the group reaches every process of the replay and nothing else.
 */
#pragma once

#include <sys/types.h>

#include "replay/execute.h"
#include "replay/execute_state.h"

/* What the conductor reports; memory shared with the caller. */
struct run_report {
	uint32_t line; /* the conductor is at the 1: start, 2: end */
	uint32_t line_done; /* futex: the last line the caller has seen */
	uint64_t elapsed, user, system; /* ns */
	uint64_t faults_minor, faults_major;
	int32_t lost_status; /* wait status of a process that died of something unplanned */
	uint32_t lost_pid;
	bool started, done, streamed, said; /* said: the conductor printed its line */
};

struct run {
	const struct plan *plan;
	const struct execute_options *options;
	struct run_state *states; /* one per copy */
	struct run_report *report;
	int self_fd;
	pid_t caller, conductor;
};

#define RUN_FD_SELF 3
#define RUN_FD_PLAN 4
#define RUN_FD_FIRST 5

/* Numbers that the descriptors of a copy have in the replayed processes. */
static inline struct run_numbers run_numbers(const struct plan *plan, uint32_t copy)
{
	uint32_t state = RUN_FD_FIRST + copy * (plan->header->file_count + 1);

	return (struct run_numbers){
		.self = RUN_FD_SELF,
		.plan = RUN_FD_PLAN,
		.state = state,
		.file = state + 1,
	};
}

/* The conductor's whole life, after the fork; its exit status. */
int run_conduct(struct run *run) _nonnull_;

/* Sums the states and the report. */
void run_collect(const struct run *run, struct execute_figures *out) _nonnull_;

/* Prints the one line that says why a run ended early. */
void run_explain(const struct run *run, int error, int conductor_status) _nonnull_;

/* No task is at work or waits; some are parked at their end. */
bool run_only_parked(const struct run *run) _nonnull_;

/* Changes whenever any task does; *asleep: one waits for its time. */
uint64_t run_progress(const struct run *run, bool *asleep) _nonnull_;
