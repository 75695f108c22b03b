/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What every repetition has, whatever did the work: the machine's counters. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/passes.h"

#define MAX_NAME 200

/* Machine counters as differences: pgfault becomes vmstat.pgfault, thp/64kB/x thp.64kB.x. */
int pass_counter_values(struct result *r, const struct pass_counters *counters)
{
	char name[MAX_NAME];
	const char *key, *value;
	int error = 0;

	for (size_t i = 0; i < trace_meta_count(counters->after) && error >= 0; i++) {
		uint64_t before;

		trace_meta_at(counters->after, i, &key, &value);
		before = trace_meta_get_u64(counters->before, key, 0);
		snprintf(name, sizeof(name), "%s%s", strncmp(key, "thp/", 4) ? "vmstat." : "", key);
		for (char *c = name; *c; c++)
			if (*c == '/')
				*c = '.';
		error = result_value(r, name,
		                     (double)(int64_t)(strtoull(value, NULL, 10) - before));
	}
	return error;
}
