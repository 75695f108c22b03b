/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The EVTS block codec: what goes in comes out, and nothing hostile gets further than an error. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/codec.h"

#define PAGE_SHIFT 12

/* A repeatable generator (xorshift64). */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Values of every magnitude. */
static uint64_t random_value(uint64_t *state)
{
	return random_next(state) >> (random_next(state) % 64);
}

static unsigned random_kind(uint64_t *state)
{
	for (;;) {
		unsigned kind = (unsigned)(random_next(state) % EVENT_KIND_COUNT);

		if (event_row(kind))
			return kind;
	}
}

static void random_event(struct event *e, uint64_t *state, uint64_t *time)
{
	*time += random_next(state) % 8 ? random_value(state) >> 34 : 0;
	*e = (struct event){ .time = *time, .cpu = 3, .kind = (uint16_t)random_kind(state) };
	e->task = (uint32_t)(random_next(state) % 700);
	e->flags = random_next(state) % 16 ? 0 : 3;
	if (event_is_fault(e->kind)) {
		e->arg[0] = random_value(state) >> PAGE_SHIFT << PAGE_SHIFT;
		e->arg[1] = random_next(state) % 32;
	} else {
		for (unsigned i = 0; i < event_row(e->kind)->args; i++)
			e->arg[i] = random_value(state);
	}
}

static void assert_same(const struct event *a, const struct event *b)
{
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->task, b->task);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->flags, b->flags);
	assert_memory_equal(a->arg, b->arg, sizeof(a->arg));
}

static struct buffer block_of(struct evts_encoder *e)
{
	struct evts_part parts[EVTS_PARTS_MAX];
	struct buffer block = { 0 };
	int n = evts_encoder_parts(e, parts);

	assert_in_range(n, 1, EVTS_PARTS_MAX);
	for (int i = 0; i < n; i++)
		assert_int_equal(buffer_bytes(&block, parts[i].data, parts[i].len), 0);
	assert_true(block.len + FORMAT_BLOCK_HEADER <= CODEC_BLOCK_BYTES);
	return block;
}

static void assert_decodes(const struct buffer *block, const struct event *events, size_t count,
                           unsigned batch)
{
	struct evts_decoder *d;
	struct event out[256];
	size_t at = 0;
	int n;

	assert_int_equal(evts_decoder_new(&d), 0);
	assert_int_equal(evts_decoder_open(d, block->data, block->len), 0);
	while ((n = evts_decoder_next(d, out, batch)) > 0)
		for (int i = 0; i < n; i++)
			assert_same(&out[i], &events[at++]);
	assert_int_equal(n, 0);
	assert_int_equal(at, count);
	evts_decoder_free(d);
}

/* Encodes random events, block after block, and decodes each. */
static void round_trip(uint64_t seed, size_t count, unsigned batch)
{
	struct event *events = calloc(count, sizeof(*events));
	uint64_t time = 1000;
	struct evts_encoder *e;
	size_t begun = 0;

	assert_non_null(events);
	assert_int_equal(evts_encoder_new(&e, 3, PAGE_SHIFT), 0);
	for (size_t i = 0; i < count; i++) {
		int r;

		random_event(&events[i], &seed, &time);
		r = evts_encoder_add(e, &events[i]);
		assert_true(r >= 0);
		if (r == 1 || i + 1 == count) {
			struct buffer block = block_of(e);

			assert_decodes(&block, events + begun, i + (r == 0) - begun, batch);
			buffer_clear(&block);
			evts_encoder_reset(e, true);
			begun = i;
			if (r == 1)
				assert_int_equal(evts_encoder_add(e, &events[i]), 0);
		}
	}
	evts_encoder_free(e);
	free(events);
}

static void test_random_events_round_trip(void **state)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		round_trip(seed * 7919, 3000, (unsigned)(1 + seed * 13 % 256));
}

static void test_long_stream_fills_many_blocks(void **state)
{
	round_trip(42, 60000, 64);
}

static void test_every_kind_round_trips(void **state)
{
	struct event events[EVENT_KIND_COUNT];
	struct evts_encoder *e;
	struct buffer block;
	size_t n = 0;

	assert_int_equal(evts_encoder_new(&e, 0, PAGE_SHIFT), 0);
	for (unsigned kind = 1; kind < EVENT_KIND_COUNT; kind++) {
		struct event *ev = &events[n];

		if (!event_row(kind))
			continue;
		*ev = (struct event){ .time = kind, .task = kind, .kind = (uint16_t)kind };
		for (unsigned i = 0; i < event_row(kind)->args; i++)
			ev->arg[i] = event_is_fault(kind) ? 0x1000 : ~(uint64_t)i;
		assert_int_equal(evts_encoder_add(e, ev), 0);
		n++;
	}
	block = block_of(e);
	assert_decodes(&block, events, n, 256);
	buffer_clear(&block);
	evts_encoder_free(e);
}

static void test_older_event_is_refused(void **state)
{
	struct event ev = { .time = 10, .kind = EVENT_EXIT };
	struct evts_encoder *e;

	assert_int_equal(evts_encoder_new(&e, 0, PAGE_SHIFT), 0);
	assert_int_equal(evts_encoder_add(e, &ev), 0);
	ev.time = 9;
	assert_int_equal(evts_encoder_add(e, &ev), -ERANGE);
	evts_encoder_reset(e, true);
	assert_int_equal(evts_encoder_add(e, &ev), -ERANGE);
	evts_encoder_free(e);
}

static void test_what_cannot_be_expressed_is_refused(void **state)
{
	struct event unknown = { .kind = EVENT_KIND_COUNT };
	struct event code = { .kind = EVENT_FAULT_USER, .arg = { 0, 1ULL << 32 } };
	struct evts_encoder *e;

	assert_int_equal(evts_encoder_new(&e, 0, PAGE_SHIFT), 0);
	assert_int_equal(evts_encoder_add(e, &unknown), -EINVAL);
	assert_int_equal(evts_encoder_add(e, &code), -EINVAL);
	assert_int_equal(evts_encoder_events(e), 0);
	evts_encoder_free(e);
}

static void test_index_counts_written_events(void **state)
{
	struct event ev = { .time = 1, .kind = EVENT_EXIT };
	struct evts_encoder *e;
	struct evts_head head;
	struct buffer block;

	assert_int_equal(evts_encoder_new(&e, 0, PAGE_SHIFT), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(evts_encoder_add(e, &ev), 0);
		assert_int_equal(evts_encoder_add(e, &ev), 0);
		if (i < 2)
			evts_encoder_reset(e, i == 0);
	}
	block = block_of(e);
	assert_int_equal(evts_head_decode(&head, block.data), 0);
	assert_int_equal(head.index, 2);
	assert_int_equal(head.events, 2);
	buffer_clear(&block);
	evts_encoder_free(e);
}

/* Decodes what may be anything; returns the first error, or 0. */
static int decode_all(struct evts_decoder *d, const uint8_t *data, size_t len)
{
	struct event out[256];
	int n = evts_decoder_open(d, data, len);

	while (!n) {
		n = evts_decoder_next(d, out, 256);
		if (n <= 0)
			return n;
		n = 0;
	}
	return n;
}

static struct buffer sample_block(size_t count)
{
	uint64_t seed = 99, time = 1;
	struct evts_encoder *e;
	struct buffer block;

	assert_int_equal(evts_encoder_new(&e, 3, PAGE_SHIFT), 0);
	for (size_t i = 0; i < count; i++) {
		struct event ev;

		random_event(&ev, &seed, &time);
		assert_int_equal(evts_encoder_add(e, &ev), 0);
	}
	block = block_of(e);
	evts_encoder_free(e);
	return block;
}

static void test_cut_block_is_an_error(void **state)
{
	struct buffer block = sample_block(200);
	struct evts_decoder *d;

	assert_int_equal(evts_decoder_new(&d), 0);
	for (size_t len = 0; len < block.len; len++) {
		/* A copy of its own length, so that a sanitizer sees reads behind it. */
		uint8_t *copy = malloc(len + 1);

		memcpy(copy, block.data, len);
		assert_int_equal(decode_all(d, copy, len), -EBADMSG);
		free(copy);
	}
	evts_decoder_free(d);
	buffer_clear(&block);
}

static void test_changed_block_never_gets_further_than_an_error(void **state)
{
	struct buffer block = sample_block(200);
	uint64_t seed = 5;
	struct evts_decoder *d;
	unsigned refused = 0;

	assert_int_equal(evts_decoder_new(&d), 0);
	for (unsigned i = 0; i < 20000; i++) {
		size_t at = random_next(&seed) % block.len;
		uint8_t was = block.data[at];

		block.data[at] ^= (uint8_t)(1 + random_next(&seed) % 255);
		refused += decode_all(d, block.data, block.len) < 0;
		block.data[at] = was;
	}
	assert_true(refused > 0);
	assert_int_equal(decode_all(d, block.data, block.len), 0);
	evts_decoder_free(d);
	buffer_clear(&block);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_events_round_trip),
		cmocka_unit_test(test_long_stream_fills_many_blocks),
		cmocka_unit_test(test_every_kind_round_trips),
		cmocka_unit_test(test_older_event_is_refused),
		cmocka_unit_test(test_what_cannot_be_expressed_is_refused),
		cmocka_unit_test(test_index_counts_written_events),
		cmocka_unit_test(test_cut_block_is_an_error),
		cmocka_unit_test(test_changed_block_never_gets_further_than_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
