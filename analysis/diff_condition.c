/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Conditions of --fail-on. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/diff_condition.h"
#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"

#define LOCKS "lock."
#define ANY_ORDER (RESULT_NO_ORDER - 1)

/* "elapsed>5%": the change from A to B, in percent, is above 5. */
struct condition {
	char metric[RESULT_MAX_NAME + 1];
	bool above;
	double percent;
};

static int parse_condition(const char *text, struct condition *out)
{
	const char *at = strpbrk(text, "<>"), *next;
	char *end;

	/* The last one: a metric's name may hold any of them. */
	while (at && (next = strpbrk(at + 1, "<>")))
		at = next;
	if (!at || at == text || (size_t)(at - text) > RESULT_MAX_NAME)
		goto wrong;
	memcpy(out->metric, text, (size_t)(at - text));
	out->metric[at - text] = '\0';
	out->above = *at == '>';
	out->percent = strtod(at + 1, &end);
	if (end == at + 1 || strcmp(end, "%") || !isfinite(out->percent))
		goto wrong;
	return 0;
wrong:
	log_error("--fail-on: '%s' is not METRIC>NUMBER%% or METRIC<NUMBER%%, such as "
	          "'elapsed>5%%'",
	          text);
	return -EINVAL;
}

int diff_condition_check(const char *text)
{
	struct condition unused;

	return parse_condition(text, &unused);
}

/* What the name of a condition means in these results. */
struct target {
	char name[sizeof(LOCKS) + RESULT_MAX_NAME];
	int order; /* or ANY_ORDER */
};

static bool is_known(const struct diff *d, const char *name)
{
	for (size_t i = 0; i + 1 < d->side_count; i++)
		if (json_object_get(d->comparisons[i].names, name))
			return true;
	return false;
}

static bool find_name(const struct diff *d, struct target *out, const char *name)
{
	static const char *const prefixes[] = { "", LOCKS };

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		snprintf(out->name, sizeof(out->name), "%s%s", prefixes[i], name);
		if (is_known(d, out->name))
			return true;
	}
	return false;
}

static bool find_target(const struct diff *d, struct target *out, const char *text)
{
	char name[RESULT_MAX_NAME + 1];
	const char *at = strrchr(text, '@');
	unsigned long order;
	char *end;

	out->order = ANY_ORDER;
	if (find_name(d, out, text))
		return true;
	if (!at || at[1] < '0' || at[1] > '9')
		return false;
	order = strtoul(at + 1, &end, 10);
	if (*end || order > RESULT_MAX_ORDER)
		return false;
	out->order = (int)order;
	snprintf(name, sizeof(name), "%.*s", (int)(at - text), text);
	return find_name(d, out, name);
}

static bool condition_holds(const struct condition *c, const struct compared *m)
{
	/* From 0 to something is more than any percentage. */
	double percent = isnan(m->change) ? (double)INFINITY : 100 * m->change;

	return m->changed && (c->above ? percent > c->percent : percent < c->percent);
}

static int judge_column(const struct comparison *comparison, const struct condition *c,
                        const struct target *t, bool *seen)
{
	int status = STATUS_DONE;

	for (int order = RESULT_NO_ORDER; order <= (int)RESULT_MAX_ORDER; order++) {
		const struct compared *m = NULL;

		if (t->order == ANY_ORDER || t->order == order)
			m = comparison_find(comparison, t->name, order);
		if (!m)
			continue;
		*seen = true;
		if (condition_holds(c, m))
			return STATUS_FAILED;
		if (m->verdict == VERDICT_NONE && !m->changed)
			status = STATUS_INCOMPLETE;
	}
	return status;
}

static int judge_condition(const struct diff *d, const char *text)
{
	int status = STATUS_DONE;
	bool seen = false;
	struct condition c;
	struct target t;

	if (parse_condition(text, &c) < 0)
		return STATUS_USAGE;
	if (find_target(d, &t, c.metric))
		for (size_t i = 0; i + 1 < d->side_count && status != STATUS_FAILED; i++) {
			int one = judge_column(&d->comparisons[i], &c, &t, &seen);

			status = one == STATUS_DONE ? status : one;
		}
	if (seen)
		return status;
	log_error("--fail-on: no metric '%s' in these results: --all lists them", c.metric);
	return STATUS_USAGE;
}

int diff_conditions_judge(const struct diff *d, const struct option_list *conditions)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < conditions->count; i++) {
		int one = judge_condition(d, conditions->items[i]);

		if (one == STATUS_FAILED || one == STATUS_USAGE)
			return one;
		status = one == STATUS_DONE ? status : one;
	}
	return status;
}
