/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on the lab's serial line: whole, in pieces, cut, garbled. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/lab_frame.h"

static const char result[] = "{ \"schema\": \"mmtLabel\" }";

/* A hello, a result and an end, one behind the other. */
static void make_three(struct buffer *b)
{
	assert_int_equal(lab_frame_encode(b, LAB_FRAME_HELLO, "cpus=4\n", 7), 0);
	assert_int_equal(lab_frame_encode(b, LAB_FRAME_RESULT, result, sizeof(result)), 0);
	assert_int_equal(lab_frame_encode(b, LAB_FRAME_END, "exit 0", 6), 0);
}

static bool is_one_of_three(const struct lab_frame *f)
{
	switch (f->kind) {
	case LAB_FRAME_HELLO:
		return f->length == 7 && !strcmp(f->body, "cpus=4\n");
	case LAB_FRAME_RESULT:
		return f->length == sizeof(result) && !memcmp(f->body, result, f->length);
	case LAB_FRAME_END:
		return f->length == 6 && !strcmp(f->body, "exit 0");
	default:
		return false;
	}
}

/* How many frames these bytes give, fed `step` at a time; each must be one of the three. */
static unsigned count(const uint8_t *bytes, size_t length, size_t step, bool *cut)
{
	struct lab_frames frames = { 0 };
	struct lab_frame f;
	unsigned found = 0;

	for (size_t at = 0; at < length; at += step) {
		size_t n = length - at < step ? length - at : step;

		assert_int_equal(lab_frames_feed(&frames, bytes + at, n), 0);
		while (lab_frames_next(&frames, &f) > 0) {
			assert_true(is_one_of_three(&f));
			found++;
		}
	}
	if (cut)
		*cut = lab_frames_cut(&frames);
	lab_frames_clear(&frames);
	return found;
}

static void test_whole(void **state)
{
	struct buffer b = { 0 };
	bool cut;

	make_three(&b);
	for (size_t step = 1; step <= b.len; step++) {
		assert_int_equal(count(b.data, b.len, step, &cut), 3);
		assert_false(cut);
	}
	buffer_clear(&b);
}

static void test_cut_anywhere(void **state)
{
	struct buffer b = { 0 };
	unsigned last = 0;
	bool cut;

	make_three(&b);
	for (size_t length = 0; length < b.len; length++) {
		unsigned found = count(b.data, length, 64, &cut);

		assert_true(found == last || found == last + 1);
		assert_true(found < 3);
		/* At a boundary nothing is missing. */
		assert_int_equal(cut, length > 0 && found == last);
		last = found;
	}
	buffer_clear(&b);
}

static void test_garbled_anywhere(void **state)
{
	struct buffer b = { 0 };

	make_three(&b);
	for (size_t at = 0; at < b.len; at++)
		for (unsigned bit = 0; bit < 8; bit++) {
			b.data[at] ^= (uint8_t)(1 << bit);
			/* A length that became larger swallows those behind it. */
			assert_true(count(b.data, b.len, 64, NULL) < 3);
			b.data[at] ^= (uint8_t)(1 << bit);
		}
	buffer_clear(&b);
}

static void test_lost_bytes(void **state)
{
	struct buffer b = { 0 };

	make_three(&b);
	for (size_t at = 0; at < b.len; at++) {
		_cleanup_free_ uint8_t *less = malloc(b.len);

		memcpy(less, b.data, at);
		memcpy(less + at, b.data + at + 1, b.len - at - 1);
		assert_true(count(less, b.len - 1, 64, NULL) < 3);
	}
	buffer_clear(&b);
}

static void test_noise_between(void **state)
{
	struct buffer b = { 0 };
	struct lab_frames frames = { 0 };
	struct lab_frame f;

	assert_int_equal(buffer_bytes(&b, "noise mmt mmtL", 10), 0);
	assert_int_equal(lab_frame_encode(&b, LAB_FRAME_END, "exit 0", 6), 0);
	assert_int_equal(lab_frames_feed(&frames, b.data, b.len), 0);
	assert_int_equal(lab_frames_next(&frames, &f), 1);
	assert_true(is_one_of_three(&f));
	assert_int_equal(frames.skipped, 10);
	lab_frames_clear(&frames);
	buffer_clear(&b);
}

static void test_too_long(void **state)
{
	struct buffer b = { 0 };

	assert_int_equal(lab_frame_encode(&b, LAB_FRAME_RESULT, "", (size_t)LAB_FRAME_MAX + 1),
	                 -E2BIG);
	buffer_clear(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_garbled_anywhere),
		cmocka_unit_test(test_lost_bytes),
		cmocka_unit_test(test_noise_between),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
