/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every repetition has, whatever did the work: the kernel's counters. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "replay/passes.h"

#define MAX_NAME 200

static const struct counter_kind {
	const char *prefix, *name; /* of the key, of the metric */
	double scale;
} kinds[] = {
	{ "thp/", "thp.", 1 },
	{ "memcg/", "memcg.", 1 },
	{ "pressure/", "pressure.", 1e-6 },
	{ "", "vmstat.", 1 },
};

static const struct counter_kind *kind_of(const char *key)
{
	const struct counter_kind *kind = kinds;

	while (strncmp(key, kind->prefix, strlen(kind->prefix)))
		kind++;
	return kind;
}

/* Counters as differences: pgfault becomes vmstat.pgfault, thp/64kB/x thp.64kB.x. */
int pass_counter_values(struct result *r, const struct pass_counters *counters)
{
	char name[MAX_NAME];
	const char *key, *value;
	int error = 0;

	for (size_t i = 0; i < trace_meta_count(counters->after) && error >= 0; i++) {
		const struct counter_kind *kind;
		uint64_t before;

		trace_meta_at(counters->after, i, &key, &value);
		before = trace_meta_get_u64(counters->before, key, 0);
		kind = kind_of(key);
		snprintf(name, sizeof(name), "%s%s", kind->name, key + strlen(kind->prefix));
		for (char *c = name; *c; c++)
			if (*c == '/')
				*c = '.';
		error = result_value(r, name,
		                     (double)(int64_t)(strtoull(value, NULL, 10) - before) *
		                             kind->scale);
	}
	return error;
}

int pass_usage_values(struct result *r, const struct pass_usage *u)
{
	const struct {
		const char *name;
		double value;
	} values[] = {
		{ "elapsed", (double)u->elapsed / 1e9 },
		{ "system", (double)u->system / 1e9 },
		{ "user", (double)u->user / 1e9 },
		{ "faults", (double)u->faults_minor + (double)u->faults_major },
		{ "faults.major", (double)u->faults_major },
	};
	int error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values) && error >= 0; i++)
		error = result_value(r, values[i].name, values[i].value);
	return error;
}
