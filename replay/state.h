/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the processes of one copy of a replay share while they run, at
 * STATE_BASE. Made anew, zeroed and faulted in for every repetition.
 */
#pragma once

#include "replay/plan.h"

#define STATE_STACK_BYTES 32768 /* per task; signal frames with AVX-512 state fit */
#define STATE_MISMATCHES 64 /* kept; all are counted */
#define LATENCY_BUCKETS 256 /* 8 per power of two of ns: see state_latency_bucket() */

struct state_mismatch {
	uint64_t ordinal;
	uint64_t got; /* the raw result */
	uint32_t task;
	uint32_t set; /* 1 when filled in */
};

/* One cache line that others wait on, one that only the task writes. */
struct state_task {
	uint32_t progress; /* ordinal of the last finished PLAN_NOTIFY operation */
	uint32_t waiters; /* how many sleep on progress (futex) */
	uint32_t tid, pid;
	uint32_t done;
	uint32_t pad[11];
	uint64_t operations, touches, segv, sigbus, mismatches, slept;
	uint64_t faults_own; /* minor faults outside the windows: the replayer's own */
	uint64_t utime_own, stime_own; /* ns outside the windows: exec and start-up of a space */
	uint64_t drift_max, drift_sum; /* ns behind the pace */
	uint64_t peak_in_flight; /* seen at this task's calls; latency pass only */
	uint64_t spare[5];
} __attribute__((aligned(64)));

struct state_latency {
	uint64_t count, sum, max; /* ns */
	uint32_t bucket[LATENCY_BUCKETS];
};

struct state_header {
	uint32_t start; /* futex: 0 wait, 1 go, 2 give up */
	uint32_t ready; /* roots at the start line */
	uint32_t failed; /* a task could not be set up: everyone leaves */
	uint32_t marks; /* 1: tasks mark their windows with a recognisable call (verify) */
	uint32_t measure_latency; /* 1: time every call */
	uint32_t spin; /* how often a wait looks before it sleeps; 0 on one CPU */
	uint32_t fill; /* enum state_fill */
	uint32_t fill_ratio; /* per 1000 of a page that is random */
	uint64_t start_time; /* ns CLOCK_MONOTONIC, set before start */
	uint64_t pace; /* speed * 65536, 0: as soon as possible */
	uint64_t tsc_per_second;
	uint32_t in_flight;
	uint32_t alive;
	uint32_t mismatch_next;
	uint32_t self_fd, plan_fd, state_fd, file_fd; /* file_fd: scratch file 1 has this number */
	uint64_t tasks, anchors, segments, latencies, stacks; /* offsets */
	uint64_t bytes;
	struct state_mismatch mismatch[STATE_MISMATCHES];
};

enum state_fill { FILL_ZERO, FILL_RANDOM };

/*
 * A window mark is madvise(MARK_ADDRESS + task * 4096, 0, MARK_START or
 * MARK_STOP): a length of 0 succeeds at once and changes nothing
 * (mm/madvise.c: madvise_should_skip / do_madvise return before any lock).
 */
#define MARK_ADDRESS 0x030000000000ULL
#define MARK_START 0 /* MADV_NORMAL */
#define MARK_STOP 1 /* MADV_RANDOM */
