/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the processes of one copy of a replay share while they run, at
 * STATE_BASE. Made anew, zeroed and faulted in for every repetition. Everything
 * the engine writes lies here: nothing private is written on the timed path.
 */
#pragma once

#include "replay/plan.h"

#define STATE_STACK_BYTES 32768 /* per task; signal frames with AVX-512 state fit */
#define STATE_MISMATCHES 64 /* kept; all are counted */
#define LATENCY_BUCKETS 256 /* 8 per power of two of ns: see state_latency_bucket() */
#define STATE_LATENCY_ROWS 64 /* tasks share rows beyond that */

struct state_mismatch {
	uint64_t ordinal;
	uint64_t got; /* the raw result; for a touch 0 or the signal it raised */
	uint32_t task;
	uint32_t set; /* 1 when filled in */
};

enum state_phase {
	PHASE_NONE, /* not started */
	PHASE_RUN,
	PHASE_WAIT, /* asleep until another task has come far enough */
	PHASE_SLEEP, /* asleep until its time, by the pace */
	PHASE_PARKED, /* its stream ended without an exit: stays until all are done */
	PHASE_EXEC, /* between the exec and the new space's first operation */
	PHASE_GONE,
};

/*
 * A cache line that others wait on, and lines that only the task writes. Processors also
 * fetch the neighbour of a line, so the two parts do not share 128 bytes either.
 */
struct state_task {
	uint32_t progress; /* ordinal of the last finished PLAN_NOTIFY operation */
	uint32_t waiters; /* how many sleep on progress (futex) */
	uint32_t tid, pid;
	uint32_t done; /* counted in state_header.finished */
	uint32_t forked; /* its space was forked: plan pages are not mapped there yet */
	uint32_t space; /* where it is now */
	uint32_t pad[25];
	uint64_t operations; /* ordinal of the operation it is in */
	uint64_t touches, segv, sigbus, mismatches, slept;
	uint64_t position; /* word of its stream behind the last exec */
	uint32_t phase; /* enum state_phase */
	uint32_t wait_task; /* PHASE_WAIT: for whom */
	uint64_t wait_ordinal;
	uint64_t minor_own, major_own; /* faults outside the windows: the replayer's own */
	uint64_t cpu_own; /* ns of CPU outside the windows: exec and start-up of a space */
	uint64_t minor_mark, major_mark, cpu_mark; /* when the window was closed */
	uint64_t drift_max, drift_sum; /* ns behind the pace */
	uint64_t peak_in_flight; /* seen at this task's calls; latency pass only */
	uint64_t refused; /* PLAN_REFUSED operations it passed */
	uint64_t peak_alive; /* tasks alive, seen when this one spawned */
	uint64_t placed_aligned; /* see plan_counts; where the kernel chooses */
	uint64_t spare[2];
} __attribute__((aligned(128)));

struct state_latency {
	uint64_t count, sum, max; /* ns */
	uint32_t bucket[LATENCY_BUCKETS];
};

/* The argument strings of one exec, made beforehand. */
struct state_exec {
	char task[12], space[12];
	uint64_t argv[16]; /* addresses at STATE_BASE, ends with 0 */
};

/* "mmtape", "replay-space", "--plan", FD, "--state", FD, "--task"; then "--space". */
#define STATE_SHARED_WORDS 7

enum state_fill { FILL_ZERO, FILL_RANDOM };

/* What stopped a replay from inside; the coordinator words it. */
enum state_failure {
	FAILURE_NONE,
	FAILURE_SPAWN, /* clone failed: error */
	FAILURE_EXEC, /* execveat failed: error */
	FAILURE_CHILD, /* a waited-for child died of something else: error is its wait status */
	FAILURE_LIMIT, /* more tasks alive than allowed */
	FAILURE_SETUP, /* said on standard error already */
	FAILURE_KIND, /* a word that is no operation */
};

struct state_header {
	uint32_t start; /* futex: 0 wait, 1 go, 2 give up */
	uint32_t ready; /* futex: roots at the start line */
	uint32_t failed; /* enum state_failure: everyone leaves */
	uint32_t failed_task;
	int32_t failed_error;
	uint32_t marks; /* 1: tasks mark their windows with a recognisable call (verify) */
	uint32_t measure_latency; /* 1: time every call */
	uint32_t spin; /* how often a wait looks before it sleeps; 0 on one CPU */
	uint32_t fill; /* enum state_fill */
	uint32_t fill_ratio; /* per 1000 of a page that is random */
	uint64_t start_time; /* ns CLOCK_MONOTONIC, set before start */
	uint64_t pace; /* speed * 65536, 0: as soon as possible */
	uint64_t tick_ns; /* ns of one tick of the time stamp counter, times 2^32 */
	uint32_t in_flight __attribute__((aligned(64)));
	uint32_t alive __attribute__((aligned(64)));
	uint32_t max_alive;
	uint32_t finished; /* tasks whose stream ended */
	uint32_t finish; /* futex: 1 lets parked tasks go */
	uint32_t mismatch_next;
	uint32_t coordinator; /* its pid: a process with another reaper is an orphan */
	uint32_t task_count;
	uint32_t self_fd, plan_fd, state_fd, file_fd; /* file_fd: scratch file 1 has this number */
	uint32_t pin_count; /* 0: not pinned; task t goes to pin[t % pin_count] */
	uint32_t segment_count, anchor_count;
	uint64_t plan_bytes;
	uint64_t tasks, anchors, segments, latencies, execs, pins, stacks; /* offsets */
	uint64_t prefault; /* bytes from the start that a new space faults in at once */
	uint64_t bytes;
	uint64_t mappings; /* of the first root, counted in the latency pass */
	char words[STATE_SHARED_WORDS + 1][16]; /* of every exec's argv */
	char name[16]; /* what PR_SET_VMA names memory: recorded names are not read */
	struct state_mismatch mismatch[STATE_MISMATCHES];
};

/*
 * A window mark is madvise(MARK_ADDRESS + task * 4096, 0, MARK_START or
 * MARK_STOP): a length of 0 succeeds at once and changes nothing
 * (mm/madvise.c: madvise_should_skip / do_madvise return before any lock).
 */
#define MARK_ADDRESS 0x030000000000ULL
#define MARK_START 0 /* MADV_NORMAL */
#define MARK_STOP 1 /* MADV_RANDOM */

/* An anchor the kernel has not chosen yet: no canonical address, so nothing can be hit. */
#define STATE_NO_BASE (1ULL << 62)

/* Below 8 ns a bucket each, then 8 per power of two; the last one takes all above 17 s. */
static inline unsigned state_latency_bucket(uint64_t ns)
{
	unsigned exponent, bucket;

	if (ns < 8)
		return (unsigned)ns;
	exponent = 63 - (unsigned)__builtin_clzll(ns);
	bucket = (exponent - 2) * 8 + (unsigned)((ns >> (exponent - 3)) & 7);
	return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

/* The lowest value of a bucket. */
static inline uint64_t state_latency_floor(unsigned bucket)
{
	return bucket < 8 ? bucket : (uint64_t)(8 + bucket % 8) << (bucket / 8 - 1);
}
