/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Primary metrics by sources, and roles that a source could not observe. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/observe_own.h"
#include "replay/primaries.h"

/* An observer that uses those sources, named with commas between them. */
static struct observer *observer_of(struct observer *o, const char *names)
{
	*o = (struct observer){ 0 };
	for (const struct source *const *s = lock_sources; *s; s++)
		if (strstr(names, (*s)->name)) {
			o->all[o->all_count].source = *s;
			o->used[o->used_count++] = &o->all[o->all_count++];
		}
	return o;
}

static void expect(const char *sources, bool times, bool operations, const char *want)
{
	struct observer o;
	struct result *r;
	char text[1000] = "";
	json_t *name;
	size_t i;

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(primaries_declare(r, observer_of(&o, sources), times, operations), 0);
	json_array_foreach(json_object_get(result_json(r), "primary"), i, name)
	{
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i ? " " : "",
		         json_string_value(name));
		assert_true(strlen(result_unit(r, json_string_value(name))) > 0 || !operations);
	}
	assert_string_equal(text, want);
	result_free(r);
}

static void test_times_alone(void **state)
{
	expect("", true, true, "elapsed system");
	expect("", false, true, "");
	expect("profile", true, true, "elapsed system");
}

static void test_sides_from_entries_and_contention(void **state)
{
	expect("entries,contention", true, true,
	       "elapsed system lock.lru.acquisitions_per_operation lock.lru.wait "
	       "lock.deferred-split.acquisitions_per_operation lock.deferred-split.wait "
	       "lock.zone-alloc.acquisitions_per_operation lock.zone-alloc.wait "
	       "lock.zone-free.acquisitions_per_operation lock.zone-free.wait");
}

static void test_both_sides_in_one_from_lock_stat(void **state)
{
	expect("lock_stat", false, true,
	       "lock.lru.acquisitions_per_operation lock.lru.wait "
	       "lock.deferred-split.acquisitions_per_operation lock.deferred-split.wait "
	       "lock.zone.acquisitions_per_operation lock.zone.wait");
	expect("lock_stat,entries", false, true,
	       "lock.lru.acquisitions_per_operation lock.lru.wait "
	       "lock.deferred-split.acquisitions_per_operation lock.deferred-split.wait "
	       "lock.zone-alloc.acquisitions_per_operation "
	       "lock.zone-free.acquisitions_per_operation lock.zone.wait");
}

static void test_counts_where_operations_are_unknown(void **state)
{
	expect("entries", false, false,
	       "lock.lru.acquisitions lock.deferred-split.acquisitions "
	       "lock.zone-alloc.acquisitions lock.zone-free.acquisitions");
}

static void test_never_more_than_ten(void **state)
{
	struct observer o;
	struct result *r;

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(
		primaries_declare(r, observer_of(&o, "lock_stat,entries,contention"), true, true),
		0);
	assert_true(json_array_size(json_object_get(result_json(r), "primary")) <=
	            RESULT_MAX_PRIMARY);
	result_free(r);
}

static int read_figures(void *state, struct lock_figures *out)
{
	int r = 0;

	for (const char *const *role = state; *role && r >= 0; role++)
		r = lock_figures_unseen(out, *role);
	return r;
}

static void close_nothing(void *state)
{
}

static void test_unseen_roles_are_in_the_provenance(void **state)
{
	static const struct source fake = { .name = "fake",
		                            .read = read_figures,
		                            .close = close_nothing };
	const char *const first[] = { "lru", "zone", "lru", NULL };
	const char *const second[] = { "zone", "swap", NULL };
	const struct observe_units units = { 0 };
	struct observer *o = calloc(1, sizeof(*o));
	json_t *sources = json_array(), *want = json_pack("[s, s, s]", "lru", "zone", "swap");
	struct result *r;

	assert_non_null(o);
	o->all[0].source = &fake;
	o->all_count = o->used_count = 1;
	o->used[0] = &o->all[0];
	o->open_count = 1;
	assert_int_equal(result_new(&r), 0);
	o->all[0].state = (void *)first;
	assert_int_equal(observer_rows(o, r, 0, 0, &units), 0);
	o->all[0].state = (void *)second;
	assert_int_equal(observer_rows(o, r, 1, 0, &units), 0);
	assert_int_equal(observer_provenance(o, sources), 0);
	assert_true(json_equal(json_object_get(json_array_get(sources, 0), "unseen"), want));
	json_decref(want);
	json_decref(sources);
	result_free(r);
	observer_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times_alone),
		cmocka_unit_test(test_sides_from_entries_and_contention),
		cmocka_unit_test(test_both_sides_in_one_from_lock_stat),
		cmocka_unit_test(test_counts_where_operations_are_unknown),
		cmocka_unit_test(test_never_more_than_ten),
		cmocka_unit_test(test_unseen_roles_are_in_the_provenance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
