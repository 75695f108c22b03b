/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks, processes, spaces and descriptor tables. */

#include <linux/sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "traces/lineage.h"

#define THREAD_FLAGS (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)
#define VFORK_FLAGS (CLONE_VM | CLONE_VFORK)

static uint64_t now;

static int setup(void **state)
{
	struct lineage *l;

	if (lineage_new(&l) < 0)
		return -1;
	now = 0;
	*state = l;
	return 0;
}

static int setup_612(void **state)
{
	int r = setup(state);

	lineage_set_kernel(*state, "6.12.3-cloud");
	return r;
}

static int setup_61(void **state)
{
	int r = setup(state);

	lineage_set_kernel(*state, "6.1.0-30");
	return r;
}

static int teardown(void **state)
{
	lineage_free(*state);
	return 0;
}

static const struct lineage_task *event(struct lineage *l, unsigned kind, uint32_t id, uint64_t a,
                                        uint64_t b)
{
	const struct event e = {
		.time = ++now, .arg = { a, b }, .task = id, .kind = (uint16_t)kind
	};
	uint32_t task;

	assert_int_equal(lineage_event(l, &e, &task), 0);
	return lineage_task(l, task);
}

static const struct lineage_task *newtask(struct lineage *l, uint32_t id, uint32_t child,
                                          uint64_t flags)
{
	event(l, EVENT_NEWTASK, id, child, flags);
	assert_int_not_equal(lineage_find(l, child), LINEAGE_NONE);
	return lineage_task(l, lineage_find(l, child));
}

static uint32_t fault_space(struct lineage *l, uint32_t id)
{
	event(l, EVENT_FAULT_USER, id, 0x1000, 0);
	return lineage_fault_space(l, lineage_find_last(l, id));
}

static void test_first_event_makes_a_root(void **state)
{
	const struct lineage_task *t = event(*state, EVENT_ENTER(CALL_MMAP), 100, 0, 0);

	assert_true(t->assumed);
	assert_int_equal(t->parent, LINEAGE_NONE);
	assert_int_equal(lineage_tasks(*state), 1);
	assert_int_equal(lineage_space(*state, t->space)->origin, SPACE_OF_ROOT);
}

static void test_fork_copies_space_and_files(void **state)
{
	const struct lineage_task *child = newtask(*state, 100, 101, 0);

	assert_int_equal(child->parent, 0);
	assert_int_equal(child->process, 1);
	assert_int_equal(child->space, 1);
	assert_int_equal(lineage_space(*state, 1)->from, 0);
	assert_int_equal(lineage_files(*state, child->files)->from, 0);
	assert_false(child->assumed);
}

static void test_thread_shares_all(void **state)
{
	const struct lineage_task *child = newtask(*state, 100, 101, THREAD_FLAGS);

	assert_int_equal(child->process, 0);
	assert_int_equal(child->space, 0);
	assert_int_equal(child->files, 0);
	assert_int_equal(lineage_space(*state, 0)->users, 2);
}

static void test_vfork_shares_the_space_until_exec(void **state)
{
	assert_int_equal(newtask(*state, 100, 101, VFORK_FLAGS)->space, 0);
	event(*state, EVENT_EXEC, 101, 101, 0);
	assert_int_not_equal(lineage_task(*state, 1)->space, 0);
	assert_int_equal(lineage_space(*state, 0)->users, 1);
}

static void test_vfork_keeps_its_own_process(void **state)
{
	assert_int_equal(newtask(*state, 100, 101, VFORK_FLAGS)->process, 1);
}

static void test_exit_ends_the_task(void **state)
{
	event(*state, EVENT_EXIT, 100, 1, 0);
	assert_int_equal(lineage_find(*state, 100), LINEAGE_NONE);
	assert_int_equal(lineage_find_last(*state, 100), 0);
	assert_int_equal(lineage_space(*state, 0)->users, 0);
	assert_int_equal(lineage_counts(*state)->alive, 0);
}

static void test_fault_after_exit_stays_the_tasks(void **state)
{
	event(*state, EVENT_EXIT, 100, 1, 0);
	event(*state, EVENT_FAULT_KERNEL, 100, 0x1000, 0);
	assert_int_equal(lineage_tasks(*state), 1);
	assert_int_equal(lineage_counts(*state)->late, 1);
}

static void test_id_is_used_again(void **state)
{
	newtask(*state, 100, 101, 0);
	event(*state, EVENT_EXIT, 101, 1, 0);
	newtask(*state, 100, 101, 0);
	assert_int_equal(lineage_tasks(*state), 3);
	assert_int_equal(lineage_find(*state, 101), 2);
	assert_int_equal(lineage_counts(*state)->reborn, 0);
}

static void test_id_used_again_without_an_exit_ends_the_old_task(void **state)
{
	newtask(*state, 100, 101, 0);
	newtask(*state, 100, 101, 0);
	assert_int_equal(lineage_counts(*state)->reborn, 1);
	assert_int_not_equal(lineage_task(*state, 1)->died, UINT64_MAX);
}

static void test_exec_starts_a_space(void **state)
{
	event(*state, EVENT_EXEC, 100, 100, 0);
	assert_int_equal(lineage_task(*state, 0)->space, 1);
	assert_int_equal(lineage_space(*state, 1)->origin, SPACE_OF_EXEC);
	assert_int_equal(lineage_space(*state, 1)->from, 0);
	assert_int_equal(lineage_space(*state, 0)->users, 0);
}

static void test_exec_of_a_thread_takes_the_leaders_id(void **state)
{
	newtask(*state, 100, 101, THREAD_FLAGS);
	newtask(*state, 100, 102, THREAD_FLAGS);
	event(*state, EVENT_EXIT, 100, 0, 0);
	event(*state, EVENT_EXEC, 100, 101, 0);
	assert_int_equal(lineage_find(*state, 100), 1);
	assert_int_equal(lineage_find_last(*state, 101), LINEAGE_NONE);
	assert_int_equal(lineage_task(*state, 1)->process, 1);
}

static void test_exec_ends_the_other_threads(void **state)
{
	newtask(*state, 100, 101, THREAD_FLAGS);
	newtask(*state, 100, 102, THREAD_FLAGS);
	event(*state, EVENT_EXEC, 100, 101, 0);
	assert_int_equal(lineage_find(*state, 102), LINEAGE_NONE);
	assert_int_equal(lineage_counts(*state)->alive, 1);
}

static void test_exec_leaves_other_processes_alone(void **state)
{
	newtask(*state, 100, 101, 0);
	event(*state, EVENT_EXEC, 100, 100, 0);
	assert_int_equal(lineage_find(*state, 101), 1);
}

static void test_exec_leaves_a_shared_file_table(void **state)
{
	assert_int_equal(newtask(*state, 100, 101, CLONE_FILES)->files, 0);
	event(*state, EVENT_EXEC, 101, 101, 0);
	assert_int_equal(lineage_task(*state, 1)->files, 1);
	assert_int_equal(lineage_files(*state, 1)->from, 0);
}

static void test_faults_after_prepare_exec_are_the_new_spaces(void **state)
{
	uint32_t space;

	event(*state, EVENT_ENTER(CALL_EXECVE), 100, 0, 0);
	assert_int_equal(fault_space(*state, 100), 0);
	event(*state, EVENT_PREPARE_EXEC, 100, 0, 0);
	space = fault_space(*state, 100);
	assert_int_equal(space, 1);
	event(*state, EVENT_EXEC, 100, 100, 0);
	assert_int_equal(lineage_task(*state, 0)->space, space);
	assert_int_equal(fault_space(*state, 100), space);
}

static void test_faults_after_execve_are_the_new_spaces_before_610(void **state)
{
	uint32_t space;

	event(*state, EVENT_ENTER(CALL_EXECVE), 100, 0, 0);
	space = fault_space(*state, 100);
	assert_int_equal(space, 1);
	event(*state, EVENT_EXEC, 100, 100, 0);
	assert_int_equal(lineage_task(*state, 0)->space, space);
}

static void test_failed_exec_goes_back(void **state)
{
	event(*state, EVENT_ENTER(CALL_EXECVE), 100, 0, 0);
	event(*state, EVENT_LEAVE(CALL_EXECVE), 100, (uint64_t)-2, 0);
	assert_int_equal(fault_space(*state, 100), 0);
	assert_int_equal(lineage_counts(*state)->failed_execs, 1);
}

static void test_failed_execs_make_no_spaces(void **state)
{
	for (unsigned i = 0; i < 5; i++) {
		event(*state, EVENT_ENTER(CALL_EXECVE), 100, 0, 0);
		event(*state, EVENT_LEAVE(CALL_EXECVE), 100, (uint64_t)-2, 0);
	}
	assert_int_equal(lineage_spaces(*state), 1);
}

static void test_unshare_copies_a_shared_table_only(void **state)
{
	assert_int_equal(lineage_file_tables(*state), 0);
	newtask(*state, 100, 101, THREAD_FLAGS);
	assert_int_equal(lineage_unshare_files(*state, 1), 0);
	assert_int_equal(lineage_unshare_files(*state, 1), 0);
	assert_int_equal(lineage_file_tables(*state), 2);
	assert_int_equal(lineage_task(*state, 1)->files, 1);
	assert_int_equal(lineage_task(*state, 0)->files, 0);
}

static void test_peak_of_tasks(void **state)
{
	newtask(*state, 100, 101, 0);
	newtask(*state, 100, 102, 0);
	event(*state, EVENT_EXIT, 101, 1, 0);
	assert_int_equal(lineage_counts(*state)->alive, 2);
	assert_int_equal(lineage_counts(*state)->alive_peak, 3);
}

/* What must hold whatever came: users are counted right, the index finds the living. */
static void check_invariants(const struct lineage *l)
{
	size_t spaces = lineage_spaces(l), files = lineage_file_tables(l), alive = 0;
	uint32_t *space_users = calloc(spaces, sizeof(uint32_t));
	uint32_t *file_users = calloc(files, sizeof(uint32_t));

	for (uint32_t i = 0; i < lineage_tasks(l); i++) {
		const struct lineage_task *t = lineage_task(l, i);

		if (t->died != UINT64_MAX)
			continue;
		alive++;
		space_users[t->space]++;
		file_users[t->files]++;
		assert_int_equal(lineage_find(l, t->id), i);
	}
	for (uint32_t i = 0; i < spaces; i++)
		assert_int_equal(lineage_space(l, i)->users, space_users[i]);
	for (uint32_t i = 0; i < files; i++)
		assert_int_equal(lineage_files(l, i)->users, file_users[i]);
	assert_int_equal(lineage_counts(l)->alive, alive);
	free(space_users);
	free(file_users);
}

static void test_any_order_of_events_is_survived(void **state)
{
	static const uint16_t kinds[] = {
		EVENT_FAULT_USER,
		EVENT_NEWTASK,
		EVENT_PREPARE_EXEC,
		EVENT_EXEC,
		EVENT_EXIT,
		EVENT_ENTER(CALL_EXECVE),
		EVENT_LEAVE(CALL_EXECVE),
		EVENT_ENTER(CALL_MMAP),
		EVENT_LEAVE(CALL_MMAP),
	};

	srandom(1);
	for (unsigned i = 0; i < 20000; i++) {
		static const uint64_t flags[] = { 0, THREAD_FLAGS, VFORK_FLAGS, CLONE_FILES };
		uint16_t kind = kinds[(size_t)random() % (sizeof(kinds) / sizeof(kinds[0]))];
		uint64_t a = kind == EVENT_LEAVE(CALL_EXECVE) ? (uint64_t) - (random() % 2)
		                                              : (uint64_t)random() % 30;

		event(*state, kind, (uint32_t)random() % 30, a, flags[random() % 4]);
		if (i % 64 == 0)
			check_invariants(*state);
	}
}

#define LINEAGE_TEST(name) cmocka_unit_test_setup_teardown(name, setup_612, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LINEAGE_TEST(test_first_event_makes_a_root),
		LINEAGE_TEST(test_fork_copies_space_and_files),
		LINEAGE_TEST(test_thread_shares_all),
		LINEAGE_TEST(test_vfork_shares_the_space_until_exec),
		LINEAGE_TEST(test_vfork_keeps_its_own_process),
		LINEAGE_TEST(test_exit_ends_the_task),
		LINEAGE_TEST(test_fault_after_exit_stays_the_tasks),
		LINEAGE_TEST(test_id_is_used_again),
		LINEAGE_TEST(test_id_used_again_without_an_exit_ends_the_old_task),
		LINEAGE_TEST(test_exec_starts_a_space),
		LINEAGE_TEST(test_exec_of_a_thread_takes_the_leaders_id),
		LINEAGE_TEST(test_exec_ends_the_other_threads),
		LINEAGE_TEST(test_exec_leaves_other_processes_alone),
		LINEAGE_TEST(test_exec_leaves_a_shared_file_table),
		LINEAGE_TEST(test_faults_after_prepare_exec_are_the_new_spaces),
		cmocka_unit_test_setup_teardown(
			test_faults_after_execve_are_the_new_spaces_before_610, setup_61, teardown),
		cmocka_unit_test_setup_teardown(test_failed_exec_goes_back, setup_61, teardown),
		cmocka_unit_test_setup_teardown(test_failed_execs_make_no_spaces, setup_61,
		                                teardown),
		LINEAGE_TEST(test_unshare_copies_a_shared_table_only),
		LINEAGE_TEST(test_peak_of_tasks),
		LINEAGE_TEST(test_any_order_of_events_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
