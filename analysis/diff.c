/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmtape diff: compares results. */

#include <stdlib.h>
#include <string.h>

#include "analysis/diff_condition.h"
#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"

#define SIDES_MAX 16

/* In the order of --format's choices. */
static const struct diff_format *const formats[] = {
	&diff_format_block, &diff_format_records,  &diff_format_csv,
	&diff_format_json,  &diff_format_markdown,
};
#define FORMAT_NAMES "block,records,csv,json,markdown"

struct diff_options {
	unsigned format;
	bool all;
	const char *null_operand;
	struct option_list vary, fail_on;
};

static int final_status(const struct diff *d, const struct diff_options *o)
{
	bool withheld = false;

	for (size_t i = 0; i + 1 < d->side_count; i++) {
		const char *why = diff_withheld(&d->comparisons[i]);

		if (!why)
			continue;
		withheld = true;
		log_warn("%s against %s: no verdict, see why in the output", d->sides[0].label,
		         d->sides[i + 1].label);
	}
	if (o->fail_on.count)
		return diff_conditions_judge(d, &o->fail_on);
	return withheld ? STATUS_INCOMPLETE : STATUS_DONE;
}

static int print_diff(const struct diff *d, const struct diff_options *o)
{
	int r = formats[o->format]->print(stdout, d);

	if (r >= 0 && (fflush(stdout) == EOF || ferror(stdout)))
		r = error_errno();
	if (r < 0) {
		log_error("standard output: cannot write the comparison: %s", strerror(-r));
		return STATUS_FAILED;
	}
	return final_status(d, o);
}

static int compare_all(struct diff *d, struct comparison *comparisons, const struct diff_options *o,
                       const struct side *null_side)
{
	const struct compare_options options = { .vary = &o->vary, .null_side = null_side };

	for (size_t i = 1; i < d->side_count; i++) {
		int r = compare_sides(&comparisons[i - 1], &d->sides[0], &d->sides[i], &options);

		if (r < 0) {
			log_error("%s: cannot compare it: %s", d->sides[i].label, strerror(-r));
			return STATUS_FAILED;
		}
	}
	return print_diff(d, o);
}

static int check_null(const struct side *a, const struct side *null_side)
{
	if (!strcmp(side_fact(a, "kernel_version"), side_fact(null_side, "kernel_version")))
		return 0;
	log_error("--null: %s is of another kernel than %s: it must show the same kernel against "
	          "itself",
	          null_side->label, a->label);
	return -EINVAL;
}

static int run_with_sides(const struct diff_options *o, char *const *operands, size_t count)
{
	struct comparison comparisons[SIDES_MAX] = { 0 };
	struct side sides[SIDES_MAX] = { 0 }, null_side = { 0 };
	struct diff d = {
		.side_count = count, .sides = sides, .comparisons = comparisons, .all = o->all
	};
	int r = 0, status = STATUS_FAILED;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = side_read(&sides[i], operands[i]);
	if (r >= 0 && o->null_operand) {
		r = side_read(&null_side, o->null_operand);
		if (r >= 0)
			r = check_null(&sides[0], &null_side);
	}
	if (r >= 0)
		status = compare_all(&d, comparisons, o, o->null_operand ? &null_side : NULL);
	for (size_t i = 0; i < SIDES_MAX; i++) {
		comparison_clear(&comparisons[i]);
		side_clear(&sides[i]);
	}
	side_clear(&null_side);
	return status;
}

static int diff_run(int argc, char **argv)
{
	struct diff_options o = { 0 };
	const struct option options[] = {
		{ 'f', "format", OPTION_CHOICE, &o.format, "NAME",
		  "block (as mailing lists read it, default), records (avg, std, max, min), csv, "
		  "json or markdown",
		  FORMAT_NAMES, NULL, false },
		{ 0, "all", OPTION_FLAG, &o.all, NULL, "show every metric, not only what matters",
		  NULL, NULL, false },
		{ 0, "vary", OPTION_LIST, &o.vary, "NAME",
		  "a setting or option that differs on purpose, such as thp; may be given again",
		  NULL, NULL, false },
		{ 0, "null", OPTION_STRING, &o.null_operand, "FILE",
		  "results of A's kernel from another time: the spread of the same thing against "
		  "itself, else taken from split halves of A",
		  NULL, NULL, false },
		{ 0, "fail-on", OPTION_LIST, &o.fail_on, "CONDITION",
		  "exit 1 when it holds, such as 'elapsed>5%' or 'lru.acquisitions_per_folio>5%', "
		  "and is more than noise; 3 when that cannot be told",
		  NULL, NULL, false },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape diff [options] A.json B.json…",
		"Compares results with the first one, metric by metric, and says which "
		"differences are more than noise. A1.json,A2.json pools boots of one kernel. "
		"Exits 3 when the verdict is withheld.",
		options,
		false,
	};
	int operands, r;

	r = options_parse(&spec, argc, argv, &operands);
	if (r == 0 && (operands < 2 || operands > SIDES_MAX)) {
		log_error("diff takes from 2 to %d results: `mmtape diff --help`", SIDES_MAX);
		r = -EINVAL;
	}
	for (size_t i = 0; r == 0 && i < o.fail_on.count; i++)
		r = diff_condition_check(o.fail_on.items[i]);
	if (r == 0)
		r = run_with_sides(&o, argv + 1, (size_t)operands);
	else
		r = r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	option_list_clear(&o.vary);
	option_list_clear(&o.fail_on);
	return r;
}

const struct command command_diff = { "diff", "compare results: what changed more than noise",
	                              diff_run };
