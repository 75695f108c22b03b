/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two results made row by row, compared: what the tests of comparisons share. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/compare.h"

/* In memory: a result is synced to its disk, which a thousand of them would wait for. */
static char folder[] = "/dev/shm/mmtape-test-compare-XXXXXX";
static const struct option_list nothing_varied;

struct setup {
	struct result *r;
	char path[96];
};

static void begin(struct setup *s, const char *name)
{
	json_t *p;

	snprintf(s->path, sizeof(s->path), "%s/%s.json", folder, name);
	assert_int_equal(result_new(&s->r), 0);
	assert_int_equal(result_metric(s->r, "elapsed", "s", BETTER_LESS, true), 0);
	assert_int_equal(result_metric(s->r, "vmstat.rate", "", BETTER_MORE, false), 0);
	p = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:s}, s:{s:s}, s:{}}", "trace_id", "t1",
	              "cmdline", "BOOT_IMAGE=/a quiet  psi=1 ", "spinlock", "queued", "kernel",
	              "6.1", "kernel_version", "#1", "settings_before", "thp", "madvise",
	              "settings_after", "thp", "madvise", "options");
	assert_int_equal(json_object_update(result_provenance(s->r), p), 0);
	json_decref(p);
	p = json_pack("{s:{s:i}, s:i, s:i}", "plan", "touches", 10, "lost", 0, "mismatches", 0);
	assert_int_equal(json_object_update(result_fidelity(s->r), p), 0);
	json_decref(p);
}

static void row(struct setup *s, unsigned boot, unsigned round, const char *metric, double value)
{
	assert_int_equal(result_row(s->r, boot, round, "time"), 0);
	assert_int_equal(result_value(s->r, metric, value), 0);
}

/* n rows of one metric around mean, alternating by the given fraction. */
static void rows(struct setup *s, unsigned n, const char *metric, double mean, double wobble)
{
	for (unsigned i = 0; i < n; i++)
		row(s, 0, i, metric, mean * (1 + wobble * ((i % 3) - 1.0)));
}

static void finish(struct setup *s, struct side *side)
{
	assert_int_equal(result_write(s->r, s->path, true), 0);
	s->r = result_free(s->r);
	assert_int_equal(side_read(side, s->path), 0);
}

/* Two sides and their comparison. */
struct bench {
	struct setup sa, sb;
	struct side a, b;
	struct comparison c;
};

static void bench_begin(struct bench *t)
{
	*t = (struct bench){ 0 };
	begin(&t->sa, "a");
	begin(&t->sb, "b");
}

static void bench_compare(struct bench *t, const struct option_list *vary,
                          const struct side *null_side)
{
	const struct compare_options options = { vary, null_side };

	finish(&t->sa, &t->a);
	finish(&t->sb, &t->b);
	assert_int_equal(compare_sides(&t->c, &t->a, &t->b, &options), 0);
}

static void bench_end(struct bench *t)
{
	comparison_clear(&t->c);
	side_clear(&t->a);
	side_clear(&t->b);
	unlink(t->sa.path);
	unlink(t->sb.path);
}

static const struct compared *metric(const struct bench *t, const char *name)
{
	const struct compared *m = comparison_find(&t->c, name, RESULT_NO_ORDER);

	assert_non_null(m);
	return m;
}

static void expect_verdict(const char *name, double a, double b, double wobble, unsigned n,
                           enum verdict want)
{
	struct bench t;

	bench_begin(&t);
	rows(&t.sa, n, name, a, wobble);
	rows(&t.sb, n, name, b, wobble);
	bench_compare(&t, &nothing_varied, NULL);
	if (metric(&t, name)->verdict != want)
		fail_msg("%s: %s (%s)", name, verdict_name(metric(&t, name)->verdict),
		         metric(&t, name)->why);
	bench_end(&t);
}

/* Something is done to b's tree; the verdict must be withheld unless `vary` names it. */
static void expect_withheld(const char *object, const char *key, json_t *value, const char *vary,
                            bool withheld)
{
	struct option_list list = { .items = &vary, .count = vary != NULL };
	struct bench t;
	json_t *tree;

	bench_begin(&t);
	rows(&t.sa, 5, "elapsed", 1.0, 0.001);
	rows(&t.sb, 5, "elapsed", 1.1, 0.001);
	tree = !strcmp(object, "fidelity") ? result_fidelity(t.sb.r) : result_provenance(t.sb.r);
	if (strcmp(object, "fidelity") && strcmp(object, "provenance"))
		tree = json_object_get(tree, object);
	assert_int_equal(json_object_set_new(tree, key, value), 0);
	if (!strcmp(object, "settings_before"))
		assert_int_equal(json_object_set(json_object_get(result_provenance(t.sb.r),
		                                                 "settings_after"),
		                                 key, value),
		                 0);
	bench_compare(&t, &list, NULL);
	if (t.c.withheld != withheld)
		fail_msg("%s.%s: withheld is %d", object, key, t.c.withheld);
	assert_int_equal(metric(&t, "elapsed")->verdict, withheld ? VERDICT_NONE : VERDICT_WORSE);
	assert_true(!withheld || *metric(&t, "elapsed")->why);
	bench_end(&t);
}
