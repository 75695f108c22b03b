/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging raw pages, made here as the kernel lays them out (kernel/trace/ring_buffer.c). */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "capture/merge.h"
#include "common/bytes.h"

#define PAGE 4096
#define SLOTS 4
#define MISSED_EVENTS (1u << 31)
#define MISSED_STORED (1u << 30)
#define TIME_EXTEND 30
#define TIME_STAMP 31

struct fixture {
	struct page_queue queues[2];
	struct merge *merge;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	for (unsigned i = 0; i < 2; i++) {
		f->queues[i] = (struct page_queue){ .cpu = i, .page_bytes = PAGE, .slots = SLOTS };
		f->queues[i].pages = calloc(SLOTS, PAGE);
	}
	*state = f;
	return merge_new(&f->merge, f->queues, 2, 0);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	merge_free(f->merge);
	free(f->queues[0].pages);
	free(f->queues[1].pages);
	free(f);
	return 0;
}

static uint8_t *page_begin(struct page_queue *q, uint64_t time, uint32_t flags)
{
	uint8_t *page = page_queue_slot(q, q->count++);

	memset(page, 0, PAGE);
	store_le64(page, time);
	store_le64(page + 8, flags);
	return page;
}

static void page_grow(uint8_t *page, unsigned bytes)
{
	store_le64(page + 8, load_le64(page + 8) + bytes);
}

static uint8_t *page_end(uint8_t *page)
{
	return page + 16 + (load_le64(page + 8) & 0xfffff);
}

/* A record of 8 bytes that holds `value`. */
static void page_add(uint8_t *page, uint32_t delta, uint64_t value)
{
	uint8_t *at = page_end(page);

	store_le32(at, delta << 5 | 2);
	store_le64(at + 4, value);
	page_grow(page, 12);
}

static void page_add_time(uint8_t *page, unsigned type, uint64_t time)
{
	uint8_t *at = page_end(page);

	store_le32(at, (uint32_t)(time & 0x7ffffff) << 5 | type);
	store_le32(at + 4, (uint32_t)(time >> 27));
	page_grow(page, 8);
}

static void expect_record(struct fixture *f, uint64_t until, uint64_t time, uint64_t value)
{
	struct merge_item item;

	assert_int_equal(merge_next(f->merge, until, &item), MERGE_RECORD);
	assert_int_equal(item.time, time);
	assert_int_equal(load_le64(item.data), value);
}

static void expect_none(struct fixture *f, uint64_t until)
{
	struct merge_item item;

	assert_int_equal(merge_next(f->merge, until, &item), MERGE_NONE);
}

static void test_merges_by_time(void **state)
{
	struct fixture *f = *state;
	uint8_t *a = page_begin(&f->queues[0], 1000, 0);
	uint8_t *b = page_begin(&f->queues[1], 1005, 0);

	page_add(a, 0, 1);
	page_add(a, 20, 3);
	page_add(b, 0, 2);
	page_add(b, 30, 4);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 1000, 1);
	expect_record(f, UINT64_MAX, 1005, 2);
	expect_record(f, UINT64_MAX, 1020, 3);
	expect_record(f, UINT64_MAX, 1035, 4);
	expect_none(f, UINT64_MAX);
	assert_int_equal(f->queues[0].count, 0);
}

static void test_young_records_wait_for_the_next_round(void **state)
{
	struct fixture *f = *state;
	uint8_t *a = page_begin(&f->queues[0], 1000, 0);

	page_add(a, 0, 1);
	page_add(a, 100, 2);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, 1050, 1000, 1);
	expect_none(f, 1050);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 1100, 2);
}

/* Behind a full queue the kernel may have records older than what the others hold. */
static void test_a_full_queue_holds_back_the_others(void **state)
{
	struct fixture *f = *state;
	uint8_t *b = page_begin(&f->queues[1], 5000, 0);
	uint64_t until;

	for (unsigned i = 0; i < SLOTS; i++)
		page_add(page_begin(&f->queues[0], 1000 + i * 10, 0), 0, i);
	f->queues[0].more = true;
	page_add(b, 0, 99);
	until = merge_begin_round(f->merge, UINT64_MAX);
	assert_int_equal(until, 1030);
	for (unsigned i = 0; i < SLOTS; i++)
		expect_record(f, until, 1000 + i * 10, i);
	expect_none(f, until);
	assert_int_equal(f->queues[0].count, 0);
}

static void test_long_gaps_of_time(void **state)
{
	struct fixture *f = *state;
	uint8_t *a = page_begin(&f->queues[0], 1000, 0);

	page_add_time(a, TIME_EXTEND, 1ULL << 40);
	page_add(a, 0, 1);
	page_add_time(a, TIME_STAMP, 3ULL << 40);
	page_add(a, 7, 2);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 1000 + (1ULL << 40), 1);
	expect_record(f, UINT64_MAX, (3ULL << 40) + 7, 2);
}

static void test_a_gap_is_told_before_the_record_behind_it(void **state)
{
	struct fixture *f = *state;
	uint8_t *a = page_begin(&f->queues[0], 1000, 0);
	struct merge_item item;

	page_add(a, 0, 1);
	a = page_begin(&f->queues[0], 9000, MISSED_EVENTS | MISSED_STORED);
	page_add(a, 0, 2);
	store_le64(page_end(a), 1234);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 1000, 1);
	assert_int_equal(merge_next(f->merge, UINT64_MAX, &item), MERGE_GAP);
	assert_int_equal(item.missed, 1234);
	assert_int_equal(item.since, 1000);
	assert_int_equal(item.time, 9000);
	expect_record(f, UINT64_MAX, 9000, 2);
}

static void test_a_gap_of_unknown_size(void **state)
{
	struct fixture *f = *state;
	struct merge_item item;

	page_add(page_begin(&f->queues[1], 9000, MISSED_EVENTS), 0, 2);
	merge_begin_round(f->merge, UINT64_MAX);
	assert_int_equal(merge_next(f->merge, UINT64_MAX, &item), MERGE_GAP);
	assert_int_equal(item.missed, 0);
	assert_int_equal(item.cpu, 1);
	expect_record(f, UINT64_MAX, 9000, 2);
}

static void test_time_never_steps_back(void **state)
{
	struct fixture *f = *state;

	page_add(page_begin(&f->queues[0], 2000, 0), 0, 1);
	page_add(page_begin(&f->queues[0], 1990, 0), 0, 2);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 2000, 1);
	expect_record(f, UINT64_MAX, 2000, 2);
}

static void test_empty_pages_are_passed(void **state)
{
	struct fixture *f = *state;

	page_begin(&f->queues[0], 1000, 0);
	page_add(page_begin(&f->queues[0], 1001, 0), 0, 1);
	merge_begin_round(f->merge, UINT64_MAX);
	expect_record(f, UINT64_MAX, 1001, 1);
	expect_none(f, UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_merges_by_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_young_records_wait_for_the_next_round, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_a_full_queue_holds_back_the_others, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_long_gaps_of_time, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_gap_is_told_before_the_record_behind_it,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_gap_of_unknown_size, setup, teardown),
		cmocka_unit_test_setup_teardown(test_time_never_steps_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_pages_are_passed, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
