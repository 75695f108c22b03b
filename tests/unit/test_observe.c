/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of lock metrics, what they are divided by, and which sources are taken. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/sources.h"
#include "replay/observe.h"

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

	assert_int_equal(observer_new(&o, "nonsense", false), -EINVAL);
	assert_int_equal(observer_new(&o, "", false), 0);
	assert_int_equal(observer_count(o), 0);
	observer_free(o);
	assert_int_equal(observer_new(&o, "lock_sta", false), -EINVAL);
	assert_null(o);
}

static void test_none(void **state)
{
	struct observer *o;
	json_t *sources = json_array();
	size_t i;
	json_t *one;

	assert_int_equal(observer_new(&o, "none", false), 0);
	assert_int_equal(observer_count(o), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_name),
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_unknown_source),
		cmocka_unit_test(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
