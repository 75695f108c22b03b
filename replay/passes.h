/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The repetitions of a piece of work, be it a replay or a command: warm-up, timing,
 * latency, then each lock source in a pass of its own or all in one; within a pass the swept
 * sizes take turns.
 */
#pragma once

#include "capture/cgroup.h"
#include "capture/settings.h"
#include "replay/observe.h"
#include "replay/sweep.h"

/* Counters of the machine around one repetition. */
struct pass_counters {
	struct trace_meta *before, *after;
};

/* Called with all tasks at the start line, and with the last one gone. */
typedef void pass_line(void *arg, bool end);

struct pass_work {
	void *arg;
	/* One repetition; a line is NULL where nothing is to be called. Prints its line on failure.
	 */
	int (*run)(void *arg, bool latency, pass_line *line, void *line_arg);
	/* Values of the last repetition for the row just begun. */
	int (*time_values)(void *arg, struct result *r, const struct pass_counters *counters);
	int (*latency_values)(void *arg, struct result *r); /* NULL: there is no such pass */
	double (*operations)(void *arg); /* calls and touches of one repetition; NULL: not known */
	bool prints; /* by itself: a progress line would be in its way */
};

struct pass_options {
	uint32_t repeat, warmup;
	bool no_time, no_latency;
	struct observer *observer;
	const struct sweep *sweep;
	struct settings_change *change; /* through which the sweep changes sizes */
	const struct cgroups *groups; /* that the work runs in, or NULL */
};

/* Adds all rows to the result. Prints its one line on failure. */
int passes_run(const struct pass_options *options, const struct pass_work *work,
               struct result *r) _must_check_ _nonnull_;

/* What the kernel accounts to the tasks that did the work. Times in ns. */
struct pass_usage {
	uint64_t elapsed, user, system;
	uint64_t faults_minor, faults_major;
};

int pass_usage_values(struct result *r, const struct pass_usage *usage) _must_check_ _nonnull_;

/* The counters as differences: vmstat.*, thp.SIZE.*, memcg.*, pressure.*. -ENOMEM. */
int pass_counter_values(struct result *r,
                        const struct pass_counters *counters) _must_check_ _nonnull_;
