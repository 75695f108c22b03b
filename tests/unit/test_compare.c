/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rules of the verdict, on results made here, and their self-check by
 * simulation: the same against itself stays silent, a real change is found.
 */

#include <math.h>

#include "analysis/random.h"
#include "common/cleanup.h"
#include "compare_bench.h"

static void test_directions(void **state)
{
	expect_verdict("elapsed", 1.0, 1.1, 0.005, 5, VERDICT_WORSE);
	expect_verdict("elapsed", 1.0, 0.9, 0.005, 5, VERDICT_BETTER);
	expect_verdict("vmstat.rate", 1.0, 1.1, 0.005, 5, VERDICT_BETTER);
	expect_verdict("vmstat.rate", 1.0, 0.9, 0.005, 5, VERDICT_WORSE);
	expect_verdict("elapsed", 1.0, 1.0, 0.005, 5, VERDICT_SAME);
}

static void test_metric_without_direction_is_changed(void **state)
{
	struct bench t;

	bench_begin(&t);
	rows(&t.sa, 5, "thp.alloc", 1000, 0.005);
	rows(&t.sb, 5, "thp.alloc", 2000, 0.005);
	bench_compare(&t, &nothing_varied, NULL);
	assert_int_equal(metric(&t, "thp.alloc")->verdict, VERDICT_NONE);
	assert_true(metric(&t, "thp.alloc")->changed);
	assert_string_equal(metric(&t, "thp.alloc")->family, "thp");
	bench_end(&t);
}

static void test_threshold(void **state)
{
	/* Significant in itself, but 0.8% is below the least change that counts. */
	expect_verdict("elapsed", 1.0, 1.008, 0.001, 5, VERDICT_SAME);
}

/* A is noisy and B is not: significant, but less than twice what A differs from itself. */
static void test_noisy_base_raises_the_threshold(void **state)
{
	struct bench t;

	bench_begin(&t);
	rows(&t.sa, 12, "elapsed", 1.0, 0.03);
	rows(&t.sb, 12, "elapsed", 1.026, 0);
	bench_compare(&t, &nothing_varied, NULL);
	assert_true(metric(&t, "elapsed")->p <= COMPARE_LEVEL);
	assert_true(metric(&t, "elapsed")->threshold > 0.026);
	assert_int_equal(metric(&t, "elapsed")->verdict, VERDICT_SAME);
	bench_end(&t);
}

static void test_null_file_sets_the_threshold(void **state)
{
	struct setup null = { 0 };
	struct side null_side;
	struct bench t;

	begin(&null, "null");
	rows(&null, 5, "elapsed", 1.04, 0.001);
	finish(&null, &null_side);
	bench_begin(&t);
	rows(&t.sa, 5, "elapsed", 1.0, 0.001);
	rows(&t.sb, 5, "elapsed", 1.06, 0.001);
	bench_compare(&t, &nothing_varied, &null_side);
	assert_true(fabs(metric(&t, "elapsed")->threshold - 0.08) < 0.001);
	assert_int_equal(metric(&t, "elapsed")->verdict, VERDICT_SAME);
	assert_non_null(strstr(t.c.threshold_from, "--null"));
	bench_end(&t);
	side_clear(&null_side);
	unlink(null.path);
}

static void test_too_few(void **state)
{
	expect_verdict("elapsed", 1.0, 2.0, 0.001, 4, VERDICT_NONE);
}

static void test_counts_without_variance(void **state)
{
	expect_verdict("elapsed", 1000, 1001, 0, 5, VERDICT_WORSE);
	expect_verdict("elapsed", 1000, 1000, 0, 5, VERDICT_SAME);
	/* Not whole: a clock that stands still proves nothing, 0.1% stays below the threshold. */
	expect_verdict("elapsed", 1.5, 1.5015, 0, 5, VERDICT_SAME);
}

static void test_missing_values(void **state)
{
	struct bench t;

	bench_begin(&t);
	rows(&t.sa, 6, "elapsed", 1.0, 0.001);
	assert_int_equal(result_row(t.sa.r, 0, 6, "time"), 0);
	assert_int_equal(result_value(t.sa.r, "only_a", 1), 0);
	rows(&t.sb, 6, "elapsed", 1.1, 0.001);
	bench_compare(&t, &nothing_varied, NULL);
	assert_int_equal(metric(&t, "elapsed")->verdict, VERDICT_NONE);
	assert_int_equal(metric(&t, "only_a")->verdict, VERDICT_NONE);
	assert_true(t.c.withheld);
	bench_end(&t);
}

static void test_boots_are_the_replicates(void **state)
{
	struct bench t;

	bench_begin(&t);
	for (unsigned boot = 0; boot < 5; boot++)
		for (unsigned i = 0; i < 4; i++) {
			row(&t.sa, boot, i, "elapsed", 1.0 + boot * 0.001 + i * 0.1);
			row(&t.sb, boot, i, "elapsed", 2.0 + boot * 0.001 + i * 0.1);
		}
	bench_compare(&t, &nothing_varied, NULL);
	assert_true(t.c.by_boot);
	assert_int_equal(metric(&t, "elapsed")->a.n, 5);
	assert_true(fabs(metric(&t, "elapsed")->a.values[1] - 1.151) < 1e-9);
	assert_int_equal(metric(&t, "elapsed")->verdict, VERDICT_WORSE);
	bench_end(&t);
}

static void test_one_boot_against_several_has_one_replicate(void **state)
{
	struct bench t;

	bench_begin(&t);
	for (unsigned boot = 0; boot < 5; boot++)
		row(&t.sa, boot, 0, "elapsed", 1.0 + boot * 0.001);
	rows(&t.sb, 9, "elapsed", 1.2, 0.001);
	bench_compare(&t, &nothing_varied, NULL);
	assert_int_equal(metric(&t, "elapsed")->b.n, 1);
	assert_int_equal(metric(&t, "elapsed")->verdict, VERDICT_NONE);
	bench_end(&t);
}

static void test_timing_pass_is_preferred(void **state)
{
	struct bench t;

	bench_begin(&t);
	for (unsigned i = 0; i < 5; i++) {
		assert_int_equal(result_row(t.sa.r, 0, i, "latency"), 0);
		assert_int_equal(result_value(t.sa.r, "elapsed", 9), 0);
	}
	rows(&t.sa, 5, "elapsed", 1.0, 0.001);
	rows(&t.sb, 5, "elapsed", 1.0, 0.001);
	bench_compare(&t, &nothing_varied, NULL);
	assert_true(fabs(metric(&t, "elapsed")->a.stats.mean - 1) < 0.01);
	bench_end(&t);
}

static void test_reasons_to_withhold(void **state)
{
	static const char *const settings = "settings_before";

	expect_withheld("provenance", "trace_id", json_string("t2"), NULL, true);
	expect_withheld("provenance", "spinlock", json_string("test-and-set"), NULL, true);
	expect_withheld("provenance", "kernel", json_string("6.2"), NULL, false);
	expect_withheld("provenance", "cmdline", json_string("BOOT_IMAGE=/b quiet psi=1"), NULL,
	                false);
	expect_withheld("provenance", "cmdline", json_string("quiet psi=1 initrd=/x"), NULL, false);
	expect_withheld("provenance", "cmdline", json_string(""), NULL, true);
	expect_withheld("provenance", "cmdline", json_string("quiet psi=0"), NULL, true);
	expect_withheld("provenance", "cmdline", json_string("quiet psi=0"), "cmdline", false);
	expect_withheld("provenance", "cpus", json_integer(4), NULL, false);
	expect_withheld(settings, "thp", json_string("always"), NULL, true);
	expect_withheld(settings, "thp", json_string("always"), "thp", false);
	expect_withheld(settings, "thp", json_string("always"), "swap", true);
	expect_withheld(settings, "thp_8kB", json_string("never"), NULL, false);
	expect_withheld("settings_after", "thp", json_string("always"), NULL, true);
	expect_withheld("options", "mthp", json_string("16k=always"), NULL, true);
	expect_withheld("options", "mthp", json_string("16k=always"), "mthp", false);
	expect_withheld("options", "drop_map_stack", json_true(), NULL, true);
	expect_withheld("options", "drop_map_stack", json_true(), "drop-map-stack", false);
	expect_withheld("fidelity", "lost", json_integer(1), NULL, true);
	expect_withheld("fidelity", "mismatches", json_integer(3), NULL, true);
	expect_withheld("fidelity", "incomplete", json_true(), NULL, true);
	expect_withheld("fidelity", "streamed", json_true(), NULL, true);
	expect_withheld("fidelity", "plan", json_pack("{s:i}", "touches", 11), NULL, true);
	expect_withheld("fidelity", "plan", json_pack("{s:i}", "touches", 11), "place", false);
}

static void test_source_that_dropped(void **state)
{
	json_t *sources = json_pack("[{s:s, s:b, s:i}]", "name", "time", "used", 1, "dropped", 2);

	expect_withheld("provenance", "sources", sources, NULL, true);
}

static void test_same_runs_twice_are_refused(void **state)
{
	struct setup s = { 0 };
	struct side side;
	char operand[200];

	begin(&s, "twice");
	rows(&s, 5, "elapsed", 1.0, 0.01);
	finish(&s, &side);
	side_clear(&side);
	snprintf(operand, sizeof(operand), "%s,%s", s.path, s.path);
	assert_int_equal(side_read(&side, operand), -EINVAL);
	side_clear(&side);
	unlink(s.path);
}

/* Normal by the sum of twelve: good enough for noise, and the same everywhere. */
static double noise(struct random *r)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)(random_u64(r) >> 11) * 0x1p-53;
	return sum;
}

#define METRICS RESULT_MAX_PRIMARY

/* A boot's ten metrics: a common part, as when the whole machine is slow, and one's own. */
static void add_boot(struct setup *s, struct random *r, unsigned boot, double sd, double effect)
{
	double common = noise(r);
	char name[16];

	assert_int_equal(result_row(s->r, boot, 0, "time"), 0);
	for (unsigned m = 0; m < METRICS; m++) {
		double v = 1 + sd * (0.6 * common + 0.8 * noise(r));

		snprintf(name, sizeof(name), m ? "m%u" : "elapsed", m);
		if (boot == 0 && m)
			assert_int_equal(result_metric(s->r, name, "", BETTER_LESS, true), 0);
		assert_int_equal(result_value(s->r, name, m ? v : v * (1 + effect)), 0);
	}
}

/* The share of trials with any primary finding and with one in the metric that has the effect. */
static void simulate(unsigned trials, unsigned boots, double sd, double effect, uint64_t seed,
                     unsigned *any, unsigned *found)
{
	struct random r = { seed };

	*any = *found = 0;
	for (unsigned i = 0; i < trials; i++) {
		struct bench t;

		bench_begin(&t);
		for (unsigned k = 0; k < boots; k++) {
			add_boot(&t.sa, &r, k, sd, 0);
			add_boot(&t.sb, &r, k, sd, effect);
		}
		bench_compare(&t, &nothing_varied, NULL);
		assert_int_equal(t.c.reasons.count, 0);
		*any += t.c.better + t.c.worse > 0;
		*found += metric(&t, "elapsed")->verdict == VERDICT_WORSE;
		bench_end(&t);
	}
}

/* At level 0.01: 4 of 400 trials are expected at most; 13 has a chance below 1 in 1,000. */
static void test_null_is_silent(void **state)
{
	unsigned any, found;

	simulate(400, 5, 0.05, 0, 1, &any, &found);
	print_message("null: %u of 400 with a finding\n", any);
	assert_true(any < 13);
}

static void test_injected_change_is_found(void **state)
{
	unsigned any, found;

	simulate(20, 10, 0.02, 0.05, 2, &any, &found);
	print_message("5%% at 2%% noise, 10 a side: found in %u of 20\n", found);
	assert_true(found >= 16);
	simulate(60, 5, 0.01, 0.05, 3, &any, &found);
	print_message("5%% at 1%% noise, 5 a side: found in %u of 60\n", found);
	assert_true(found >= 45);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_metric_without_direction_is_changed),
		cmocka_unit_test(test_threshold),
		cmocka_unit_test(test_noisy_base_raises_the_threshold),
		cmocka_unit_test(test_null_file_sets_the_threshold),
		cmocka_unit_test(test_too_few),
		cmocka_unit_test(test_counts_without_variance),
		cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_boots_are_the_replicates),
		cmocka_unit_test(test_one_boot_against_several_has_one_replicate),
		cmocka_unit_test(test_timing_pass_is_preferred),
		cmocka_unit_test(test_reasons_to_withhold),
		cmocka_unit_test(test_source_that_dropped),
		cmocka_unit_test(test_same_runs_twice_are_refused),
		cmocka_unit_test(test_null_is_silent),
		cmocka_unit_test(test_injected_change_is_found),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
