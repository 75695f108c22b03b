/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory of the machine and of the cgroups around this process. */

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "replay/memory.h"

#define CGROUP_ROOT "/sys/fs/cgroup"

/* The number after `key` in a file of lines "key number"; false when it is not there. */
static bool read_field(const char *path, const char *key, uint64_t *out)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	char line[256];
	size_t length = strlen(key);

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, length) && sscanf(line + length, " %" SCNu64, out) == 1)
			return true;
	return false;
}

/* A file with one number; "max" is none. */
static bool read_number(const char *folder, const char *name, uint64_t *out)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return read_field(path, "", out);
}

/* Page cache that could be dropped counts as free, as in MemAvailable. */
static uint64_t group_available(const char *folder, const char *limit_name, const char *usage_name,
                                const char *cache_key)
{
	char stat[PATH_MAX];
	uint64_t limit, usage, cache = 0;

	if (!read_number(folder, limit_name, &limit) || !read_number(folder, usage_name, &usage))
		return UINT64_MAX;
	snprintf(stat, sizeof(stat), "%.*s/memory.stat", PATH_MAX - 16, folder);
	if (read_field(stat, cache_key, &cache) && cache < usage)
		usage -= cache;
	return limit > usage ? limit - usage : 0;
}

/* The group at path and all above it, up to the hierarchy's root. */
static uint64_t groups_available(const char *root, const char *path, bool version2)
{
	char folder[PATH_MAX];
	uint64_t least = UINT64_MAX, here;
	size_t root_length = strlen(root);
	char *slash;

	snprintf(folder, sizeof(folder), "%s%s", root, path);
	for (;;) {
		here = version2 ? group_available(folder, "memory.max", "memory.current",
		                                  "inactive_file ")
		                : group_available(folder, "memory.limit_in_bytes",
		                                  "memory.usage_in_bytes", "total_inactive_file ");
		if (here < least)
			least = here;
		slash = strrchr(folder, '/');
		if (!slash || slash < folder + root_length)
			return least;
		*slash = 0;
	}
}

static uint64_t cgroups_available(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/cgroup", "re");
	uint64_t least = UINT64_MAX, here;
	char line[PATH_MAX];

	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *path;

		if (!controllers || !(path = strchr(controllers + 1, ':')))
			continue;
		line[strcspn(line, "\n")] = 0;
		*path++ = 0;
		controllers++;
		if (!*controllers)
			here = groups_available(CGROUP_ROOT, path, true);
		else if (!strcmp(controllers, "memory"))
			here = groups_available(CGROUP_ROOT "/memory", path, false);
		else
			continue;
		if (here < least)
			least = here;
	}
	return least;
}

uint64_t memory_available(void)
{
	uint64_t machine, groups = cgroups_available();

	if (!read_field("/proc/meminfo", "MemAvailable:", &machine))
		return groups;
	machine *= 1024;
	return machine < groups ? machine : groups;
}

uint64_t memory_total(void)
{
	return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t memory_swap_free(void)
{
	uint64_t kib;

	return read_field("/proc/meminfo", "SwapFree:", &kib) ? kib << 10 : 0;
}
