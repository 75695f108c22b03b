/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the ring buffer of a perf event: the first says where the records begin,
 * the rest lies in the ring from there on.
 */

#include <linux/perf_event.h>
#include <string.h>

#include "capture/perf_record.h"
#include "fuzz.h"

#define RING 4096

static volatile unsigned raw_sum;

static int on_sample(void *context, const struct perf_sample *s)
{
	if (s->chain_count > PERF_CHAIN_MAX || (!s->raw && s->raw_size))
		abort();
	/* A sanitizer sees whether all of it is there. */
	for (size_t i = 0; i < s->raw_size; i++)
		raw_sum += s->raw[i];
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_walk walk = { .cpu = 1, .sample = on_sample };
	uint64_t start = size ? data[0] * 16u : 0;
	struct perf_loss loss = { 0 };
	uint8_t *ring = calloc(1, RING);
	size_t len = size ? size - 1 : 0;

	if (!ring)
		abort();
	for (size_t i = 0; i < len; i++)
		ring[(start + i) % RING] = data[1 + i];
	for (int raw = 0; raw < 2; raw++) {
		walk.sample_type = PERF_SAMPLE_BASE | (raw ? PERF_SAMPLE_RAW : 0);
		if (perf_ring_walk(ring, RING, start, start + len, &walk, &loss) < 0)
			abort();
	}
	free(ring);
	return 0;
}
