/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records in the ring buffer of a perf event (include/uapi/linux/perf_event.h).
 * Pure: works on bytes, which are not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* As many functions of a stack as the kernel gives (perf_event_max_stack is 127). */
#define PERF_CHAIN_MAX 128

/* Samples are of this sort, and PERF_SAMPLE_RAW beside it if wanted. */
#define PERF_SAMPLE_BASE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN)

struct perf_sample {
	uint64_t time; /* ns */
	uint32_t pid, tid, cpu;
	bool kernel; /* the task was in the kernel */
	size_t chain_count;
	uint64_t chain[PERF_CHAIN_MAX]; /* addresses in the kernel only, innermost first */
	const uint8_t *raw; /* NULL: none */
	size_t raw_size;
};

/* What did not become a sample. */
struct perf_loss {
	uint64_t lost; /* samples that the buffer had no room for, as told by records */
	uint64_t throttled; /* times that the kernel held an event back */
	uint64_t damaged; /* records, or rests of a buffer, that make no sense */
};

/* A record of PERF_RECORD_SAMPLE, header included. -EBADMSG. */
int perf_sample_parse(const void *record, size_t size, uint64_t sample_type,
                      struct perf_sample *out) _must_check_ _nonnull_;

struct perf_walk {
	uint64_t sample_type;
	uint32_t cpu;
	/* Negative: ends the walk. */
	int (*sample)(void *context, const struct perf_sample *sample);
	void *context;
};

/*
 * Hands out the samples between two positions of a ring of size bytes, a power of
 * two. Returns what sample() did; -EBADMSG is none: it is counted, and the rest skipped.
 */
int perf_ring_walk(const uint8_t *ring, size_t size, uint64_t tail, uint64_t head,
                   const struct perf_walk *walk, struct perf_loss *loss) _must_check_ _nonnull_;
