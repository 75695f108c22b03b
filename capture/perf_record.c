/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing perf records. They are of this machine's byte order. */

#include <linux/perf_event.h>
#include <string.h>

#include "capture/perf_record.h"

#define RECORD_MAX 65536 /* the size is 16 bits wide */

/* A cursor as struct bytes_reader, in host order. */
struct cursor {
	const uint8_t *at, *end;
	bool bad;
};

static void take(struct cursor *c, void *out, size_t size)
{
	if (c->bad || size > (size_t)(c->end - c->at)) {
		c->bad = true;
		memset(out, 0, size);
		return;
	}
	memcpy(out, c->at, size);
	c->at += size;
}

static uint32_t take_u32(struct cursor *c)
{
	uint32_t v;

	take(c, &v, sizeof(v));
	return v;
}

static uint64_t take_u64(struct cursor *c)
{
	uint64_t v;

	take(c, &v, sizeof(v));
	return v;
}

/* A chain has marks that say whose addresses follow. */
static void take_chain(struct cursor *c, struct perf_sample *out)
{
	uint64_t count = take_u64(c);
	bool kernel = false;

	if (count > (size_t)(c->end - c->at) / sizeof(uint64_t)) {
		c->bad = true;
		return;
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t v = take_u64(c);

		if (v >= (uint64_t)PERF_CONTEXT_MAX)
			kernel = v == (uint64_t)PERF_CONTEXT_KERNEL;
		else if (kernel && out->chain_count < PERF_CHAIN_MAX)
			out->chain[out->chain_count++] = v;
	}
}

static void take_raw(struct cursor *c, struct perf_sample *out)
{
	uint32_t size = take_u32(c);

	if (c->bad || size > (size_t)(c->end - c->at)) {
		c->bad = true;
		return;
	}
	out->raw = c->at;
	out->raw_size = size;
	c->at += size;
}

int perf_sample_parse(const void *record, size_t size, uint64_t sample_type,
                      struct perf_sample *out)
{
	struct cursor c = { record, (const uint8_t *)record + size, false };
	struct perf_event_header header;
	unsigned mode;

	take(&c, &header, sizeof(header));
	if (c.bad || header.type != PERF_RECORD_SAMPLE)
		return -EBADMSG;
	mode = header.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	out->kernel = mode == PERF_RECORD_MISC_KERNEL;
	out->pid = take_u32(&c);
	out->tid = take_u32(&c);
	out->time = take_u64(&c);
	out->chain_count = 0;
	out->raw = NULL;
	out->raw_size = 0;
	take_chain(&c, out);
	if (sample_type & PERF_SAMPLE_RAW)
		take_raw(&c, out);
	return c.bad ? -EBADMSG : 0;
}

/* PERF_RECORD_LOST: an event's number, then the count. PERF_RECORD_LOST_SAMPLES: the count. */
static uint64_t lost_of(const void *record, size_t size, bool has_number)
{
	struct cursor c = { record, (const uint8_t *)record + size, false };
	struct perf_event_header header;

	take(&c, &header, sizeof(header));
	if (has_number)
		take_u64(&c);
	return take_u64(&c);
}

static int hand_out(const void *record, const struct perf_event_header *h,
                    const struct perf_walk *walk, struct perf_loss *loss)
{
	struct perf_sample sample;

	switch (h->type) {
	case PERF_RECORD_SAMPLE:
		if (perf_sample_parse(record, h->size, walk->sample_type, &sample) < 0) {
			loss->damaged++;
			return 0;
		}
		sample.cpu = walk->cpu;
		return walk->sample(walk->context, &sample);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		loss->lost += lost_of(record, h->size, h->type == PERF_RECORD_LOST);
		return 0;
	case PERF_RECORD_THROTTLE:
		loss->throttled++;
		return 0;
	default:
		return 0;
	}
}

static void copy_out(void *to, const uint8_t *ring, size_t size, uint64_t from, size_t len)
{
	size_t at = (size_t)from & (size - 1), first = len < size - at ? len : size - at;

	memcpy(to, ring + at, first);
	memcpy((uint8_t *)to + first, ring, len - first);
}

int perf_ring_walk(const uint8_t *ring, size_t size, uint64_t tail, uint64_t head,
                   const struct perf_walk *walk, struct perf_loss *loss)
{
	_Alignas(uint64_t) uint8_t record[RECORD_MAX];
	struct perf_event_header h;

	if (head - tail > size) {
		loss->damaged++;
		return 0;
	}
	for (; tail != head; tail += h.size) {
		int r;

		if (head - tail < sizeof(h))
			break;
		copy_out(&h, ring, size, tail, sizeof(h));
		if (h.size < sizeof(h) || h.size > head - tail)
			break;
		copy_out(record, ring, size, tail, h.size);
		r = hand_out(record, &h, walk, loss);
		if (r < 0)
			return r;
	}
	loss->damaged += tail != head;
	return 0;
}
