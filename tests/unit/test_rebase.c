/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rebasing: who shares a shift, what stays, what moves. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "capture/rebase.h"

#define HIGH 0x7f1234567000ULL
#define LOW 0x400000ULL

static int setup(void **state)
{
	return rebase_new((struct rebase **)state, false);
}

static int teardown(void **state)
{
	rebase_free(*state);
	return 0;
}

static void give(struct rebase *r, unsigned kind, uint32_t task, uint64_t a, uint64_t b)
{
	struct event e = { .kind = (uint16_t)kind, .task = task, .arg = { a, b } };

	assert_int_equal(rebase_event(r, &e, true), 0);
}

static void test_moves_by_whole_gib(void **state)
{
	uint64_t to = rebase_address(*state, 10, HIGH);

	assert_true(to < HIGH);
	assert_int_equal((HIGH - to) % REBASE_UNIT, 0);
	assert_true(HIGH - to <= REBASE_UNITS_MAX * REBASE_UNIT);
	assert_int_equal(rebase_address(*state, 10, HIGH + 4096), to + 4096);
}

static void test_low_and_kernel_addresses_stay(void **state)
{
	assert_int_equal(rebase_address(*state, 10, 0), 0);
	assert_int_equal(rebase_address(*state, 10, LOW), LOW);
	assert_int_equal(rebase_address(*state, 10, REBASE_FROM - 1), REBASE_FROM - 1);
	assert_int_equal(rebase_address(*state, 10, UINT64_MAX - 4095), UINT64_MAX - 4095);
}

static void test_fork_keeps_the_shift(void **state)
{
	uint64_t to = rebase_address(*state, 10, HIGH);

	give(*state, EVENT_NEWTASK, 10, 11, 0);
	assert_int_equal(rebase_address(*state, 11, HIGH), to);
}

/* 8192 possible shifts: that ten execs all draw the one before is beyond chance. */
static void test_exec_draws_a_new_shift(void **state)
{
	unsigned changed = 0;

	for (int i = 0; i < 10; i++) {
		uint64_t before = rebase_address(*state, 10, HIGH);

		give(*state, EVENT_PREPARE_EXEC, 10, 0, 0);
		give(*state, EVENT_EXEC, 10, 10, 0);
		changed += rebase_address(*state, 10, HIGH) != before;
	}
	assert_true(changed > 0);
}

static void test_faults_before_exec_belong_to_the_new_space(void **state)
{
	struct event fault = { .kind = EVENT_FAULT_KERNEL, .task = 10, .arg = { HIGH, 2 } };

	give(*state, EVENT_PREPARE_EXEC, 10, 0, 0);
	assert_int_equal(rebase_event(*state, &fault, true), 0);
	give(*state, EVENT_EXEC, 10, 10, 0);
	assert_int_equal(rebase_address(*state, 10, HIGH), fault.arg[0]);
}

static void test_exec_by_a_thread_takes_over_the_process_id(void **state)
{
	struct event fault = { .kind = EVENT_FAULT_KERNEL, .task = 12, .arg = { HIGH, 2 } };

	give(*state, EVENT_NEWTASK, 10, 12, 0);
	give(*state, EVENT_PREPARE_EXEC, 12, 0, 0);
	assert_int_equal(rebase_event(*state, &fault, true), 0);
	give(*state, EVENT_EXIT, 10, 0, 0);
	give(*state, EVENT_EXEC, 10, 12, 0);
	assert_int_equal(rebase_address(*state, 10, HIGH), fault.arg[0]);
	assert_int_equal(rebase_tasks_alive(*state), 1);
}

static void test_failed_execve_before_6_10_returns_to_the_old_space(void **state)
{
	uint64_t to = rebase_address(*state, 10, HIGH);
	struct event enter = { .kind = EVENT_ENTER(CALL_EXECVE), .task = 10 };
	struct event leave = { .kind = EVENT_LEAVE(CALL_EXECVE), .task = 10 };

	leave.arg[0] = (uint64_t)-2;
	assert_int_equal(rebase_event(*state, &enter, false), 0);
	assert_int_equal(rebase_event(*state, &leave, false), 0);
	assert_int_equal(rebase_address(*state, 10, HIGH), to);
	assert_int_equal(leave.arg[0], (uint64_t)-2);
}

static void test_the_leave_of_execveat_says_so(void **state)
{
	struct event leave = { .kind = EVENT_LEAVE(CALL_EXECVE), .task = 10 };

	give(*state, EVENT_NEWTASK, 10, 12, 0);
	give(*state, EVENT_ENTER(CALL_EXECVEAT), 12, 0, 0);
	give(*state, EVENT_PREPARE_EXEC, 12, 0, 0);
	give(*state, EVENT_EXEC, 10, 12, 0);
	assert_int_equal(rebase_event(*state, &leave, true), 0);
	assert_int_equal(leave.kind, EVENT_LEAVE(CALL_EXECVEAT));
	give(*state, EVENT_ENTER(CALL_EXECVE), 10, 0, 0);
	leave.kind = EVENT_LEAVE(CALL_EXECVE);
	assert_int_equal(rebase_event(*state, &leave, true), 0);
	assert_int_equal(leave.kind, EVENT_LEAVE(CALL_EXECVE));
}

static void test_results_move_and_errors_stay(void **state)
{
	struct event e = { .kind = EVENT_LEAVE(CALL_MMAP), .task = 10, .arg = { HIGH } };

	assert_int_equal(rebase_event(*state, &e, true), 0);
	assert_int_equal(e.arg[0], rebase_address(*state, 10, HIGH));
	e.arg[0] = (uint64_t)-12;
	assert_int_equal(rebase_event(*state, &e, true), 0);
	assert_int_equal(e.arg[0], (uint64_t)-12);
}

static void test_pointers_become_flags(void **state)
{
	struct event e = { .kind = EVENT_ENTER(CALL_MBIND), .task = 10 };

	e.arg[3] = HIGH;
	assert_int_equal(rebase_event(*state, &e, true), 0);
	assert_int_equal(e.arg[3], 1);
}

/* Enough tasks to make the table grow and the dead be forgotten, with ids that collide. */
static void test_many_tasks_come_and_go(void **state)
{
	uint64_t to = rebase_address(*state, 7, HIGH);

	for (uint32_t i = 0; i < 20000; i++) {
		uint32_t id = 100 + i * 256;

		give(*state, EVENT_NEWTASK, 7, id, 0);
		assert_int_equal(rebase_address(*state, id, HIGH), to);
		if (i % 3)
			give(*state, EVENT_EXIT, id, 1, 0);
	}
	assert_int_equal(rebase_tasks_alive(*state), 1 + (20000 + 2) / 3);
	for (uint32_t i = 0; i < 20000; i += 3)
		assert_int_equal(rebase_address(*state, 100 + i * 256, HIGH), to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_moves_by_whole_gib, setup, teardown),
		cmocka_unit_test_setup_teardown(test_low_and_kernel_addresses_stay, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_fork_keeps_the_shift, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exec_draws_a_new_shift, setup, teardown),
		cmocka_unit_test_setup_teardown(test_faults_before_exec_belong_to_the_new_space,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(test_exec_by_a_thread_takes_over_the_process_id,
		                                setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_failed_execve_before_6_10_returns_to_the_old_space, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_leave_of_execveat_says_so, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_results_move_and_errors_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pointers_become_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_tasks_come_and_go, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
