/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Verdicts on locks: where figures prove nothing, folio orders, sources, counts without variance.
 */

#include <math.h>

#include "common/cleanup.h"
#include "compare_bench.h"

/* Two sides of a lab's boots, one metric; b's lab is as given. */
static void begin_lab(struct bench *t, const char *name, const char *unit, double a, double b,
                      json_t *lab)
{
	bench_begin(t);
	assert_int_equal(result_metric(t->sa.r, name, unit, BETTER_LESS, true), 0);
	assert_int_equal(result_metric(t->sb.r, name, unit, BETTER_LESS, true), 0);
	rows(&t->sa, 5, name, a, 0.001);
	rows(&t->sb, 5, name, b, 0.001);
	assert_int_equal(json_object_set_new(result_provenance(t->sb.r), "lab", lab), 0);
}

static void expect_in_lab(const char *name, const char *unit, double a, double b, json_t *lab,
                          enum verdict want)
{
	struct bench t;

	begin_lab(&t, name, unit, a, b, lab);
	bench_compare(&t, &nothing_varied, NULL);
	if (metric(&t, name)->verdict != want)
		fail_msg("%s %g %g: %s (%s)", name, a, b, verdict_name(metric(&t, name)->verdict),
		         metric(&t, name)->why);
	/* No verdict by rule is a shown figure, not a failure. */
	assert_int_equal(metric(&t, name)->shown_only, want == VERDICT_NONE);
	assert_true(*metric(&t, name)->why);
	bench_end(&t);
}

static json_t *lab(unsigned virtual_cpus, unsigned real_cpus)
{
	return json_pack("{s:i, s:i}", "virtual_cpus", virtual_cpus, "real_cpus", real_cpus);
}

static void test_virtual_cpus(void **state)
{
	expect_in_lab("lock.lru.wait", "s", 1, 3, lab(4, 2), VERDICT_NONE);
	expect_in_lab("lock.lru.free.hold", "s", 1, 3, lab(4, 2), VERDICT_NONE);
	expect_in_lab("lock.lru.share", "", 1, 3, lab(4, 2), VERDICT_NONE);
	expect_in_lab("lock.lru.share", "", 1, 3, json_pack("{s:b}", "emulated", 1), VERDICT_NONE);
	expect_in_lab("lock.lru.wait", "s", 1, 3, lab(2, 2), VERDICT_WORSE);
	expect_in_lab("lock.lru.acquisitions_per_folio", "", 1, 3, lab(4, 2), VERDICT_WORSE);
	expect_in_lab("elapsed", "s", 1, 3, lab(4, 2), VERDICT_WORSE);
}

static void test_contentions_of_virtual_cpus(void **state)
{
	expect_in_lab("lock.lru.contentions", "", 1000, 100, lab(4, 2), VERDICT_BETTER);
	expect_in_lab("lock.lru.contentions", "", 1000, 110, lab(4, 2), VERDICT_NONE);
	expect_in_lab("lock.lru.contentions", "", 1000, 110, lab(2, 2), VERDICT_BETTER);
	expect_in_lab("lock.lru.contentions", "", 1000, 1000.5, lab(4, 2), VERDICT_SAME);
	expect_in_lab("lock.lru.contentions", "", 0, 9, lab(4, 2), VERDICT_NONE);
	expect_in_lab("lock.lru.contentions", "", 0, 12, lab(4, 2), VERDICT_WORSE);
}

static void test_debug_locks(void **state)
{
	static const struct {
		const char *name, *unit;
		enum verdict want;
	} cases[] = {
		{ "elapsed", "s", VERDICT_NONE },
		{ "latency.madvise.mean", "ns", VERDICT_NONE },
		{ "lock.lru.share", "of CPU", VERDICT_NONE },
		{ "lock.lru.wait", "s", VERDICT_WORSE },
		{ "lock.lru.acquisitions", "", VERDICT_WORSE },
		{ "faults", "", VERDICT_WORSE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct bench t;

		begin_lab(&t, cases[i].name, cases[i].unit, 1, 3, lab(1, 1));
		assert_int_equal(
			json_object_set_new(result_provenance(t.sa.r), "debug_locks", json_true()),
			0);
		bench_compare(&t, &nothing_varied, NULL);
		if (metric(&t, cases[i].name)->verdict != cases[i].want)
			fail_msg("%s: %s", cases[i].name, metric(&t, cases[i].name)->why);
		assert_false(t.c.withheld && cases[i].want != VERDICT_NONE);
		bench_end(&t);
	}
}

static void test_orders_are_metrics_of_their_own(void **state)
{
	struct bench t;

	bench_begin(&t);
	for (unsigned i = 0; i < 10; i++) {
		row(&t.sa, 0, i, "lock.lru.acquisitions_per_folio", 1.04);
		assert_int_equal(result_row_order(t.sa.r, i % 2 ? 2 : 5), 0);
		row(&t.sb, 0, i, "lock.lru.acquisitions_per_folio", i % 2 ? 0.07 : 1.04);
		assert_int_equal(result_row_order(t.sb.r, i % 2 ? 2 : 5), 0);
	}
	bench_compare(&t, &nothing_varied, NULL);
	assert_int_equal(t.c.count, 2);
	assert_null(comparison_find(&t.c, "lock.lru.acquisitions_per_folio", RESULT_NO_ORDER));
	assert_null(comparison_find(&t.c, "lock.lru.acquisitions_per_folio", 4));
	assert_null(comparison_find(&t.c, "lock.lru", 2));
	assert_int_equal(comparison_find(&t.c, "lock.lru.acquisitions_per_folio", 2)->verdict,
	                 VERDICT_BETTER);
	assert_int_equal(comparison_find(&t.c, "lock.lru.acquisitions_per_folio", 5)->verdict,
	                 VERDICT_SAME);
	assert_string_equal(comparison_find(&t.c, "lock.lru.acquisitions_per_folio", 5)->family,
	                    "lock.acquisitions");
	bench_end(&t);
}

/* A source of both sides is taken before the first one that has the metric. */
static void test_common_pass_is_preferred(void **state)
{
	struct bench t;

	bench_begin(&t);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(result_row(t.sa.r, 0, i, "lock_stat"), 0);
		assert_int_equal(result_value(t.sa.r, "lock.lru.acquisitions", 9), 0);
		assert_int_equal(result_row(t.sa.r, 0, i, "entries"), 0);
		assert_int_equal(result_value(t.sa.r, "lock.lru.acquisitions", 10), 0);
		assert_int_equal(result_row(t.sb.r, 0, i, "entries"), 0);
		assert_int_equal(result_value(t.sb.r, "lock.lru.acquisitions", 10), 0);
	}
	bench_compare(&t, &nothing_varied, NULL);
	assert_string_equal(metric(&t, "lock.lru.acquisitions")->a.pass, "entries");
	assert_int_equal(metric(&t, "lock.lru.acquisitions")->verdict, VERDICT_SAME);
	bench_end(&t);
}

static void test_other_sources(void **state)
{
	expect_withheld("provenance", "sources",
	                json_pack("[{s:s, s:b}]", "name", "lock_stat", "used", 1), NULL, true);
	expect_withheld("provenance", "sources",
	                json_pack("[{s:s, s:b}]", "name", "lock_stat", "used", 1), "sources",
	                false);
	expect_withheld("provenance", "sources",
	                json_pack("[{s:s, s:b}]", "name", "lock_stat", "used", 0), NULL, false);
	expect_withheld("provenance", "sources",
	                json_pack("[{s:s, s:b}]", "name", "latency", "used", 1), NULL, false);
}

/* What a kernel never took it does not mention; what a source cannot observe there is missing. */
static void expect_absent(const char *name, const char *unseen, size_t n, enum verdict want)
{
	struct bench t;
	json_t *sources;

	bench_begin(&t);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(result_row(t.sa.r, 0, i, "entries"), 0);
		assert_int_equal(result_value(t.sa.r, name, 507), 0);
		assert_int_equal(result_value(t.sa.r, "lock.lru.acquisitions", 9), 0);
		assert_int_equal(result_row(t.sb.r, 0, i, "entries"), 0);
		assert_int_equal(result_value(t.sb.r, "lock.lru.acquisitions", 9), 0);
	}
	sources = json_pack("[{s:s, s:b, s:[s]}]", "name", "entries", "used", 1, "unseen", unseen);
	assert_int_equal(json_object_set(result_provenance(t.sa.r), "sources", sources), 0);
	assert_int_equal(json_object_set_new(result_provenance(t.sb.r), "sources", sources), 0);
	bench_compare(&t, &nothing_varied, NULL);
	assert_int_equal(metric(&t, name)->b.n, n);
	assert_int_equal(metric(&t, name)->verdict, want);
	bench_end(&t);
}

static void test_absent_locks_were_not_taken(void **state)
{
	expect_absent("lock.deferred-split.acquisitions", "slab", 5, VERDICT_BETTER);
	expect_absent("lock.deferred-split.unmap.exit.acquisitions", "slab", 5, VERDICT_BETTER);
	expect_absent("lock.deferred-split.acquisitions", "deferred-split", 0, VERDICT_NONE);
	expect_absent("lock.deferred-split.unmap.exit.acquisitions", "deferred-split", 0,
	              VERDICT_NONE);
	expect_absent("lock.deferred-split.wait", "slab", 0, VERDICT_NONE);
	expect_absent("lock.unresolved.share_of_entries", "slab", 0, VERDICT_NONE);
}

/* From 507 to 1, to and from 0: figures that never vary, and rates of them that are not whole. */
static void test_counts_to_and_from_nothing(void **state)
{
	struct bench t;

	expect_verdict("lock.deferred-split.unmap.acquisitions_per_cut", 507, 1, 0, 5,
	               VERDICT_BETTER);
	expect_verdict("lock.deferred-split.free.acquisitions_per_folio", 2, 0, 0, 5,
	               VERDICT_BETTER);
	expect_verdict("lock.deferred-split.acquisitions", 0, 3, 0, 5, VERDICT_WORSE);
	expect_verdict("lock.deferred-split.acquisitions", 0, 3, 0.1, 5, VERDICT_WORSE);
	expect_verdict("lock.lru.acquisitions_per_folio", 1.04, 0.069, 0, 5, VERDICT_BETTER);
	expect_verdict("lock.lru.acquisitions_per_folio", 1.04, 1.04, 0, 5, VERDICT_SAME);
	bench_begin(&t);
	rows(&t.sa, 5, "lock.lru.acquisitions", 0, 0);
	rows(&t.sb, 5, "lock.lru.acquisitions", 3, 0);
	bench_compare(&t, &nothing_varied, NULL);
	assert_true(isnan(metric(&t, "lock.lru.acquisitions")->change));
	assert_true(isnan(metric(&t, "lock.lru.acquisitions")->p));
	bench_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual_cpus),
		cmocka_unit_test(test_contentions_of_virtual_cpus),
		cmocka_unit_test(test_debug_locks),
		cmocka_unit_test(test_orders_are_metrics_of_their_own),
		cmocka_unit_test(test_common_pass_is_preferred),
		cmocka_unit_test(test_other_sources),
		cmocka_unit_test(test_absent_locks_were_not_taken),
		cmocka_unit_test(test_counts_to_and_from_nothing),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
