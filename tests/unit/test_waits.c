/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Waits for locks: begins and ends of several CPUs become pairs. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "capture/waits.h"

#define LOCK_A 0xffff888012345600
#define LOCK_B 0xffff888012345640

struct ended {
	size_t count;
	uint32_t what;
	uint64_t ns, sum;
};

static void on_ended(void *context, uint32_t what, uint64_t ns)
{
	struct ended *e = context;

	e->count++;
	e->what = what;
	e->ns = ns;
	e->sum += ns;
}

static struct waits *make(struct ended *ended)
{
	struct waits *w;

	*ended = (struct ended){ 0 };
	assert_int_equal(waits_new(&w, on_ended, ended), 0);
	return w;
}

static void begin(struct waits *w, uint64_t time, uint32_t task, uint64_t lock, uint32_t what)
{
	struct wait_event e = { .time = time, .task = task, .lock = lock, .what = what };

	assert_int_equal(waits_add(w, &e), 0);
}

static void end(struct waits *w, uint64_t time, uint32_t task, uint64_t lock)
{
	struct wait_event e = { .time = time, .task = task, .lock = lock, .end = true };

	assert_int_equal(waits_add(w, &e), 0);
}

static void assert_rest(struct waits *w, uint64_t ends, uint64_t begins)
{
	struct waits_rest rest;

	waits_rest(w, &rest);
	assert_int_equal(rest.ends, ends);
	assert_int_equal(rest.begins, begins);
}

static void test_pair(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 100, 7, LOCK_A, 5);
	end(w, 140, 7, LOCK_A);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 1);
	assert_int_equal(ended.what, 5);
	assert_int_equal(ended.ns, 40);
	assert_rest(w, 0, 0);
	waits_free(w);
}

/* The ring of the CPU where it ended was read first. */
static void test_order_of_arrival_does_not_matter(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	end(w, 140, 7, LOCK_A);
	begin(w, 100, 7, LOCK_A, 5);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.ns, 40);
	waits_free(w);
}

static void test_flush_holds_later_events(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 100, 7, LOCK_A, 5);
	end(w, 140, 7, LOCK_A);
	assert_int_equal(waits_flush(w, 140), 0);
	assert_int_equal(ended.count, 0);
	assert_rest(w, 0, 1);
	assert_int_equal(waits_flush(w, 141), 0);
	assert_int_equal(ended.count, 1);
	waits_free(w);
}

static void test_nested_waits(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 100, 7, LOCK_A, 1);
	begin(w, 110, 7, LOCK_B, 2);
	end(w, 115, 7, LOCK_B);
	end(w, 200, 7, LOCK_A);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 2);
	assert_int_equal(ended.sum, 105);
	waits_free(w);
}

static void test_mutex_begins_again(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 100, 7, LOCK_A, 1);
	begin(w, 150, 7, LOCK_A, 2);
	end(w, 200, 7, LOCK_A);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 1);
	assert_int_equal(ended.what, 1);
	assert_int_equal(ended.ns, 100);
	waits_free(w);
}

static void test_tasks_are_told_apart(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 100, 7, LOCK_A, 1);
	end(w, 110, 8, LOCK_A);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 0);
	assert_rest(w, 1, 1);
	waits_free(w);
}

static void test_idle_tasks_of_two_cpus(void **state)
{
	struct wait_event one = { .time = 1, .lock = LOCK_A, .cpu = 0 };
	struct wait_event two = { .time = 2, .lock = LOCK_A, .cpu = 1, .end = true };
	struct ended ended;
	struct waits *w = make(&ended);

	assert_int_equal(waits_add(w, &one), 0);
	assert_int_equal(waits_add(w, &two), 0);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 0);
	waits_free(w);
}

static void test_many_are_kept_apart(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	for (int round = 0; round < 3; round++) {
		uint64_t base = (uint64_t)round * 100000;

		for (uint32_t i = 1; i <= 5000; i++)
			begin(w, base + i, i, LOCK_A + i % 7 * 64, i);
		for (uint32_t i = 1; i <= 5000; i++)
			end(w, base + i + 50000, i, LOCK_A + i % 7 * 64);
		assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	}
	assert_int_equal(ended.count, 15000);
	assert_int_equal(ended.sum, 15000ull * 50000);
	assert_rest(w, 0, 0);
	waits_free(w);
}

static void test_reset(void **state)
{
	struct ended ended;
	struct waits *w = make(&ended);

	begin(w, 1, 7, LOCK_A, 1);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	begin(w, 2, 8, LOCK_A, 1);
	waits_reset(w);
	end(w, 3, 7, LOCK_A);
	end(w, 4, 8, LOCK_A);
	assert_int_equal(waits_flush(w, UINT64_MAX), 0);
	assert_int_equal(ended.count, 0);
	assert_rest(w, 2, 0);
	waits_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pair),
		cmocka_unit_test(test_order_of_arrival_does_not_matter),
		cmocka_unit_test(test_flush_holds_later_events),
		cmocka_unit_test(test_nested_waits),
		cmocka_unit_test(test_mutex_begins_again),
		cmocka_unit_test(test_tasks_are_told_apart),
		cmocka_unit_test(test_idle_tasks_of_two_cpus),
		cmocka_unit_test(test_many_are_kept_apart),
		cmocka_unit_test(test_reset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
