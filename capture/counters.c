/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of the kernel's counters. Names are the kernel's own
 * (Documentation/admin-guide/mm/transhuge.rst, mm/vmstat.c).
 */

#include <string.h>

#include "capture/counters.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/options.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"
#define HUGEPAGES "hugepages-"

static void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

int counters_read_pairs(const char *path, const char *prefix, struct trace_meta *out)
{
	_cleanup_fclose_ FILE *f = sysfile_open(path);
	char line[256], key[256 + 32];

	if (!f)
		return errno == ENOENT ? 0 : error_errno();
	while (fgets(line, sizeof(line), f)) {
		char *value = strchr(line, ' ');
		uint64_t number;
		int r;

		if (!value)
			continue;
		*value++ = '\0';
		value[strcspn(value, "\n")] = '\0';
		if (parse_u64(value, &number) < 0)
			continue;
		snprintf(key, sizeof(key), "%s%s", prefix, line);
		r = trace_meta_set_u64(out, key, number);
		if (r < 0 && r != -E2BIG)
			return r;
	}
	return ferror(f) ? -EIO : 0;
}

/* One size's directory: "hugepages-64kB/stats/anon_fault_alloc" is thp/64kB/anon_fault_alloc. */
static int counters_read_size(struct trace_meta *out, const char *dir_name)
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	const char *size = dir_name + strlen(HUGEPAGES);
	char path[512], key[512];
	struct dirent *d;

	snprintf(path, sizeof(path), THP_DIR "/%s/stats", dir_name);
	dir = sysfile_opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : error_errno();
	while ((d = readdir(dir))) {
		uint64_t number;
		int r;

		if (d->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), THP_DIR "/%.64s/stats/%.128s", dir_name, d->d_name);
		if (sysfile_read_u64(path, &number) < 0)
			continue;
		snprintf(key, sizeof(key), "thp/%s/%s", size, d->d_name);
		r = trace_meta_set_u64(out, key, number);
		if (r < 0 && r != -E2BIG)
			return r;
	}
	return 0;
}

static int counters_read_thp(struct trace_meta *out)
{
	_cleanup_(cleanup_closedir) DIR *dir = sysfile_opendir(THP_DIR);
	struct dirent *d;

	if (!dir)
		return errno == ENOENT ? 0 : error_errno();
	while ((d = readdir(dir))) {
		int r;

		if (strncmp(d->d_name, HUGEPAGES, strlen(HUGEPAGES)))
			continue;
		r = counters_read_size(out, d->d_name);
		if (r < 0)
			return r;
	}
	return 0;
}

int counters_read(struct trace_meta *out)
{
	int r;

	r = counters_read_pairs("/proc/vmstat", "", out);
	return r < 0 ? r : counters_read_thp(out);
}
