/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of lock metrics, what they are divided by, and which sources are taken. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture/sources.h"
#include "replay/observe_own.h"

static void expect_name(enum role_side side, const char *path, const char *want)
{
	const struct lock_figure figure = { .role = "deferred-split", .side = side, .path = path };
	char name[64], small[8];

	assert_true(observe_name(name, sizeof(name), &figure, "wait"));
	assert_string_equal(name, want);
	assert_false(observe_name(small, sizeof(small), &figure, "wait"));
}

static void test_name(void **state)
{
	expect_name(ROLE_SIDE_NONE, NULL, "lock.deferred-split.wait");
	expect_name(ROLE_SIDE_UNMAP, NULL, "lock.deferred-split.unmap.wait");
	expect_name(ROLE_SIDE_UNMAP, "madvise", "lock.deferred-split.unmap.madvise.wait");
}

static struct trace_meta *meta(const char *key, uint64_t value)
{
	struct trace_meta *m;

	assert_int_equal(trace_meta_new(&m), 0);
	assert_int_equal(trace_meta_set_u64(m, key, value), 0);
	return m;
}

static void expect_units(const char *key, unsigned order, double folios, double cuts)
{
	struct trace_meta *before = meta(key, 100), *after = meta(key, 356);
	struct observe_units units = observe_units(before, after, order, 7);

	assert_true(units.folios == folios);
	assert_true(units.cuts == cuts);
	assert_true(units.operations == 7);
	trace_meta_free(before);
	trace_meta_free(after);
}

static void test_units(void **state)
{
	expect_units("thp/16kB/anon_fault_alloc", 2, 256, 0);
	expect_units("thp/16kB/anon_fault_alloc", 3, 0, 0);
	expect_units("thp/2048kB/anon_fault_alloc", 0, 256, 0);
	expect_units("thp_fault_alloc", 9, 256, 0);
	expect_units("thp_fault_alloc", 4, 0, 0);
	expect_units("thp_deferred_split_page", 0, 0, 256);
}

static void test_unknown_source(void **state)
{
	struct observer *o;

	assert_int_equal(observer_new(&o, "nonsense", false, false), -EINVAL);
	assert_int_equal(observer_new(&o, "", false, false), 0);
	assert_int_equal(observer_passes(o), 0);
	observer_free(o);
	assert_int_equal(observer_new(&o, "lock_sta", false, false), -EINVAL);
	assert_null(o);
}

static void test_none(void **state)
{
	struct observer *o;
	json_t *sources = json_array();
	size_t i;
	json_t *one;

	assert_int_equal(observer_new(&o, "none", false, false), 0);
	assert_int_equal(observer_passes(o), 0);
	assert_int_equal(observer_provenance(o, sources), 0);
	json_array_foreach(sources, i, one)
	{
		assert_true(json_is_false(json_object_get(one, "used")));
		assert_non_null(
			strstr(json_string_value(json_object_get(one, "why")), "not asked"));
	}
	assert_true(json_array_size(sources) > 0);
	json_decref(sources);
	observer_free(o);
}

/* What two sources are told, in order; the state of each is its letter. */
static char told[64];

static int tell(const char *what, const char *letter)
{
	snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s%s ", what, letter);
	return 0;
}

static int open_a(void **state, const struct source_options *options)
{
	*state = (void *)"a";
	return tell("open-", "a");
}

static int open_b(void **state, const struct source_options *options)
{
	*state = (void *)"b";
	return tell("open-", "b");
}

static int open_not(void **state, const struct source_options *options)
{
	return -EIO;
}

static int start(void *state)
{
	return tell("start-", state);
}

static int stop(void *state)
{
	return tell("stop-", state);
}

static int stop_not(void *state)
{
	return -EIO;
}

static int read_none(void *state, struct lock_figures *out)
{
	return 0;
}

static void close_it(void *state)
{
	tell("close-", state);
}

static const struct source source_a = { "a", "", NULL, open_a, start, stop, read_none, close_it };
static const struct source source_b = { "b", "", NULL, open_b, start, stop, read_none, close_it };

static struct observer *observer_of_two(const struct source *a, const struct source *b,
                                        bool together)
{
	struct observer *o = calloc(1, sizeof(*o));

	assert_non_null(o);
	o->all[0].source = a;
	o->all[1].source = b;
	o->used[0] = &o->all[0];
	o->used[1] = &o->all[1];
	o->all_count = o->used_count = 2;
	o->together = together;
	*told = '\0';
	return o;
}

static void expect_told(const char *want)
{
	assert_string_equal(told, want);
	*told = '\0';
}

static void expect_pass(struct observer *o, size_t pass, const char *want, const char *rows)
{
	const struct observe_units units = { 0 };
	char names[64] = "";
	struct result *r;
	json_t *row;
	size_t i;

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(observer_open(o, pass), 0);
	assert_int_equal(observer_start(o), 0);
	assert_int_equal(observer_stop(o), 0);
	assert_int_equal(observer_rows(o, r, 0, 0, &units), 0);
	observer_close(o);
	expect_told(want);
	json_array_foreach(json_object_get(result_json(r), "repetitions"), i, row)
		strcat(names, json_string_value(json_object_get(row, "pass")));
	assert_string_equal(names, rows);
	result_free(r);
}

static void test_each_in_a_pass_of_its_own(void **state)
{
	struct observer *o = observer_of_two(&source_a, &source_b, false);

	assert_int_equal(observer_passes(o), 2);
	expect_pass(o, 0, "open-a start-a stop-a close-a ", "a");
	expect_pass(o, 1, "open-b start-b stop-b close-b ", "b");
	observer_free(o);
}

static void test_together_in_one_pass(void **state)
{
	struct observer *o = observer_of_two(&source_a, &source_b, true);

	assert_int_equal(observer_passes(o), 1);
	expect_pass(o, 0, "open-a open-b start-b start-a stop-a stop-b close-b close-a ", "ab");
	observer_free(o);
	o = calloc(1, sizeof(*o));
	assert_non_null(o);
	o->together = true;
	assert_int_equal(observer_passes(o), 0);
	observer_free(o);
}

static void test_one_of_two_fails(void **state)
{
	struct source broken = source_b;
	struct observer *o = observer_of_two(&source_a, &broken, true);

	broken.open = open_not;
	assert_int_equal(observer_open(o, 0), -EIO);
	observer_close(o);
	expect_told("open-a close-a ");
	observer_free(o);
	broken = source_a;
	broken.stop = stop_not;
	o = observer_of_two(&broken, &source_b, true);
	assert_int_equal(observer_open(o, 0), 0);
	assert_int_equal(observer_stop(o), -EIO);
	observer_free(o);
	expect_told("open-a open-b stop-b close-b close-a ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unknown_source),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_each_in_a_pass_of_its_own),
		cmocka_unit_test(test_together_in_one_pass),
		cmocka_unit_test(test_one_of_two_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
