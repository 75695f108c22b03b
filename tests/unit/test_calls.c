/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pairing of enters and leaves. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/calls.h"

#define MAX_EVENTS (3 * CALLS_WINDOW)

/* Events to come, then the pairer under test. */
struct script {
	struct event *events;
	size_t count, at;
	struct trace_loss losses[2];
	size_t loss_count;
	struct call_pairer *pairer;
	struct item item;
};

static int script_next(void *from, const struct event **out)
{
	struct script *s = from;

	if (s->at == s->count)
		return 0;
	*out = &s->events[s->at++];
	return 1;
}

static int setup(void **state)
{
	struct script *s = calloc(1, sizeof(*s));

	if (!s)
		return -1;
	s->events = calloc(MAX_EVENTS, sizeof(*s->events));
	*state = s;
	return s->events ? 0 : -1;
}

static int teardown(void **state)
{
	struct script *s = *state;

	call_pairer_free(s->pairer);
	free(s->events);
	free(s);
	return 0;
}

/* The time of an event is its position. */
static void add(struct script *s, unsigned kind, uint32_t task, uint64_t a)
{
	assert_true(s->count < MAX_EVENTS);
	s->events[s->count] = (struct event){
		.time = s->count, .arg = { a }, .task = task, .kind = (uint16_t)kind
	};
	s->count++;
}

static void add_loss(struct script *s, uint64_t from, uint64_t to)
{
	s->losses[s->loss_count++] = (struct trace_loss){ .from = from, .to = to };
}

static struct item *next(struct script *s)
{
	if (!s->pairer) {
		const struct event_source source = { script_next, s, s->losses, s->loss_count };

		assert_int_equal(call_pairer_new_source(&s->pairer, &source), 0);
	}
	return call_pairer_next(s->pairer, &s->item) == 1 ? &s->item : NULL;
}

static const struct call_counts *run_out(struct script *s)
{
	while (next(s))
		;
	return call_pairer_counts(s->pairer);
}

static void test_enter_knows_the_result(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 5);
	add(*state, EVENT_FAULT_USER, 2, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 77);

	const struct item *i = next(*state);

	assert_int_equal(i->kind, ITEM_ENTER);
	assert_int_equal(i->call->result, 77);
	assert_int_equal(i->call->leave, 2);
	assert_int_equal(i->call->arg[0], 5);
}

static void test_items_keep_order_and_position(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_ENTER(CALL_MUNMAP), 2, 0);
	add(*state, EVENT_LEAVE(CALL_MUNMAP), 2, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	for (unsigned n = 0; n < 4; n++) {
		const struct item *i = next(*state);

		assert_int_equal(i->number, n);
		assert_int_equal(i->event.time, n);
	}
	assert_null(next(*state));
}

static void test_cookie_reaches_the_leave(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	next(*state)->call->cookie = 42;
	assert_int_equal(next(*state)->call->cookie, 42);
}

static void test_leave_alone_is_an_orphan(void **state)
{
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	assert_false(next(*state)->call->has_enter);
	assert_int_equal(run_out(*state)->orphan_leaves, 1);
}

static void test_leave_only_call_is_no_orphan(void **state)
{
	const struct call_counts *c;

	add(*state, EVENT_LEAVE(CALL_OPENAT), 1, 3);
	c = run_out(*state);
	assert_int_equal(c->orphan_leaves, 0);
	assert_int_equal(c->enters[CALL_OPENAT], 1);
}

static void test_enter_only_call_is_not_held(void **state)
{
	struct script *s = *state;

	add(s, EVENT_ENTER(CALL_CLOSE), 1, 3);
	add(s, EVENT_FAULT_USER, 1, 0);
	assert_int_equal(next(s)->kind, ITEM_ENTER);
	assert_int_equal(s->at, 1);
	assert_int_equal(run_out(s)->unfinished, 0);
}

static void test_enter_without_leave_is_unfinished(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	assert_int_equal(next(*state)->call->leave, UINT64_MAX);
	assert_int_equal(run_out(*state)->unfinished, 1);
}

static void test_exit_ends_the_wait_for_a_leave(void **state)
{
	struct script *s = *state;

	add(s, EVENT_ENTER(CALL_MUNMAP), 1, 0);
	add(s, EVENT_EXIT, 1, 0);
	add(s, EVENT_FAULT_USER, 2, 0);
	assert_false(next(s)->call->has_leave);
	assert_int_equal(s->at, 2);
	assert_int_equal(run_out(s)->unfinished, 1);
}

static void test_next_call_ends_the_wait_for_a_leave(void **state)
{
	add(*state, EVENT_ENTER(CALL_MUNMAP), 1, 0);
	add(*state, EVENT_ENTER(CALL_MUNMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MUNMAP), 1, 0);
	assert_false(next(*state)->call->has_leave);
	assert_true(next(*state)->call->has_leave);
	assert_int_equal(run_out(*state)->unfinished, 1);
}

static void test_leave_of_another_call_does_not_pair(void **state)
{
	const struct call_counts *c;

	add(*state, EVENT_ENTER(CALL_MUNMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	c = run_out(*state);
	assert_int_equal(c->unfinished, 1);
	assert_int_equal(c->orphan_leaves, 1);
}

static void test_leave_of_another_task_does_not_pair(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 2, 0);
	assert_false(next(*state)->call->has_leave);
}

static void test_no_pair_across_a_loss(void **state)
{
	const struct call_counts *c;

	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_FAULT_USER, 2, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	add_loss(*state, 1, 1);
	c = run_out(*state);
	assert_int_equal(c->abandoned, 1);
	assert_int_equal(c->orphan_leaves, 1);
}

static void test_pair_beside_a_loss(void **state)
{
	add(*state, EVENT_FAULT_USER, 2, 0);
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, 0);
	add_loss(*state, 10, 20);
	add_loss(*state, 0, 0);
	assert_int_equal(run_out(*state)->unfinished, 0);
}

static void test_long_call_is_shown_before_its_leave(void **state)
{
	struct script *s = *state;
	const struct item *i;

	add(s, EVENT_ENTER(CALL_FUTEX), 1, 0);
	for (unsigned n = 0; n < 2 * CALLS_WINDOW; n++)
		add(s, EVENT_FAULT_USER, 2, 0);
	add(s, EVENT_LEAVE(CALL_FUTEX), 1, 9);
	i = next(s);
	assert_int_equal(i->call->leave, UINT64_MAX);
	assert_true(s->at <= CALLS_WINDOW);
	i->call->cookie = 5;
	for (unsigned n = 0; n < 2 * CALLS_WINDOW; n++)
		assert_int_equal(next(s)->kind, ITEM_POINT);
	i = next(s);
	assert_int_equal(i->kind, ITEM_LEAVE);
	assert_int_equal(i->call->cookie, 5);
	assert_int_equal(i->call->result, 9);
	assert_int_equal(run_out(s)->unfinished, 0);
}

static void test_exec_of_a_thread_carries_the_call(void **state)
{
	const struct call_counts *c;
	const struct item *i;

	add(*state, EVENT_ENTER(CALL_EXECVE), 101, 0);
	add(*state, EVENT_EXIT, 100, 0);
	add(*state, EVENT_EXEC, 100, 101);
	add(*state, EVENT_LEAVE(CALL_EXECVE), 100, 0);
	i = next(*state);
	assert_true(i->call->has_leave);
	c = run_out(*state);
	assert_int_equal(c->unfinished, 0);
	assert_int_equal(c->orphan_leaves, 0);
}

static void test_new_task_with_the_id_ends_the_wait(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 2, 0);
	add(*state, EVENT_NEWTASK, 1, 2);
	add(*state, EVENT_LEAVE(CALL_MMAP), 2, 0);
	assert_false(next(*state)->call->has_leave);
	assert_int_equal(run_out(*state)->orphan_leaves, 1);
}

static void test_failed_calls_are_counted(void **state)
{
	add(*state, EVENT_ENTER(CALL_MMAP), 1, 0);
	add(*state, EVENT_LEAVE(CALL_MMAP), 1, (uint64_t)-12);
	assert_int_equal(run_out(*state)->failed[CALL_MMAP], 1);
}

/* Every event comes out once, in order; every enter pairs once or is counted. */
static void test_any_order_of_events_is_survived(void **state)
{
	struct script *s = *state;
	const struct call_counts *c;
	uint64_t shown = 0, enters = 0, pairs = 0;
	const struct item *i;

	srandom(1);
	for (unsigned n = 0; n < MAX_EVENTS; n++) {
		unsigned kind = (unsigned)random() % (EVENT_KIND_COUNT + 4);

		if (random() % 2)
			kind = EVENT_CALL_BASE + (unsigned)random() % 8;
		add(s, kind, (uint32_t)random() % 20, (uint64_t)random() % 20);
	}
	add_loss(s, 1000, 2000);
	while ((i = next(s))) {
		assert_int_equal(i->number, shown++);
		if (i->kind == ITEM_ENTER)
			enters += call_recorded(i->call->call) != CALL_ENTER_ONLY;
		if (i->kind == ITEM_LEAVE && i->call->has_enter)
			pairs++;
	}
	c = call_pairer_counts(s->pairer);
	assert_int_equal(shown, s->count);
	assert_int_equal(pairs + c->unfinished, enters);
}

#define CALLS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CALLS_TEST(test_enter_knows_the_result),
		CALLS_TEST(test_items_keep_order_and_position),
		CALLS_TEST(test_cookie_reaches_the_leave),
		CALLS_TEST(test_leave_alone_is_an_orphan),
		CALLS_TEST(test_leave_only_call_is_no_orphan),
		CALLS_TEST(test_enter_only_call_is_not_held),
		CALLS_TEST(test_enter_without_leave_is_unfinished),
		CALLS_TEST(test_exit_ends_the_wait_for_a_leave),
		CALLS_TEST(test_next_call_ends_the_wait_for_a_leave),
		CALLS_TEST(test_leave_of_another_call_does_not_pair),
		CALLS_TEST(test_leave_of_another_task_does_not_pair),
		CALLS_TEST(test_no_pair_across_a_loss),
		CALLS_TEST(test_pair_beside_a_loss),
		CALLS_TEST(test_long_call_is_shown_before_its_leave),
		CALLS_TEST(test_exec_of_a_thread_carries_the_call),
		CALLS_TEST(test_new_task_with_the_id_ends_the_wait),
		CALLS_TEST(test_failed_calls_are_counted),
		CALLS_TEST(test_any_order_of_events_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
