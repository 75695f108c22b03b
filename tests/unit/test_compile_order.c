/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the `deps` order waits for, each rule on and off, and the `serial` order. */

#include "tests/unit/compile_sample.h"

/* Task 7 with a thread 8 on a mapping of 16 pages. */
static void begin_two(struct script *s)
{
	script_begin(s);
	MAP(s, 7, BASE, 16 * PAGE);
	THREAD(s, 7, 8);
}

static void test_child_knows_what_came_before_it(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1");
	expect(&s, 1, "touch 0 /1");
}

static void test_use_waits_for_map(void **state)
{
	SCRIPT;

	begin_two(&s);
	MAP(&s, 7, BASE + 16 * PAGE, PAGE);
	WRITE(&s, 8, BASE + 16 * PAGE);
	compile_well(&s);
	expect(&s, 1, "wait 0:3; touch 10000 /1");
	s.options.rules &= ~RULE_USE_AFTER_MAP;
	compile_well(&s);
	expect(&s, 1, "touch 10000 /1");
}

static void test_unmap_waits_for_users(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	WRITE(&s, 8, BASE + 9 * PAGE);
	UNMAP(&s, 7, BASE, 2 * PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; munmap 0 2000");
	s.options.rules &= ~RULE_UNMAP_AFTER_USE;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; munmap 0 2000");
}

static void test_map_waits_for_unmap(void **state)
{
	SCRIPT;

	begin_two(&s);
	UNMAP(&s, 7, BASE, 16 * PAGE);
	MAP(&s, 8, BASE + PAGE, PAGE);
	compile_well(&s);
	expect(&s, 1, "wait 0:3; mmap 1000 1000 /3");
	s.options.rules &= ~RULE_MAP_AFTER_UNMAP;
	compile_well(&s);
	expect(&s, 1, "mmap 1000 1000 /3");
}

static void test_overlapping_unmap_comes_before_map(void **state)
{
	SCRIPT;

	begin_two(&s);
	ENTER(&s, 7, MUNMAP, BASE, 16 * PAGE);
	MAP(&s, 8, BASE + PAGE, PAGE);
	WRITE(&s, 8, BASE + PAGE);
	LEAVE(&s, 7, MUNMAP, 0);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; munmap 0 10000");
	expect(&s, 1, "wait 0:3; mmap 1000 1000 /3; touch 1000 /1");
}

static void test_fault_inside_unmap_came_first(void **state)
{
	SCRIPT;

	begin_two(&s);
	ENTER(&s, 7, MUNMAP, BASE, 16 * PAGE);
	WRITE(&s, 8, BASE + PAGE);
	LEAVE(&s, 7, MUNMAP, 0);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; munmap 0 10000");
	expect(&s, 1, "touch 1000 /1");
	s.options.rules &= ~RULE_FAULT_BEFORE_UNMAP;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; munmap 0 10000");
	expect(&s, 1, "wait 0:3; touch 1000 /1");
}

static void test_protect_both_ways(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	CALL(&s, 7, MPROTECT, 0, BASE, PAGE, PROT_READ);
	READ(&s, 8, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; mprotect 0 1000 /1");
	expect(&s, 1, "touch 0 /1; wait 0:3; touch 0");
	s.options.rules &= ~RULE_PROTECT;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; mprotect 0 1000 /1");
	expect(&s, 1, "touch 0 /1; touch 0");
}

static void test_contents_both_ways(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	CALL(&s, 7, MADVISE, 0, BASE, PAGE, MADV_DONTNEED);
	WRITE(&s, 8, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; madvise 0 1000 /4");
	expect(&s, 1, "touch 0 /1; wait 0:3; touch 0 /1");
	s.options.rules &= ~RULE_CONTENTS;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; madvise 0 1000 /4");
	expect(&s, 1, "touch 0 /1; touch 0 /1");
}

static void test_fork_is_a_barrier(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	FORK(&s, 7, 9);
	WRITE(&s, 8, BASE + PAGE);
	WRITE(&s, 9, BASE + 2 * PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; clone 2");
	expect(&s, 1, "touch 0 /1; wait 0:3; touch 1000 /1");
	expect(&s, 2, "touch 2000 /1");
	s.options.rules &= ~RULE_FORK;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; clone 2");
	expect(&s, 1, "touch run 0 2x1 /1");
}

static void test_users_do_not_wait_for_users(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	WRITE(&s, 7, BASE);
	CALL(&s, 8, MADVISE, 0, BASE, PAGE, MADV_WILLNEED);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; touch 0 /1; touch 0 /1");
	expect(&s, 1, "touch 0 /1; madvise 0 1000 /3");
}

static void test_unmap_waits_for_range_uses(void **state)
{
	SCRIPT;

	begin_two(&s);
	CALL(&s, 8, MADVISE, 0, BASE, 2 * PAGE, MADV_WILLNEED);
	UNMAP(&s, 7, BASE + PAGE, PAGE);
	UNMAP(&s, 7, BASE + 2 * PAGE, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; munmap 1000 1000; munmap 2000 1000");
}

static void test_waits_are_made_once(void **state)
{
	SCRIPT;

	begin_two(&s);
	MAP(&s, 7, BASE + 16 * PAGE, PAGE);
	MAP(&s, 7, BASE + 17 * PAGE, PAGE);
	WRITE(&s, 8, BASE + 17 * PAGE);
	WRITE(&s, 8, BASE + 16 * PAGE);
	compile_well(&s);
	expect(&s, 1, "wait 0:4; touch 11000 /1; touch 10000 /1");
	assert_int_equal(counts(&s)->waits, 1);
}

static void test_separate_ranges_do_not_wait(void **state)
{
	SCRIPT;

	begin_two(&s);
	UNMAP(&s, 7, BASE, PAGE);
	WRITE(&s, 8, BASE + PAGE);
	UNMAP(&s, 7, BASE + 2 * PAGE, PAGE);
	compile_well(&s);
	assert_int_equal(counts(&s)->waits, 0);
}

static void test_serial_waits_for_the_one_before(void **state)
{
	SCRIPT;

	begin_two(&s);
	WRITE(&s, 8, BASE);
	WRITE(&s, 8, BASE + PAGE);
	WRITE(&s, 7, BASE + 2 * PAGE);
	WRITE(&s, 8, BASE + 3 * PAGE);
	s.options.order = ORDER_SERIAL;
	compile_well(&s);
	expect(&s, 0, "mmap 0 10000 /3; clone 1; wait 1:1; touch 2000 /1");
	expect(&s, 1, "touch run 0 2x1 /1; wait 0:3; touch 3000 /1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child_knows_what_came_before_it),
		cmocka_unit_test(test_use_waits_for_map),
		cmocka_unit_test(test_unmap_waits_for_users),
		cmocka_unit_test(test_map_waits_for_unmap),
		cmocka_unit_test(test_overlapping_unmap_comes_before_map),
		cmocka_unit_test(test_fault_inside_unmap_came_first),
		cmocka_unit_test(test_protect_both_ways),
		cmocka_unit_test(test_contents_both_ways),
		cmocka_unit_test(test_fork_is_a_barrier),
		cmocka_unit_test(test_users_do_not_wait_for_users),
		cmocka_unit_test(test_unmap_waits_for_range_uses),
		cmocka_unit_test(test_waits_are_made_once),
		cmocka_unit_test(test_separate_ranges_do_not_wait),
		cmocka_unit_test(test_serial_waits_for_the_one_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
