/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fork, vfork, exec, exit and waiting for children; refusals that concern tasks. */

#include "tests/unit/compile_sample.h"

#define PREPARE(s, task) EVENT(s, task, EVENT_PREPARE_EXEC, 0)

static void test_fork_copies_and_wait_binds(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	FORK(&s, 7, 8);
	WRITE(&s, 8, BASE);
	EXIT(&s, 8);
	LEAVE(&s, 7, WAIT4, 8);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 2000 /3; clone 1; wait4 1; touch 0 /1");
	expect(&s, 1, "touch 0 /1; exit");
	assert_int_equal(plan_task(&s, 1)->parent, 0);
	assert_int_equal(plan_task(&s, 1)->space, plan_task(&s, 0)->space);
	assert_int_equal(s.plan.header->space_count, 1);
}

static void test_waitid_binds_only_without_doubt(void **state)
{
	SCRIPT;

	script_begin(&s);
	FORK(&s, 7, 8);
	FORK(&s, 7, 9);
	EXIT(&s, 8);
	LEAVE(&s, 7, WAITID, 0); /* only 8 has ended */
	EXIT(&s, 9);
	LEAVE(&s, 7, WAIT4, 4711); /* an id of another PID namespace */
	LEAVE(&s, 7, WAIT4, 0);
	LEAVE(&s, 7, WAIT4, -ECHILD);
	compile_well(&s);
	expect(&s, 0, "clone 1; clone 2; wait4 1; wait4 2");
}

static void test_wait_without_a_known_child_is_left_out(void **state)
{
	SCRIPT;

	script_begin(&s);
	FORK(&s, 7, 8);
	FORK(&s, 7, 9);
	EXIT(&s, 8);
	EXIT(&s, 9);
	LEAVE(&s, 7, WAITID, 0);
	compile_well(&s);
	expect(&s, 0, "clone 1; clone 2");
	assert_int_equal(counts(&s)->skipped, 1);
}

static void test_exec_starts_a_space(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	PREPARE(&s, 7);
	EVENT(&s, 7, EVENT_FAULT_KERNEL, BASE + 9 * PAGE, FAULT_WRITE); /* the new stack */
	EXEC(&s, 7);
	WRITE(&s, 7, BASE + PAGE);
	MAP(&s, 7, BASE, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; exec 1; touch 9000 /1; touch 1000 /1; mmap 0 1000 /3");
	assert_int_equal(s.plan.header->space_count, 2);
	assert_int_equal(plan_space(&s, 0)->map_count, 0);
	assert_int_equal(plan_space(&s, 1)->map_count, 1);
}

static void test_failed_exec_leaves_faults_to_the_old_space(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	PREPARE(&s, 7);
	ENTER(&s, 7, EXECVE, 0);
	WRITE(&s, 7, BASE);
	LEAVE(&s, 7, EXECVE, -ENOEXEC);
	UNMAP(&s, 7, BASE, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; touch 0 /1; munmap 0 1000");
}

static void test_exec_waits_for_the_other_threads(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	THREAD(&s, 7, 8);
	WRITE(&s, 8, BASE);
	PREPARE(&s, 7);
	EXIT(&s, 8);
	EXEC(&s, 7);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; clone 1; wait 1:2; exec 1; touch 0 /1");
	expect(&s, 1, "touch 0 /1; exit");
}

static void test_exec_by_a_thread(void **state)
{
	SCRIPT;

	script_begin(&s);
	FORK(&s, 6, 7);
	THREAD(&s, 7, 8);
	PREPARE(&s, 8);
	EVENT(&s, 7, EVENT_EXIT, 0);
	EVENT(&s, 7, EVENT_EXEC, 8); /* 8 goes on as 7 */
	WRITE(&s, 7, BASE);
	EXIT(&s, 7);
	LEAVE(&s, 6, WAIT4, 7);
	compile_well(&s);
	expect(&s, 0, "clone 1; wait4 1");
	expect(&s, 1, "clone 2; exit");
	expect(&s, 2, "wait 1:2; exec 1; touch 0 /1; exit");
	assert_int_equal(plan_task(&s, 2)->process, 1);
}

static void test_vfork_shares_until_exec(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	VFORK(&s, 7, 8);
	WRITE(&s, 8, BASE);
	PREPARE(&s, 8);
	EXEC(&s, 8);
	UNMAP(&s, 7, BASE, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 2000 /3; clone 1; wait 1:1; munmap 0 1000");
	expect(&s, 1, "touch 0 /1; exec 1");
	assert_int_equal(plan_task(&s, 1)->clone_flags, 0x4100);
}

/* The kernel wakes the parent before the child's exec event. */
static void test_vfork_parent_that_is_early(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	VFORK(&s, 7, 8);
	PREPARE(&s, 8);
	WRITE(&s, 7, BASE);
	WRITE(&s, 8, BASE + PAGE); /* of the new space */
	EXEC(&s, 8);
	WRITE(&s, 8, BASE + 2 * PAGE);
	s.options.order = ORDER_SERIAL;
	compile_well(&s);
	expect(&s, 0, "mmap 0 2000 /3; clone 1; wait 1:1; touch 0 /1");
	expect(&s, 1, "exec 1; wait 0:3; touch run 1000 2x1 /1");
}

static void test_vfork_parent_goes_on_without_a_sign(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	VFORK(&s, 7, 8);
	WRITE(&s, 7, BASE);
	WRITE(&s, 8, BASE);
	EXIT(&s, 8);
	compile_well(&s);
	expect(&s, 0, "mmap 0 2000 /3; clone 1; touch 0 /1");
	assert_int_equal(plan_task(&s, 1)->clone_flags, 0x100); /* no vfork any more */
}

static void test_vfork_parent_killed_while_it_waits(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	VFORK(&s, 7, 8);
	EXIT(&s, 7);
	WRITE(&s, 8, BASE);
	EXIT(&s, 8);
	s.options.order = ORDER_SERIAL;
	compile_well(&s);
	expect(&s, 0, "mmap 0 2000 /3; clone 1; wait 1:2; exit");
	expect(&s, 1, "touch 0 /1; exit");
}

static void test_fork_waits_for_threads_that_are_gone(void **state)
{
	SCRIPT;

	script_begin(&s);
	THREAD(&s, 7, 8);
	MAP(&s, 8, BASE, PAGE);
	EXIT(&s, 8);
	FORK(&s, 7, 9);
	WRITE(&s, 9, BASE);
	compile_well(&s);
	expect(&s, 0, "clone 1; wait 1:2; clone 2");
	expect(&s, 2, "touch 0 /1");
}

static void test_dontfork_memory_is_not_in_the_child(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, MADVISE, 0, BASE, PAGE, MADV_DONTFORK);
	FORK(&s, 7, 8);
	WRITE(&s, 8, BASE);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 1, "touch 0 /1 E14");
	expect(&s, 0, "mmap 0 1000 /3; madvise 0 1000 /10; clone 1; touch 0 /1");
}

static void test_roots_come_first(void **state)
{
	SCRIPT;

	script_begin(&s);
	FORK(&s, 7, 8);
	WRITE(&s, 9, BASE);
	compile_well(&s);
	assert_int_equal(s.plan.header->root_count, 2);
	assert_int_equal(plan_task(&s, 1)->recorded_id, 9);
	assert_int_equal(plan_task(&s, 2)->recorded_id, 8);
}

static void test_too_many_tasks_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (uint32_t i = 0; i < 20; i++)
		FORK(&s, 7 + i, 8 + i);
	s.options.max_tasks = 20;
	assert_int_equal(script_compile(&s), -E2BIG);
	s.options.max_tasks = 21;
	compile_well(&s);
	assert_int_equal(counts(&s)->peak_tasks, 21);
}

static void test_nothing_to_replay(void **state)
{
	SCRIPT;

	script_begin(&s);
	ENTER(&s, 7, MUNMAP, BASE, PAGE);
	assert_int_equal(script_compile(&s), -ENODATA);
}

static void test_other_page_sizes_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	assert_int_equal(trace_meta_set_u64(s.meta, META_PAGE_SIZE, 65536), 0);
	MAP(&s, 7, BASE, 65536);
	assert_int_equal(script_compile(&s), -EINVAL);
}

static void test_loss_needs_a_word(void **state)
{
	struct trace_loss loss = { .events = 3, .from = 1, .to = 2, .reason = LOSS_RING };
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	assert_int_equal(trace_writer_loss(s.writer, &loss), 0);
	assert_int_equal(script_compile(&s), -EINVAL);
	s.options.incomplete = true;
	compile_well(&s);
	assert_int_equal(counts(&s)->lost, 3);
}

static void test_large_plans_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (uint64_t i = 0; i < 100; i++)
		MAP(&s, 7, BASE + i * PAGE, PAGE);
	s.options.max_plan_bytes = 2000;
	assert_int_equal(script_compile(&s), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fork_copies_and_wait_binds),
		cmocka_unit_test(test_waitid_binds_only_without_doubt),
		cmocka_unit_test(test_wait_without_a_known_child_is_left_out),
		cmocka_unit_test(test_exec_starts_a_space),
		cmocka_unit_test(test_failed_exec_leaves_faults_to_the_old_space),
		cmocka_unit_test(test_exec_waits_for_the_other_threads),
		cmocka_unit_test(test_exec_by_a_thread),
		cmocka_unit_test(test_vfork_shares_until_exec),
		cmocka_unit_test(test_vfork_parent_that_is_early),
		cmocka_unit_test(test_vfork_parent_goes_on_without_a_sign),
		cmocka_unit_test(test_vfork_parent_killed_while_it_waits),
		cmocka_unit_test(test_fork_waits_for_threads_that_are_gone),
		cmocka_unit_test(test_dontfork_memory_is_not_in_the_child),
		cmocka_unit_test(test_roots_come_first),
		cmocka_unit_test(test_too_many_tasks_are_refused),
		cmocka_unit_test(test_nothing_to_replay),
		cmocka_unit_test(test_other_page_sizes_are_refused),
		cmocka_unit_test(test_loss_needs_a_word),
		cmocka_unit_test(test_large_plans_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
