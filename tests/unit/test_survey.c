/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a survey counts. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "survey_world.h"

static void test_empty_trace(void **state)
{
	const struct survey *s = run(*state);

	assert_int_equal(s->events, 0);
	assert_int_equal(s->tasks, 0);
	assert_int_equal(s->peak_bytes, 0);
}

static void test_events_are_counted_by_kind(void **state)
{
	struct world *w = *state;
	const struct survey *s;

	map(w, 1, BASE, PAGE);
	fault(w, 1, BASE, WRITE);
	fault(w, 1, BASE, READ);
	s = run(w);
	assert_int_equal(s->events, 4);
	assert_int_equal(s->kinds[EVENT_FAULT_USER], 2);
	assert_int_equal(s->writes, 1);
	assert_int_equal(s->calls.enters[CALL_MMAP], 1);
}

static void test_kinds_of_a_newer_version_are_counted_apart(void **state)
{
	struct world *w = *state;

	script_event(&w->script, EVENT_KIND_COUNT + 3, 1, 0, 0);
	script_event(&w->script, 9, 1, 0, 0);
	assert_int_equal(run(w)->unknown_kinds, 2);
}

static void test_slots_of_a_space(void **state)
{
	struct world *w = *state;
	const struct memory_space *space;

	map(w, 1, 5ULL << 30, 2ULL << 30);
	fault(w, 1, 100ULL << 30, WRITE);
	assert_int_equal(run(w)->space_count, 1);
	space = &w->survey->space[0];
	assert_int_equal(space->slot_count, 2);
	assert_int_equal(space->slots[0].first, 5);
	assert_int_equal(space->slots[0].count, 2);
	assert_int_equal(space->slots[1].first, 100);
}

static void test_peak_of_calls_in_flight(void **state)
{
	struct world *w = *state;

	for (uint32_t id = 1; id < 4; id++)
		script_event(&w->script, EVENT_ENTER(CALL_MMAP), id, 0, PAGE);
	for (uint32_t id = 1; id < 4; id++)
		script_event(&w->script, EVENT_LEAVE(CALL_MMAP), id, BASE, 0);
	map(w, 1, BASE, PAGE);
	assert_int_equal(run(w)->peak_calls, 3);
}

static void test_partial_dontneed_on_stacks_is_the_heaviest_shape(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 4; i++)
		SCRIPT_CALL(&w->script, CALL_MADVISE, 1, 0, BASE + i * 5 * HUGE_PAGE, 0x7fb000,
		            MADV_DONTNEED);
	for (unsigned i = 0; i < 300; i++)
		map(w, 1, BASE, 2 * PAGE);
	run(w);
	assert_int_equal(w->survey->shapes.at[0].call, CALL_MADVISE);
	assert_int_equal(w->survey->shapes.at[0].length, 0x7fb000);
	assert_int_equal(w->survey->shapes.at[0].count, 4);
}

static void test_brk_has_the_shape_of_its_move(void **state)
{
	struct world *w = *state;

	SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1000000, 0);
	SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1021000, 0x1021000);
	SCRIPT_CALL(&w->script, CALL_BRK, 1, 0x1042000, 0x1042000);
	run(w);
	assert_int_equal(w->survey->shapes.at[0].length, 0x21000);
	assert_int_equal(w->survey->shapes.at[0].count, 2);
}

/* Numbers that reach corners: small ones, page-like ones, the ends of the range. */
static uint64_t corner(void)
{
	switch (random() % 8) {
	case 0:
		return (uint64_t)random() % 8;
	case 1:
		return UINT64_MAX - (uint64_t)random() % 8;
	case 2:
		return 1ULL << random() % 64;
	case 3:
		return (uint64_t)random() << 33 ^ (uint64_t)random();
	default:
		return BASE + (uint64_t)random() % 64 * HUGE_PAGE / 4;
	}
}

static void test_any_events_are_survived(void **state)
{
	struct world *w = *state;

	srandom(1);
	set(w, META_THP, "always");
	for (unsigned i = 0; i < 60000; i++) {
		unsigned kind = (unsigned)random() % (EVENT_KIND_COUNT + 4);
		struct event *e;

		if (random() % 2)
			kind = EVENT_CALL_BASE + (unsigned)random() % 26;
		e = script_event(&w->script, kind, (uint32_t)random() % 12, 0, 0);
		for (unsigned n = 0; n < EVENT_MAX_ARGS; n++)
			e->arg[n] = corner();
		if (kind == EVENT_NEWTASK || kind == EVENT_EXEC)
			e->arg[0] = (uint64_t)random() % 12;
	}
	assert_int_equal(run(w)->events, 60000);
	assert_true(w->survey->tasks >= 12);
	assert_false(w->survey->partial);
}

#define SURVEY_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SURVEY_TEST(test_empty_trace),
		SURVEY_TEST(test_events_are_counted_by_kind),
		SURVEY_TEST(test_kinds_of_a_newer_version_are_counted_apart),
		SURVEY_TEST(test_slots_of_a_space),
		SURVEY_TEST(test_peak_of_calls_in_flight),
		SURVEY_TEST(test_partial_dontneed_on_stacks_is_the_heaviest_shape),
		SURVEY_TEST(test_brk_has_the_shape_of_its_move),
		SURVEY_TEST(test_any_events_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
