/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of perf ring buffers, whole, wrapped and damaged. */

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/perf_record.h"

#define RING 256
#define TYPE (PERF_SAMPLE_BASE | PERF_SAMPLE_RAW)

struct record {
	_Alignas(8) uint8_t bytes[RING];
	size_t size;
};

static void put(struct record *r, const void *value, size_t size)
{
	memcpy(r->bytes + r->size, value, size);
	r->size += size;
}

static void put_u64(struct record *r, uint64_t v)
{
	put(r, &v, sizeof(v));
}

static void put_header(struct record *r, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { .type = type, .misc = misc };

	r->size = 0;
	put(r, &h, sizeof(h));
}

static void end_record(struct record *r)
{
	uint16_t size = (uint16_t)r->size;

	memcpy(r->bytes + offsetof(struct perf_event_header, size), &size, sizeof(size));
}

/* A sample of task 8 in process 7 with three kernel addresses and 12 raw bytes. */
static void put_sample(struct record *r, uint64_t time)
{
	const uint32_t ids[] = { 7, 8 }, raw_size = 12;

	put_header(r, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL);
	put(r, ids, sizeof(ids));
	put_u64(r, time);
	put_u64(r, 6);
	put_u64(r, (uint64_t)PERF_CONTEXT_KERNEL);
	put_u64(r, 0xffffffff81000001);
	put_u64(r, 0xffffffff81000002);
	put_u64(r, 0xffffffff81000003);
	put_u64(r, (uint64_t)PERF_CONTEXT_USER);
	put_u64(r, 0x400000);
	put(r, &raw_size, sizeof(raw_size));
	put(r, "\x01\x02raw bytes.", 12);
	end_record(r);
}

static void test_sample(void **state)
{
	struct perf_sample s;
	struct record r;

	put_sample(&r, 1234);
	assert_int_equal(perf_sample_parse(r.bytes, r.size, TYPE, &s), 0);
	assert_int_equal(s.pid, 7);
	assert_int_equal(s.tid, 8);
	assert_int_equal(s.time, 1234);
	assert_true(s.kernel);
	assert_int_equal(s.chain_count, 3);
	assert_int_equal(s.chain[2], 0xffffffff81000003);
	assert_int_equal(s.raw_size, 12);
	assert_int_equal(s.raw[1], 2);
}

static void test_cut_samples(void **state)
{
	struct perf_sample s;
	struct record r;

	put_sample(&r, 1234);
	for (size_t size = 0; size < r.size; size++)
		assert_int_equal(perf_sample_parse(r.bytes, size, TYPE, &s), -EBADMSG);
}

static void test_chain_longer_than_record(void **state)
{
	struct perf_sample s;
	struct record r;

	put_sample(&r, 1);
	memset(r.bytes + 24, 0xff, 8);
	assert_int_equal(perf_sample_parse(r.bytes, r.size, TYPE, &s), -EBADMSG);
}

struct seen {
	size_t count;
	uint64_t last;
	int answer;
};

static int on_sample(void *context, const struct perf_sample *s)
{
	struct seen *seen = context;

	seen->count++;
	seen->last = s->time;
	assert_int_equal(s->cpu, 3);
	return seen->answer;
}

static int walk(const uint8_t *ring, uint64_t tail, uint64_t head, struct seen *seen,
                struct perf_loss *loss)
{
	struct perf_walk w = {
		.sample_type = TYPE, .cpu = 3, .sample = on_sample, .context = seen
	};

	*loss = (struct perf_loss){ 0 };
	return perf_ring_walk(ring, RING, tail, head, &w, loss);
}

static void copy_in(uint8_t *ring, uint64_t at, const struct record *r)
{
	for (size_t i = 0; i < r->size; i++)
		ring[(at + i) % RING] = r->bytes[i];
}

static void test_walk_wraps(void **state)
{
	struct seen seen = { 0 };
	struct perf_loss loss;
	struct record r;
	uint8_t ring[RING] = { 0 };
	uint64_t start = 4 * RING + 200;

	put_sample(&r, 99);
	copy_in(ring, start, &r);
	assert_int_equal(walk(ring, start, start + r.size, &seen, &loss), 0);
	assert_int_equal(seen.count, 1);
	assert_int_equal(seen.last, 99);
	assert_int_equal(loss.damaged, 0);
}

static void test_walk_counts_losses(void **state)
{
	struct seen seen = { 0 };
	struct perf_loss loss;
	struct record r;
	uint8_t ring[RING] = { 0 };
	uint64_t at = 0;

	put_header(&r, PERF_RECORD_LOST, 0);
	put_u64(&r, 1);
	put_u64(&r, 41);
	end_record(&r);
	copy_in(ring, at, &r);
	at += r.size;
	put_header(&r, PERF_RECORD_LOST_SAMPLES, 0);
	put_u64(&r, 1);
	end_record(&r);
	copy_in(ring, at, &r);
	at += r.size;
	put_header(&r, PERF_RECORD_THROTTLE, 0);
	put_u64(&r, 0);
	end_record(&r);
	copy_in(ring, at, &r);
	at += r.size;
	put_header(&r, 4711, 0);
	end_record(&r);
	copy_in(ring, at, &r);
	at += r.size;
	assert_int_equal(walk(ring, 0, at, &seen, &loss), 0);
	assert_int_equal(loss.lost, 42);
	assert_int_equal(loss.throttled, 1);
	assert_int_equal(loss.damaged, 0);
	assert_int_equal(seen.count, 0);
}

static void test_walk_stops_at_damage(void **state)
{
	struct seen seen = { 0 };
	struct perf_loss loss;
	struct record r;
	uint8_t ring[RING] = { 0 };

	put_sample(&r, 1);
	copy_in(ring, 0, &r);
	/* Behind it a record of no size, one of more than there is, and half a header. */
	assert_int_equal(walk(ring, 0, r.size + 16, &seen, &loss), 0);
	assert_int_equal(loss.damaged, 1);
	ring[r.size + offsetof(struct perf_event_header, size)] = 200;
	assert_int_equal(walk(ring, 0, r.size + 16, &seen, &loss), 0);
	assert_int_equal(loss.damaged, 1);
	assert_int_equal(walk(ring, 0, r.size + 4, &seen, &loss), 0);
	assert_int_equal(loss.damaged, 1);
	assert_int_equal(seen.count, 3);
	/* More than the ring holds. */
	assert_int_equal(walk(ring, 0, RING + 8, &seen, &loss), 0);
	assert_int_equal(loss.damaged, 1);
	assert_int_equal(walk(ring, 8, 0, &seen, &loss), 0);
	assert_int_equal(loss.damaged, 1);
}

static void test_callback_ends_the_walk(void **state)
{
	struct seen seen = { .answer = -ENOMEM };
	struct perf_loss loss;
	struct record r;
	uint8_t ring[RING] = { 0 };

	put_sample(&r, 1);
	copy_in(ring, 0, &r);
	assert_int_equal(walk(ring, 0, r.size, &seen, &loss), -ENOMEM);
}

/* Any bytes: no crash, and no end that is not reached. */
static void test_garbage(void **state)
{
	struct seen seen = { 0 };
	struct perf_loss loss;
	uint8_t ring[RING];
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		struct record r;

		put_sample(&r, 5);
		memset(ring, 0, sizeof(ring));
		copy_in(ring, (uint64_t)round, &r);
		for (int k = 0; k < 1 + round % 9; k++) {
			seed = seed * 1103515245 + 12345;
			ring[seed >> 8 & (RING - 1)] = (uint8_t)(seed >> 20);
		}
		assert_int_equal(walk(ring, (uint64_t)round, (uint64_t)round + RING, &seen, &loss),
		                 0);
	}
	assert_true(seen.count > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_cut_samples),
		cmocka_unit_test(test_chain_longer_than_record),
		cmocka_unit_test(test_walk_wraps),
		cmocka_unit_test(test_walk_counts_losses),
		cmocka_unit_test(test_walk_stops_at_damage),
		cmocka_unit_test(test_callback_ends_the_walk),
		cmocka_unit_test(test_garbage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
