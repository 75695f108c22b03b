/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Cut, changed and rearranged files: every whole block comes back, nothing that was
 * not written does, and what is missing is known.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "traces/codec.h"
#include "traces/frames.h"
#include "trace_sample.h"

#define FRAMES_MAX 256

/* The frames of a file, and how many events lie before each. */
struct layout {
	uint8_t *bytes;
	size_t len, count;
	size_t start[FRAMES_MAX + 1]; /* one behind the last: the seek table */
	uint32_t events[FRAMES_MAX];
};

static void layout_read(struct layout *l, const struct sample *s)
{
	struct frame_reader *reader;
	struct frame_look look;
	const char *why;
	size_t at = 0;

	*l = (struct layout){ 0 };
	l->bytes = sample_bytes(s, &l->len);
	assert_int_equal(frame_reader_new(&reader), 0);
	for (;; at += look.size) {
		uint8_t raw[FORMAT_BLOCK_MAX];

		l->start[l->count] = at;
		if (at == l->len)
			break;
		assert_int_equal(frame_look(&look, l->bytes + at, l->len - at, &why), 0);
		if (look.skippable)
			break;
		assert_int_equal(frame_read(reader, l->bytes + at, look.size, raw, look.content),
		                 0);
		if (load_le32(raw + 4) == BLOCK_EVTS)
			l->events[l->count] = load_le32(raw + FORMAT_BLOCK_HEADER + 4);
		assert_true(++l->count < FRAMES_MAX);
	}
	frame_reader_free(reader);
}

/* Reads to the end: what comes must be what was written. -1 if reading fails. */
static long read_all(struct trace_reader *r, const struct sample *s)
{
	const struct event *e;
	uint64_t last = 0;
	long n = 0;
	int more;

	while ((more = trace_reader_next(r, &e)) == 1) {
		size_t i = (e->time - 5000) / 1000;

		assert_true(i < s->count);
		assert_true(e->time >= last);
		assert_memory_equal(e, &s->events[i], sizeof(*e));
		last = e->time;
		n++;
	}
	return more < 0 ? -1 : n;
}

static void test_cut_at_every_byte(void **state)
{
	struct layout l;
	struct sample s, cut;
	uint64_t whole = 0;
	size_t frames = 0;

	sample_write(&s, 1000, 200, 0, true);
	layout_read(&l, &s);
	for (size_t len = 0; len < l.len; len++) {
		struct trace_reader *r;
		const struct trace_status *st;
		int opened;

		while (frames < l.count && l.start[frames + 1] <= len)
			whole += l.events[frames++];
		sample_of_bytes(&cut, l.bytes, len);
		opened = trace_reader_new(&r, cut.path, TRACE_TOLERATE_DAMAGE);
		if (!frames) {
			assert_int_equal(opened, -ENODATA);
			close(cut.fd);
			continue;
		}
		assert_int_equal(opened, 0);
		st = trace_reader_status(r);
		assert_int_equal(read_all(r, &s), whole);
		assert_int_equal(st->events, whole);
		/* Between the last block and the seek table nothing is missing. */
		assert_int_equal(st->complete, len == l.start[l.count]);
		assert_int_equal(st->damage_count, len == l.start[frames] ? 0 : 1);
		if (frames < l.count)
			assert_true(st->lost > 0);
		trace_reader_free(r);

		opened = trace_reader_new(&r, cut.path, 0);
		assert_int_equal(opened, len == l.start[frames] ? 0 : -EBADMSG);
		if (!opened)
			trace_reader_free(r);
		close(cut.fd);
	}
	free(l.bytes);
	sample_clear(&s);
}

/*
 * What does not change the decoded bytes (padding of zstd's entropy coding) cannot be
 * noticed and does no harm: true for few places.
 */
static bool changes_nothing(const struct sample *bad, const struct sample *s)
{
	struct trace_reader *r;
	bool same;

	assert_int_equal(trace_reader_new(&r, bad->path, TRACE_TOLERATE_DAMAGE), 0);
	same = !trace_reader_status(r)->damage_count;
	assert_int_equal(read_all(r, s), trace_reader_status(r)->events);
	if (same) {
		assert_int_equal(trace_reader_status(r)->lost, 3);
		assert_int_equal(trace_reader_status(r)->events, s->count);
	}
	trace_reader_free(r);
	return same;
}

static void test_changed_bytes_are_noticed(void **state)
{
	struct layout l;
	struct sample s, bad;
	uint64_t seed = 12345;
	size_t harmless = 0;

	sample_write(&s, 1000, 200, 3, true);
	layout_read(&l, &s);
	for (size_t at = 0; at < l.len; at++) {
		struct trace_reader *r;
		uint8_t was = l.bytes[at];
		bool in_table = at >= l.start[l.count], same;

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		l.bytes[at] ^= (uint8_t)(1 << (seed >> 61));
		sample_of_bytes(&bad, l.bytes, l.len);
		same = changes_nothing(&bad, &s);
		harmless += same;
		if (trace_reader_new(&r, bad.path, 0) == 0) {
			/* Events are read without the seek table, but never past damage. */
			assert_int_equal(read_all(r, &s), in_table || same ? 1000 : -1);
			trace_reader_free(r);
		} else {
			assert_false(same);
		}
		close(bad.fd);
		l.bytes[at] = was;
	}
	assert_true(harmless < l.len / 50);
	free(l.bytes);
	sample_clear(&s);
}

/* A file of the given frames of l, and its seek table unless a frame is missing. */
static void rearranged(struct sample *out, const struct layout *l, const size_t *order,
                       size_t count)
{
	struct buffer b = { 0 };

	for (size_t i = 0; i < count; i++)
		assert_int_equal(buffer_bytes(&b, l->bytes + l->start[order[i]],
		                              l->start[order[i] + 1] - l->start[order[i]]),
		                 0);
	sample_of_bytes(out, b.data, b.len);
	buffer_clear(&b);
}

/* The frames in order but for one that is left out. */
static size_t order_without(size_t order[FRAMES_MAX], size_t count, size_t missing)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++)
		if (i != missing)
			order[n++] = i;
	return n;
}

static void test_missing_block_is_counted_to_the_event(void **state)
{
	struct sample s, out;
	struct layout l;

	sample_write(&s, 1000, 200, 0, true);
	layout_read(&l, &s);
	for (size_t missing = 1; missing < l.count - 1; missing++) {
		const struct trace_status *st;
		struct trace_reader *r;
		size_t order[FRAMES_MAX];
		size_t n = order_without(order, l.count, missing);

		rearranged(&out, &l, order, n);
		assert_int_equal(trace_reader_new(&r, out.path, 0), -EBADMSG);
		assert_int_equal(trace_reader_new(&r, out.path, TRACE_TOLERATE_DAMAGE), 0);
		st = trace_reader_status(r);
		assert_int_equal(st->damage_count, 1);
		assert_int_equal(st->lost, l.events[missing]);
		assert_int_equal(read_all(r, &s), 1000 - l.events[missing]);
		trace_reader_free(r);
		close(out.fd);
	}
	free(l.bytes);
	sample_clear(&s);
}

static void test_lost_loss_record_is_a_loss(void **state)
{
	const struct trace_status *st;
	struct sample s, out;
	struct trace_reader *r;
	struct layout l;
	size_t order[FRAMES_MAX], n;

	sample_write(&s, 100, 101, 17, true);
	layout_read(&l, &s);
	/* LOSS is the last block before TAIL. */
	n = order_without(order, l.count, l.count - 2);
	rearranged(&out, &l, order, n);
	assert_int_equal(trace_reader_new(&r, out.path, TRACE_TOLERATE_DAMAGE), 0);
	st = trace_reader_status(r);
	assert_int_equal(st->lost, 17);
	assert_int_equal(st->events, 100);
	trace_reader_free(r);
	close(out.fd);
	free(l.bytes);
	sample_clear(&s);
}

static void test_lost_head_costs_only_metadata(void **state)
{
	struct sample s, out;
	struct trace_reader *r;
	struct layout l;
	size_t order[FRAMES_MAX], n;

	sample_write(&s, 100, 101, 0, true);
	layout_read(&l, &s);
	n = order_without(order, l.count, 0);
	rearranged(&out, &l, order, n);
	assert_int_equal(trace_reader_new(&r, out.path, 0), -EBADMSG);
	assert_int_equal(trace_reader_new(&r, out.path, TRACE_TOLERATE_DAMAGE), 0);
	assert_int_equal(trace_meta_count(trace_reader_meta(r)), 0);
	assert_false(trace_reader_status(r)->complete);
	assert_int_equal(read_all(r, &s), 100);
	trace_reader_free(r);
	close(out.fd);
	free(l.bytes);
	sample_clear(&s);
}

static void test_repeated_and_swapped_blocks_are_damage(void **state)
{
	struct sample s, out;
	struct trace_reader *r;
	struct layout l;
	size_t order[FRAMES_MAX];

	sample_write(&s, 1000, 100, 0, true);
	layout_read(&l, &s);
	for (unsigned way = 0; way < 3; way++) {
		size_t n = order_without(order, l.count, FRAMES_MAX), at = 8;

		if (way == 0) {
			order[at] = at + 1;
			order[at + 1] = at;
		} else if (way == 1) {
			order[at + 1] = at;
		} else {
			order[n++] = at; /* behind the end */
		}
		rearranged(&out, &l, order, n);
		assert_int_equal(trace_reader_new(&r, out.path, 0), -EBADMSG);
		assert_int_equal(trace_reader_new(&r, out.path, TRACE_TOLERATE_DAMAGE), 0);
		assert_true(trace_reader_status(r)->damage_count > 0);
		assert_int_equal(read_all(r, &s), trace_reader_status(r)->events);
		trace_reader_free(r);
		close(out.fd);
	}
	free(l.bytes);
	sample_clear(&s);
}

/* Foreign bytes between frames are passed over, even when they look like frames. */
static void test_garbage_between_blocks(void **state)
{
	static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct buffer b = { 0 };
	struct sample s, out;
	struct trace_reader *r;
	struct layout l;

	sample_write(&s, 1000, 100, 0, true);
	layout_read(&l, &s);
	for (size_t i = 0; i < l.count; i++) {
		assert_int_equal(
			buffer_bytes(&b, l.bytes + l.start[i], l.start[i + 1] - l.start[i]), 0);
		for (size_t k = 0; k < i % 4; k++)
			assert_int_equal(buffer_bytes(&b, magic, sizeof(magic)), 0);
	}
	sample_of_bytes(&out, b.data, b.len);
	assert_int_equal(trace_reader_new(&r, out.path, TRACE_TOLERATE_DAMAGE), 0);
	assert_true(trace_reader_status(r)->damage_count > 0);
	assert_int_equal(trace_reader_status(r)->lost, 0);
	assert_int_equal(read_all(r, &s), 1000);
	trace_reader_free(r);
	buffer_clear(&b);
	close(out.fd);
	free(l.bytes);
	sample_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_at_every_byte),
		cmocka_unit_test(test_changed_bytes_are_noticed),
		cmocka_unit_test(test_missing_block_is_counted_to_the_event),
		cmocka_unit_test(test_lost_loss_record_is_a_loss),
		cmocka_unit_test(test_lost_head_costs_only_metadata),
		cmocka_unit_test(test_repeated_and_swapped_blocks_are_damage),
		cmocka_unit_test(test_garbage_between_blocks),
	};

	return silence() ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
