/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joining results of several boots, and the folio order of rows. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/result.h"
#include "common/cleanup.h"
#include "common/log.h"

static struct result *one_boot(double elapsed)
{
	struct result *r;
	json_t *p;

	assert_int_equal(result_new(&r), 0);
	p = json_pack("{s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:{s:s}, s:[{s:s, s:b}, {s:s, s:b, s:i}]}",
	              "trace_id", "t1", "kernel", "6.12", "kernel_version", "#1", "settings_before",
	              "thp", "always", "settings_after", "thp", "always", "options", "place",
	              "traced", "sources", "name", "time", "used", 1, "name", "lock_stat", "used",
	              1, "dropped", 2);
	assert_int_equal(json_object_update(result_provenance(r), p), 0);
	json_decref(p);
	p = json_pack("{s:{s:i}, s:i, s:i, s:b, s:[], s:{s:f}}", "plan", "touches", 10, "lost", 0,
	              "mismatches", 1, "streamed", 0, "mismatches_first", "drift", "max", 0.5);
	assert_int_equal(json_object_update(result_fidelity(r), p), 0);
	json_decref(p);
	assert_int_equal(json_object_set_new(result_denominators(r), "folios", json_integer(100)),
	                 0);
	for (unsigned order = 2; order < 4; order++) {
		assert_int_equal(result_row(r, 0, 0, RESULT_PASS_TIME), 0);
		assert_int_equal(result_row_order(r, order), 0);
		assert_int_equal(result_value(r, "elapsed", elapsed), 0);
	}
	return r;
}

static json_t *row_at(const struct result *r, size_t i)
{
	return json_array_get(json_object_get(result_json(r), "repetitions"), i);
}

static void test_rows_are_added(void **state)
{
	struct result *into = one_boot(1), *from = one_boot(2);

	assert_int_equal(result_next_boot(into), 1);
	assert_int_equal(result_append(into, from, 1), 0);
	assert_int_equal(result_next_boot(into), 2);
	assert_int_equal(json_array_size(json_object_get(result_json(into), "repetitions")), 4);
	assert_int_equal(json_integer_value(json_object_get(row_at(into, 0), "boot")), 0);
	assert_int_equal(json_integer_value(json_object_get(row_at(into, 3), "boot")), 1);
	assert_int_equal(json_integer_value(json_object_get(row_at(into, 3), "order")), 3);
	/* Several boots keep apart when they are added in their turn. */
	assert_int_equal(result_append(from, into, 7), 0);
	assert_int_equal(json_integer_value(json_object_get(row_at(from, 2), "boot")), 7);
	assert_int_equal(json_integer_value(json_object_get(row_at(from, 5), "boot")), 8);
	assert_int_equal(json_integer_value(json_object_get(row_at(into, 0), "boot")), 0);
	result_free(into);
	result_free(from);
}

static void test_the_worse_of_both_is_kept(void **state)
{
	struct result *into = one_boot(1), *from = one_boot(2);
	json_t *f = result_fidelity(from), *source;

	json_object_set_new(f, "mismatches", json_integer(3));
	json_object_set_new(f, "streamed", json_true());
	json_object_set_new(f, "mismatches_first", json_pack("[s]", "task 1"));
	json_object_set_new(json_object_get(f, "drift"), "max", json_real(0.75));
	json_object_set_new(result_denominators(from), "folios", json_integer(103));
	json_object_set_new(json_object_get(result_provenance(from), "settings_after"), "thp",
	                    json_string("never"));
	assert_int_equal(result_append(into, from, 1), 0);
	f = result_fidelity(into);
	assert_int_equal(json_integer_value(json_object_get(f, "mismatches")), 3);
	assert_int_equal(json_integer_value(json_object_get(f, "lost")), 0);
	assert_true(json_is_true(json_object_get(f, "streamed")));
	assert_int_equal(json_array_size(json_object_get(f, "mismatches_first")), 1);
	assert_true(json_real_value(json_object_get(json_object_get(f, "drift"), "max")) == 0.75);
	assert_true(json_number_value(json_object_get(result_denominators(into), "folios")) ==
	            101.5);
	source = json_array_get(json_object_get(result_provenance(into), "sources"), 1);
	assert_int_equal(json_integer_value(json_object_get(source, "dropped")), 4);
	assert_string_equal(
		json_string_value(json_object_get(
			json_object_get(result_provenance(into), "settings_after"), "thp")),
		"never");
	result_free(into);
	result_free(from);
}

/* Something is different in `object` of the second; the first must stay as it was. */
static void expect_refused(const char *object, const char *key, json_t *value, bool refused)
{
	struct result *into = one_boot(1), *from = one_boot(2);
	json_t *before = json_deep_copy(result_json(into)), *to = result_provenance(from);
	int r;

	if (!strcmp(object, "plan"))
		to = json_object_get(result_fidelity(from), object);
	else if (*object)
		to = json_object_get(to, object);
	assert_int_equal(json_object_set_new(to, key, value), 0);
	r = result_append(into, from, 1);
	if (r != (refused ? -EINVAL : 0))
		fail_msg("%s %s: %d", object, key, r);
	if (refused)
		assert_true(json_equal((json_t *)result_json(into), before));
	json_decref(before);
	result_free(into);
	result_free(from);
}

static void test_other_experiments_are_refused(void **state)
{
	json_t *sources = json_pack("[{s:s, s:b}, {s:s, s:b}]", "name", "time", "used", 1, "name",
	                            "lock_stat", "used", 0);

	expect_refused("", "trace_id", json_string("t2"), true);
	expect_refused("", "kernel", json_string("6.1"), true);
	expect_refused("", "kernel_version", json_string("#2"), true);
	expect_refused("settings_before", "thp", json_string("never"), true);
	expect_refused("options", "place", json_string("kernel"), true);
	expect_refused("options", "append", json_string("r.json"), false);
	expect_refused("plan", "touches", json_integer(11), true);
	expect_refused("", "sources", sources, true);
	expect_refused("", "mmtape", json_string("9"), false);
}

/* A kernel that counts and one that is timed. */
static void test_passes_of_two_builds(void **state)
{
	struct result *into = one_boot(1), *from = one_boot(9);
	json_t *p = result_provenance(into), *sources;

	json_object_set_new(p, "kernel_version", json_string("#1 plain"));
	json_object_set_new(p, "memory", json_integer(4));
	json_object_set_new(result_provenance(from), "memory", json_integer(3));
	json_object_set_new(json_array_get(json_object_get(p, "sources"), 1), "used", json_false());
	json_object_set_new(result_provenance(from), "debug_locks", json_true());
	assert_int_equal(result_row(from, 0, 0, "lock_stat"), 0);
	assert_int_equal(result_value(from, "lock.lru.acquisitions", 7), 0);
	assert_int_equal(result_append(into, from, 1), -EINVAL);
	assert_int_equal(result_join_passes(into, from), 0);
	assert_int_equal(json_array_size(json_object_get(result_json(into), "repetitions")), 3);
	assert_string_equal(json_string_value(json_object_get(row_at(into, 2), "pass")),
	                    "lock_stat");
	p = result_provenance(into);
	sources = json_object_get(p, "sources");
	assert_int_equal(json_array_size(sources), 2);
	assert_true(json_is_true(json_object_get(json_array_get(sources, 1), "used")));
	assert_int_equal(json_integer_value(json_object_get(json_array_get(sources, 1), "dropped")),
	                 2);
	assert_true(json_is_true(json_object_get(json_object_get(p, "counted_on"), "debug_locks")));
	assert_null(json_object_get(p, "debug_locks"));
	assert_string_equal(json_string_value(json_object_get(p, "kernel_version")), "#1 plain");
	assert_int_equal(result_direction(into, "lock.lru.acquisitions"), BETTER_LESS);
	json_object_set_new(result_provenance(from), "trace_id", json_string("t2"));
	assert_int_equal(result_join_passes(into, from), -EINVAL);
	result_free(into);
	result_free(from);
}

static void test_order_has_bounds(void **state)
{
	struct result *r;

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(result_row_order(r, 2), -EINVAL);
	assert_int_equal(result_row(r, 0, 0, "time"), 0);
	assert_int_equal(result_row_order(r, RESULT_MAX_ORDER), 0);
	assert_int_equal(result_row_order(r, RESULT_MAX_ORDER + 1), -EINVAL);
	result_free(r);
}

static void test_too_many_rows_are_refused(void **state)
{
	struct result *into = one_boot(1), *from = one_boot(2);

	for (unsigned i = 2; i < RESULT_MAX_ROWS; i++)
		assert_int_equal(result_row(into, 0, i, "time"), 0);
	assert_int_equal(result_append(into, from, 1), -EINVAL);
	result_free(into);
	result_free(from);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_added),
		cmocka_unit_test(test_the_worse_of_both_is_kept),
		cmocka_unit_test(test_other_experiments_are_refused),
		cmocka_unit_test(test_passes_of_two_builds),
		cmocka_unit_test(test_order_has_bounds),
		cmocka_unit_test(test_too_many_rows_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
