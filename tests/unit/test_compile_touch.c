/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Faults as touches: runs, what is dropped, what must fail, dense and region touches, the pace. */

#include "tests/unit/compile_sample.h"

#define KERNEL(s, task, at) EVENT(s, task, EVENT_FAULT_KERNEL, at, FAULT_WRITE)
#define HUGE (2ULL << 20)

static void test_equal_strides_are_a_run(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 64 * PAGE);
	for (uint64_t i = 0; i < 5; i++)
		WRITE(&s, 7, BASE + i * 2 * PAGE);
	READ(&s, 7, BASE + 10 * PAGE);
	READ(&s, 7, BASE + 11 * PAGE);
	READ(&s, 7, BASE + 13 * PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 40000 /3; touch run 0 5x2 /1; touch run a000 2x1; touch d000");
	assert_int_equal(counts(&s)->touches, 8);
	assert_int_equal(counts(&s)->operations, 4);
}

static void test_a_run_ends_at_a_wait_and_at_a_waiter(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 64 * PAGE);
	THREAD(&s, 7, 8);
	WRITE(&s, 8, BASE);
	UNMAP(&s, 7, BASE, PAGE); /* waits for the first touch only */
	WRITE(&s, 8, BASE + PAGE);
	MAP(&s, 7, BASE + 64 * PAGE, PAGE);
	WRITE(&s, 8, BASE + 64 * PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 40000 /3; clone 1; wait 1:1; munmap 0 1000; mmap 40000 1000 /3");
	expect(&s, 1, "touch 0 /1; touch 1000 /1; wait 0:4; touch 40000 /1");
}

static void test_runs_of_shared_spaces_are_short(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 64 * PAGE);
	THREAD(&s, 7, 8);
	for (uint64_t i = 0; i < 40; i++)
		WRITE(&s, 8, BASE + i * PAGE);
	compile_well(&s);
	expect(&s, 1, "touch run 0 32x1 /1; touch run 20000 8x1 /1");
}

static void test_kernel_repeats_are_one(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	KERNEL(&s, 7, BASE);
	KERNEL(&s, 7, BASE);
	WRITE(&s, 7, BASE);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; touch 0 /1; touch 0 /1; touch 0 /1");
	assert_int_equal(counts(&s)->dropped_faults, 1);
	assert_int_equal(counts(&s)->recorded_faults, 4);
	assert_int_equal(counts(&s)->recorded_kernel_faults, 2);
}

static void test_hints_and_kernel_addresses_are_dropped(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	WRITE(&s, 7, BASE);
	EVENT(&s, 7, EVENT_FAULT_USER, BASE, FAULT_USER | FAULT_PRESENT);
	EVENT(&s, 7, EVENT_FAULT_USER, BASE, FAULT_USER | FAULT_PRESENT | FAULT_WRITE);
	EVENT(&s, 7, EVENT_FAULT_KERNEL, 0xffff888000000000ULL, 0);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; touch 0 /1; touch 0 /1");
	assert_int_equal(counts(&s)->dropped_faults, 2);
}

static void test_forbidden_touches_must_fail(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MMAP, BASE, 0, 2 * PAGE, PROT_READ, ANON, -1, 0);
	CALL(&s, 7, MPROTECT, 0, BASE + PAGE, PAGE, PROT_NONE);
	WRITE(&s, 7, BASE);
	READ(&s, 7, BASE);
	READ(&s, 7, BASE + PAGE);
	UNMAP(&s, 7, BASE, PAGE);
	READ(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 2000 /1; mprotect 1000 1000; touch 0 /1 E14; touch 0; touch 1000 E14; "
	       "munmap 0 1000; touch 0 E14");
}

static void test_anonymous_reads_can_become_writes(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, MMAP, BASE + PAGE, 0, PAGE, RW, MAP_PRIVATE, 3, 0);
	READ(&s, 7, BASE);
	READ(&s, 7, BASE + PAGE);
	s.options.write_reads = true;
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; mmap 1000 1000 /3; touch 0 /1; touch 1000");
}

static void test_dense_touches_fill_huge_pages(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE + HUGE - PAGE, 2 * HUGE);
	WRITE(&s, 7, BASE + HUGE - PAGE); /* no huge page fits around it */
	WRITE(&s, 7, BASE + HUGE + 5 * PAGE);
	WRITE(&s, 7, BASE + HUGE + 7 * PAGE); /* covered already */
	s.options.touch = TOUCH_DENSE;
	compile_well(&s);
	expect(&s, 0, "mmap 1ff000 400000 /3; touch run 1ff000 513x1 /1; touch 207000 /1");
	assert_int_equal(counts(&s)->touches, 514);
}

static void test_dense_follows_advice(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, HUGE);
	MAP(&s, 7, BASE + HUGE, HUGE);
	CALL(&s, 7, MADVISE, 0, BASE, HUGE, MADV_NOHUGEPAGE);
	WRITE(&s, 7, BASE + PAGE);
	WRITE(&s, 7, BASE + HUGE + PAGE);
	s.options.touch = TOUCH_DENSE;
	compile_well(&s);
	assert_int_equal(counts(&s)->touches, 513);
}

static void test_dense_of_a_recording_without_huge_pages(void **state)
{
	SCRIPT;

	script_begin(&s);
	assert_int_equal(trace_meta_set(s.meta, META_THP, "never"), 0);
	MAP(&s, 7, BASE, HUGE);
	WRITE(&s, 7, BASE + PAGE);
	s.options.touch = TOUCH_DENSE;
	compile_well(&s);
	assert_int_equal(counts(&s)->touches, 1);
}

static void test_region_touches_fill_regions(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 9 * PAGE);
	MAP(&s, 7, BASE + 9 * PAGE, 9 * PAGE);
	WRITE(&s, 7, BASE + 4 * PAGE);
	s.options.touch = TOUCH_REGION;
	compile_well(&s);
	expect(&s, 0, "mmap 0 9000 /3; mmap 9000 9000 /3; touch run 0 9x1 /1");
	assert_int_equal(counts(&s)->peak_bytes, 9 * PAGE);
}

static void test_paced_plans_have_times(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 9 * PAGE);
	WRITE(&s, 7, BASE);
	s.now += 50000;
	WRITE(&s, 7, BASE + PAGE);
	s.options.paced = true;
	compile_well(&s);
	expect(&s, 0, "mmap 0 9000 /3; time 2000; touch 0 /1; time 53000; touch 1000 /1");
	assert_int_equal(s.plan.header->pace, 1);
	assert_int_equal(counts(&s)->duration, 53000);
}

static void test_plan_memory_per_operation(void **state)
{
	const struct plan_counts *n;
	SCRIPT;

	script_begin(&s);
	for (uint64_t i = 0; i < 1000; i++) {
		MAP(&s, 7, BASE, 64 * PAGE);
		WRITE(&s, 7, BASE + i % 7 * PAGE);
		WRITE(&s, 7, BASE + i % 13 * 2 * PAGE);
		CALL(&s, 7, MADVISE, 0, BASE, PAGE, MADV_DONTNEED);
		UNMAP(&s, 7, BASE, 64 * PAGE);
	}
	compile_well(&s);
	n = counts(&s);
	assert_true(n->words * 8 <= 32 * n->operations);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_strides_are_a_run),
		cmocka_unit_test(test_a_run_ends_at_a_wait_and_at_a_waiter),
		cmocka_unit_test(test_runs_of_shared_spaces_are_short),
		cmocka_unit_test(test_kernel_repeats_are_one),
		cmocka_unit_test(test_hints_and_kernel_addresses_are_dropped),
		cmocka_unit_test(test_forbidden_touches_must_fail),
		cmocka_unit_test(test_anonymous_reads_can_become_writes),
		cmocka_unit_test(test_dense_touches_fill_huge_pages),
		cmocka_unit_test(test_dense_follows_advice),
		cmocka_unit_test(test_dense_of_a_recording_without_huge_pages),
		cmocka_unit_test(test_region_touches_fill_regions),
		cmocka_unit_test(test_paced_plans_have_times),
		cmocka_unit_test(test_plan_memory_per_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
