/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compares two lists of operations of one task. Pure. */

#include <string.h>

#include "replay/verify.h"

/* How far ahead a dropped or inserted operation is looked for. */
#define RESYNC_WINDOW 16
/* How many operations must agree there, so that a chance likeness does not mislead. */
#define RESYNC_RUN 3

static void report_add(struct verify_report *report, const struct verify_list *want, size_t index,
                       const char *what, const struct verify_op *a, const struct verify_op *b)
{
	struct verify_difference *d;

	if (report->differences++ >= VERIFY_SHOWN)
		return;
	d = &report->first[report->differences - 1];
	d->task = want->id;
	d->index = index;
	d->what = what;
	d->number = a ? a->number : UINT64_MAX;
	strcpy(d->want, "nothing");
	strcpy(d->got, "nothing");
	if (a)
		verify_op_format(a, d->want, sizeof(d->want));
	if (b)
		verify_op_format(b, d->got, sizeof(d->got));
}

static bool run_agrees(const struct verify_list *want, size_t i, const struct verify_list *got,
                       size_t j, unsigned rules)
{
	for (size_t n = 0; n < RESYNC_RUN; n++) {
		if (i + n == want->count && j + n == got->count)
			return true;
		if (i + n >= want->count || j + n >= got->count)
			return false;
		if (verify_op_differs(&want->ops[i + n], &got->ops[j + n], rules))
			return false;
	}
	return true;
}

/* What lies between two agreeing places: `dropped` of want, or `inserted` of got. */
static bool find_resync(const struct verify_list *want, size_t i, const struct verify_list *got,
                        size_t j, unsigned rules, size_t *dropped, size_t *inserted)
{
	for (size_t n = 1; n <= RESYNC_WINDOW; n++) {
		*dropped = n;
		*inserted = 0;
		if (i + n <= want->count && run_agrees(want, i + n, got, j, rules))
			return true;
		*dropped = 0;
		*inserted = n;
		if (j + n <= got->count && run_agrees(want, i, got, j + n, rules))
			return true;
	}
	return false;
}

static void compare_differing(struct verify_report *report, const struct verify_list *want,
                              size_t *i, const struct verify_list *got, size_t *j, const char *what,
                              unsigned rules)
{
	size_t dropped, inserted;

	if (run_agrees(want, *i + 1, got, *j + 1, rules) ||
	    !find_resync(want, *i, got, *j, rules, &dropped, &inserted)) {
		report_add(report, want, *i, what, &want->ops[*i], &got->ops[*j]);
		++*i;
		++*j;
		return;
	}
	while (dropped--) {
		report_add(report, want, *i, "missing", &want->ops[*i], NULL);
		++*i;
	}
	while (inserted--) {
		report_add(report, want, *i, "extra", NULL, &got->ops[*j]);
		++*j;
	}
}

void verify_compare(struct verify_report *report, const struct verify_list *want,
                    const struct verify_list *got, unsigned rules)
{
	size_t i = 0, j = 0;

	while (i < want->count && j < got->count) {
		const char *what;

		if (want->ops[i].refused || got->ops[j].refused) {
			/* Never made: counted, not compared. A plan's stands for the trace's. */
			report->not_replayed++;
			i++;
			j += got->ops[j].refused;
			continue;
		}
		report->operations++;
		what = verify_op_differs(&want->ops[i], &got->ops[j], rules);
		if (!what) {
			i++;
			j++;
			continue;
		}
		compare_differing(report, want, &i, got, &j, what, rules);
	}
	for (; i < want->count; i++)
		if (want->ops[i].refused)
			report->not_replayed++;
		else
			report_add(report, want, i, "missing", &want->ops[i], NULL);
	for (; j < got->count; j++)
		if (got->ops[j].refused)
			report->not_replayed++;
		else
			report_add(report, want, i, "extra", NULL, &got->ops[j]);
}
