/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The estimate of the memory that a replay needs. */

#include <linux/sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "survey_world.h"

static void test_written_pages_count(void **state)
{
	map(*state, 1, BASE, 10 * PAGE);
	fault_pages(*state, 1, BASE, 3);
	peak_is(*state, 3);
}

static void test_zero_pages_do_not_count(void **state)
{
	map(*state, 1, BASE, 10 * PAGE);
	fault(*state, 1, BASE, READ);
	peak_is(*state, 0);
}

static void test_read_pages_count_without_a_zero_page(void **state)
{
	set(*state, META_ZERO_PAGE, "0");
	map(*state, 1, BASE, 10 * PAGE);
	fault(*state, 1, BASE, READ);
	peak_is(*state, 1);
}

static void test_peak_is_the_most_at_once(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	for (unsigned i = 0; i < 3; i++) {
		fault_pages(w, 1, BASE, 10);
		SCRIPT_CALL(&w->script, CALL_MADVISE, 1, 0, BASE, 10 * PAGE, MADV_DONTNEED);
	}
	peak_is(w, 10);
}

static void test_unmap_frees(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++) {
		map(w, 1, BASE, 10 * PAGE);
		fault_pages(w, 1, BASE, 10);
		SCRIPT_CALL(&w->script, CALL_MUNMAP, 1, 0, BASE, 10 * PAGE);
	}
	peak_is(w, 10);
}

static void test_failed_unmap_frees_nothing(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 20 * PAGE);
	fault_pages(w, 1, BASE, 10);
	SCRIPT_CALL(&w->script, CALL_MUNMAP, 1, (uint64_t)-EINVAL, BASE, 10 * PAGE);
	fault_pages(w, 1, BASE + 10 * PAGE, 10);
	peak_is(w, 20);
}

static void test_mremap_carries_pages(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	fault_pages(w, 1, BASE, 10);
	SCRIPT_CALL(&w->script, CALL_MREMAP, 1, BASE + HUGE_PAGE, BASE, 10 * PAGE, 20 * PAGE,
	            MREMAP_MAYMOVE);
	fault_pages(w, 1, BASE + HUGE_PAGE, 20);
	peak_is(w, 20);
}

static void test_populate_counts_all(void **state)
{
	map_flags(*state, 1, BASE, 10 * PAGE, PRIVATE | MAP_POPULATE);
	peak_is(*state, 10);
}

static void test_mlock_counts_all(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	SCRIPT_CALL(&w->script, CALL_MLOCK, 1, 0, BASE, 10 * PAGE);
	peak_is(w, 10);
}

static void test_mlockall_future_counts_later_mappings(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_MLOCKALL, 1, 0, MCL_FUTURE);
	map(w, 1, BASE, 10 * PAGE);
	peak_is(w, 10);
}

static void test_brk_makes_and_frees_heap(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1000000, 0);
	for (unsigned i = 0; i < 2; i++) {
		SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1000000 + 10 * PAGE, 0x1000000 + 10 * PAGE);
		fault_pages(w, 1, 0x1000000, 10);
		SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1000000, 0x1000000);
	}
	peak_is(w, 10);
}

static void test_exit_frees(void **state)
{
	struct world *w = *state;

	for (uint32_t id = 1; id < 3; id++) {
		map(w, id, BASE, 10 * PAGE);
		fault_pages(w, id, BASE, 10);
		script_event(&w->script, EVENT_EXIT, id, 1, 0);
	}
	peak_is(w, 10);
}

static void test_exec_frees(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 2; i++) {
		map(w, 1, BASE, 10 * PAGE);
		fault_pages(w, 1, BASE, 10);
		script_event(&w->script, EVENT_EXEC, 1, 1, 0);
	}
	peak_is(w, 10);
}

static void test_spaces_at_once_add_up(void **state)
{
	for (uint32_t id = 1; id < 4; id++) {
		map(*state, id, BASE, 10 * PAGE);
		fault_pages(*state, id, BASE, 10);
	}
	peak_is(*state, 30);
}

static void test_fork_counts_what_the_child_writes(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	fault_pages(w, 1, BASE, 10);
	script_event(&w->script, EVENT_NEWTASK, 1, 2, 0);
	fault(w, 2, BASE, WRITE | FAULT_PRESENT);
	fault(w, 2, BASE + PAGE, WRITE | FAULT_PRESENT);
	peak_is(w, 12);
}

static void test_pages_stay_with_a_child_that_outlives_its_parent(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	fault_pages(w, 1, BASE, 10);
	script_event(&w->script, EVENT_NEWTASK, 1, 2, 0);
	script_event(&w->script, EVENT_EXIT, 1, 1, 0);
	map(w, 2, BASE + HUGE_PAGE, 10 * PAGE);
	fault_pages(w, 2, BASE + HUGE_PAGE, 5);
	peak_is(w, 15);
}

static void test_threads_share_pages(void **state)
{
	struct world *w = *state;

	map(w, 1, BASE, 10 * PAGE);
	script_event(&w->script, EVENT_NEWTASK, 1, 2, CLONE_VM | CLONE_THREAD | CLONE_FILES);
	fault_pages(w, 1, BASE, 10);
	fault_pages(w, 2, BASE, 10);
	peak_is(w, 10);
}

static void test_huge_page_counts_whole_when_always(void **state)
{
	set(*state, META_THP, "always");
	map(*state, 1, BASE, 2 * HUGE_PAGE);
	fault(*state, 1, BASE, WRITE);
	peak_is(*state, 512);
}

static void test_no_huge_page_over_the_edge_of_a_region(void **state)
{
	set(*state, META_THP, "always");
	map(*state, 1, BASE + PAGE, HUGE_PAGE);
	fault(*state, 1, BASE + PAGE, WRITE);
	peak_is(*state, 1);
}

static void test_no_huge_page_beside_a_small_one(void **state)
{
	struct world *w = *state;

	set(w, META_THP, "always");
	map(w, 1, BASE, HUGE_PAGE);
	fault(w, 1, BASE, WRITE);
	SCRIPT_CALL(&w->script, CALL_MADVISE, 1, 0, BASE, 511 * PAGE, MADV_DONTNEED);
	fault(w, 1, BASE, WRITE);
	peak_is(w, 512);
	assert_int_equal(w->survey->space[0].peak_pages, 512);
}

static void test_madvise_mode_needs_the_advice(void **state)
{
	struct world *w = *state;

	set(w, META_THP, "madvise");
	map(w, 1, BASE, 2 * HUGE_PAGE);
	SCRIPT_CALL(&w->script, CALL_MADVISE, 1, 0, BASE, HUGE_PAGE, MADV_HUGEPAGE);
	fault(w, 1, BASE, WRITE);
	fault(w, 1, BASE + HUGE_PAGE, WRITE);
	peak_is(w, 513);
}

static void test_stacks_are_small_since_67(void **state)
{
	set(*state, META_THP, "always");
	set(*state, META_KERNEL, "6.18.0");
	map_flags(*state, 1, BASE, HUGE_PAGE, PRIVATE | MAP_STACK);
	fault(*state, 1, BASE, WRITE);
	peak_is(*state, 1);
}

static void test_file_pages_count_once(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_OPENAT, 1, 3, 0);
	map_file(w, 1, BASE, 100 * PAGE, MAP_SHARED, 3);
	map_file(w, 1, BASE + HUGE_PAGE, 100 * PAGE, MAP_SHARED, 3);
	fault(w, 1, BASE + 20 * PAGE, READ);
	fault(w, 1, BASE + HUGE_PAGE + 21 * PAGE, WRITE);
	peak_is(w, 16); /* one window */
}

static void test_private_file_write_adds_a_copy(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_OPENAT, 1, 3, 0);
	map_file(w, 1, BASE, 16 * PAGE, MAP_PRIVATE, 3);
	fault(w, 1, BASE, WRITE);
	peak_is(w, 17);
}

static void test_file_pages_outlive_the_mapping(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_OPENAT, 1, 3, 0);
	map_file(w, 1, BASE, 16 * PAGE, MAP_SHARED, 3);
	fault(w, 1, BASE, READ);
	SCRIPT_CALL(&w->script, CALL_MUNMAP, 1, 0, BASE, 16 * PAGE);
	map(w, 1, BASE, 10 * PAGE);
	fault_pages(w, 1, BASE, 10);
	peak_is(w, 26);
}

static void test_mappings_read_after_exec_are_known(void **state)
{
	struct world *w = *state;
	struct trace_map text = { .start = BASE,
		                  .end = BASE + 16 * PAGE,
		                  .file = 77,
		                  .prot = PROT_READ | PROT_EXEC,
		                  .kind = MAP_KIND_FILE };

	w->maps[0] = (struct trace_maps){ .time = 0, .process = 1, .count = 1, .maps = &text };
	w->map_count = 1;
	script_event(&w->script, EVENT_EXEC, 1, 1, 0);
	fault(w, 1, BASE, READ);
	peak_is(w, 16);
}

#define SURVEY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SURVEY_TEST(test_written_pages_count),
		SURVEY_TEST(test_zero_pages_do_not_count),
		SURVEY_TEST(test_read_pages_count_without_a_zero_page),
		SURVEY_TEST(test_peak_is_the_most_at_once),
		SURVEY_TEST(test_unmap_frees),
		SURVEY_TEST(test_failed_unmap_frees_nothing),
		SURVEY_TEST(test_mremap_carries_pages),
		SURVEY_TEST(test_populate_counts_all),
		SURVEY_TEST(test_mlock_counts_all),
		SURVEY_TEST(test_mlockall_future_counts_later_mappings),
		SURVEY_TEST(test_brk_makes_and_frees_heap),
		SURVEY_TEST(test_exit_frees),
		SURVEY_TEST(test_exec_frees),
		SURVEY_TEST(test_spaces_at_once_add_up),
		SURVEY_TEST(test_fork_counts_what_the_child_writes),
		SURVEY_TEST(test_pages_stay_with_a_child_that_outlives_its_parent),
		SURVEY_TEST(test_threads_share_pages),
		SURVEY_TEST(test_huge_page_counts_whole_when_always),
		SURVEY_TEST(test_no_huge_page_over_the_edge_of_a_region),
		SURVEY_TEST(test_no_huge_page_beside_a_small_one),
		SURVEY_TEST(test_madvise_mode_needs_the_advice),
		SURVEY_TEST(test_stacks_are_small_since_67),
		SURVEY_TEST(test_file_pages_count_once),
		SURVEY_TEST(test_private_file_write_adds_a_copy),
		SURVEY_TEST(test_file_pages_outlive_the_mapping),
		SURVEY_TEST(test_mappings_read_after_exec_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
