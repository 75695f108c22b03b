/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What diff says of a whole comparison: why there is no verdict, how it was judged. */

#include <math.h>
#include <string.h>

#include "analysis/diff_format.h"
#include "common/escape.h"

const char *diff_withheld(const struct comparison *c)
{
	if (c->reasons.count)
		return c->reasons.texts[0];
	if (!c->withheld)
		return NULL;
	for (size_t i = 0; i < c->count; i++)
		if (c->metrics[i].verdict == VERDICT_NONE && !c->metrics[i].changed &&
		    !c->metrics[i].shown_only)
			return c->metrics[i].why;
	return "no metric is in both";
}

/* Repetitions of one boot say nothing about the next boot of another kernel. */
static bool boots_unknown(const struct comparison *c)
{
	return !c->by_boot &&
	       (strcmp(side_fact(c->a, "kernel"), side_fact(c->b, "kernel")) ||
	        strcmp(side_fact(c->a, "kernel_version"), side_fact(c->b, "kernel_version")));
}

/* Rules that hold because of where it ran. */
static void note_circumstances(FILE *f, const struct circumstances *where)
{
	if (where->is_virtual && where->virtual_cpus)
		fprintf(f, "%u virtual CPUs on %u real ones: ", where->virtual_cpus,
		        where->real_cpus);
	else if (where->is_virtual)
		fputs("emulated CPUs: ", f);
	if (where->is_virtual)
		fprintf(f,
		        "wait, hold and share of locks without verdict;\n"
		        "contentions count from %g-fold on; times are those of this machine\n",
		        COMPARE_FOLD);
	if (where->debug_locks)
		fputs("a kernel with lockdep and debug spinlocks: times are without verdict\n", f);
}

static void note_comparison(FILE *f, const struct comparison *c)
{
	const char *why = diff_withheld(c);
	size_t changed = 0;

	for (size_t i = 0; i < c->count; i++)
		changed += c->metrics[i].changed && !c->metrics[i].primary;
	if (c->reasons.count) {
		for (size_t i = 0; i < c->reasons.count; i++) {
			fputs("no verdict: ", f);
			escape_text(f, c->reasons.texts[i]);
			fputc('\n', f);
		}
		return;
	}
	if (c->withheld) {
		fputs("no verdict: ", f);
		escape_text(f, why);
		fputc('\n', f);
	}
	if (c->has_primary)
		fprintf(f, "primary metrics: %zu better, %zu worse; exploratory: %zu changed\n",
		        c->better, c->worse, changed);
	else
		fprintf(f, "%zu better, %zu worse\n", c->better, c->worse);
	note_circumstances(f, &c->where);
	if (boots_unknown(c))
		fputs("one boot a side: what changes from boot to boot is not in the noise\n", f);
}

/* Figures of a source that lost something are there, but nothing can be told from them. */
static void note_dropped(FILE *f, const struct side *side, unsigned at)
{
	for (size_t i = 0; i < side->count; i++) {
		json_t *sources = json_object_get(result_provenance(side->results[i]), "sources");
		json_t *source;
		size_t k;

		json_array_foreach(sources, k, source)
		{
			const char *name = json_string_value(json_object_get(source, "name"));
			double lost = json_number_value(json_object_get(source, "dropped"));

			if (!name || !(lost > 0))
				continue;
			fprintf(f, "%c: ", (int)('A' + (at < 25 ? at : 25)));
			escape_text(f, name);
			fprintf(f, " lost %.0f events: no verdict on its figures\n", lost);
		}
	}
}

static bool was_tested(const struct comparison *c)
{
	for (size_t i = 0; i < c->count && !c->reasons.count; i++)
		if (!isnan(c->metrics[i].p))
			return true;
	return false;
}

void diff_notes(FILE *f, const struct diff *d)
{
	bool exact = true, tested = false;

	for (size_t i = 0; i < d->side_count; i++)
		note_dropped(f, &d->sides[i], (unsigned)i);
	for (size_t i = 0; i + 1 < d->side_count; i++) {
		if (d->side_count > 2) {
			escape_text(f, d->sides[i + 1].label);
			fputs(": ", f);
		}
		note_comparison(f, &d->comparisons[i]);
		exact &= d->comparisons[i].exact;
		tested |= was_tested(&d->comparisons[i]);
	}
	if (!tested)
		return;
	fprintf(f,
	        "level %g a family, permutation max-T over %s arrangements;\n"
	        "a change counts above the larger of %g%% and twice the spread of A against\n"
	        "itself, taken from %s\n",
	        COMPARE_LEVEL, exact ? "all" : "sampled", 100 * COMPARE_SMALLEST,
	        d->comparisons[0].threshold_from);
}
