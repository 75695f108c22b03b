/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folios by order and cuts, from counters to denominators. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "replay/pass_units.h"

struct pair {
	const char *key;
	uint64_t before, after;
};

static void add(struct pass_units *units, const struct pair *pairs, size_t count, unsigned order)
{
	struct trace_meta *before, *after;

	assert_int_equal(trace_meta_new(&before), 0);
	assert_int_equal(trace_meta_new(&after), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(trace_meta_set_u64(before, pairs[i].key, pairs[i].before), 0);
		assert_int_equal(trace_meta_set_u64(after, pairs[i].key, pairs[i].after), 0);
	}
	pass_units_add(units, before, after, order);
	trace_meta_free(before);
	trace_meta_free(after);
}

static void expect(const struct pass_units *units, const char *want)
{
	json_t *have = json_object(), *wanted = json_loads(want, 0, NULL);
	char *text;

	assert_non_null(wanted);
	assert_int_equal(pass_units_put(units, have), 0);
	text = json_dumps(have, JSON_SORT_KEYS);
	if (!json_equal(have, wanted))
		fail_msg("%s instead of %s", text, want);
	free(text);
	json_decref(have);
	json_decref(wanted);
}

static const struct pair sizes[] = {
	{ "thp/16kB/anon_fault_alloc", 10, 110 },
	{ "thp/2048kB/anon_fault_alloc", 5, 37 },
	{ "thp_fault_alloc", 0, 1000 },
	{ "thp_deferred_split_page", 1, 4 },
};

static void test_nothing_counted(void **state)
{
	struct pass_units units = { 0 };

	expect(&units, "{}");
	add(&units, NULL, 0, 0);
	expect(&units, "{}");
}

static void test_each_size(void **state)
{
	struct pass_units units = { 0 };

	add(&units, sizes, 4, 0);
	expect(&units, "{\"folios.order2\": 100, \"folios.order9\": 32, \"cuts\": 3}");
}

static void test_kernel_without_sizes(void **state)
{
	struct pass_units units = { 0 };

	add(&units, sizes + 2, 2, 0);
	expect(&units, "{\"folios.order9\": 1000, \"cuts\": 3}");
}

static void test_mean_of_repetitions(void **state)
{
	struct pass_units units = { 0 };
	const struct pair other[] = { { "thp/16kB/anon_fault_alloc", 0, 103 } };

	add(&units, sizes, 1, 0);
	add(&units, other, 1, 0);
	expect(&units, "{\"folios.order2\": 101.5}");
}

/* What else was made meanwhile belongs to no size that was swept. */
static void test_swept_order_alone(void **state)
{
	struct pass_units units = { 0 };

	add(&units, sizes, 4, 2);
	expect(&units, "{\"folios.order2\": 100}");
	add(&units, sizes, 4, 9);
	expect(&units, "{\"folios.order2\": 100, \"folios.order9\": 32, \"cuts\": 3}");
}

/* A size that was asked for and never came is 0, not missing. */
static void test_swept_and_not_made(void **state)
{
	struct pass_units units = { 0 };
	const struct pair none[] = { { "thp/32kB/anon_fault_alloc", 7, 7 } };

	add(&units, none, 1, 3);
	expect(&units, "{\"folios.order3\": 0}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_counted),
		cmocka_unit_test(test_each_size),
		cmocka_unit_test(test_kernel_without_sizes),
		cmocka_unit_test(test_mean_of_repetitions),
		cmocka_unit_test(test_swept_order_alone),
		cmocka_unit_test(test_swept_and_not_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
