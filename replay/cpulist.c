/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of cpus. */

#include <sched.h>
#include <stdlib.h>

#include "common/cleanup.h"
#include "replay/cpulist.h"

static int parse_cpu(const char **text, uint32_t *out)
{
	uint32_t value = 0;
	const char *p = *text;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (uint32_t)(*p - '0');
		if (value >= CPULIST_MAX)
			return -EINVAL;
	}
	*text = p;
	*out = value;
	return 0;
}

int cpulist_parse(const char *text, uint32_t **out, uint32_t *count)
{
	_cleanup_free_ uint32_t *cpus = calloc(CPULIST_MAX, sizeof(*cpus));
	uint32_t n = 0, from, to;

	if (!cpus)
		return -ENOMEM;
	for (;;) {
		if (parse_cpu(&text, &from) < 0)
			return -EINVAL;
		to = from;
		if (*text == '-') {
			text++;
			if (parse_cpu(&text, &to) < 0 || to < from)
				return -EINVAL;
		}
		for (; from <= to; from++) {
			if (n == CPULIST_MAX)
				return -EINVAL;
			cpus[n++] = from;
		}
		if (!*text)
			break;
		if (*text++ != ',')
			return -EINVAL;
	}
	*out = take_ptr(cpus);
	*count = n;
	return 0;
}

int cpulist_check_allowed(const uint32_t *cpus, uint32_t count, uint32_t *missing)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 0; /* more CPUs than such a set holds: we cannot tell */
	for (uint32_t i = 0; i < count; i++)
		if (!CPU_ISSET(cpus[i], &allowed)) {
			*missing = cpus[i];
			return -ENODEV;
		}
	return 0;
}
