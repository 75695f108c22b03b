/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of metrics. A direction is given only where no one would argue
 * about it: more huge pages, for one, may be good or bad.
 */

#include <fnmatch.h>
#include <stddef.h>

#include "analysis/metrics.h"
#include "common/cleanup.h"

static const struct metric_row rows[] = {
	/* of a repetition */
	{ "elapsed", "s", BETTER_LESS, true },
	{ "system", "s", BETTER_LESS, true },
	{ "user", "s", BETTER_LESS, false },
	{ "faults", "faults", BETTER_NONE, false },
	{ "faults.major", "faults", BETTER_LESS, false },
	{ "waits.slept", "waits", BETTER_NONE, false },
	{ "overhead.system", "s", BETTER_NONE, false },
	{ "overhead.user", "s", BETTER_NONE, false },
	{ "overhead.faults", "faults", BETTER_NONE, false },
	/* of calls, in the pass that times them */
	{ "latency.*.mean", "ns", BETTER_LESS, false },
	{ "latency.*.p50", "ns", BETTER_LESS, false },
	{ "latency.*.p99", "ns", BETTER_LESS, false },
	{ "latency.*.max", "ns", BETTER_LESS, false },
	/* of locks, by role, side and path; ten primary ones with elapsed and system */
	{ "lock.lru.acquisitions_per_operation", "per operation", BETTER_LESS, true },
	{ "lock.lru.wait", "s", BETTER_LESS, true },
	{ "lock.deferred-split.acquisitions_per_operation", "per operation", BETTER_LESS, true },
	{ "lock.deferred-split.wait", "s", BETTER_LESS, true },
	{ "lock.zone-alloc.acquisitions_per_operation", "per operation", BETTER_LESS, true },
	{ "lock.zone-alloc.wait", "s", BETTER_LESS, true },
	{ "lock.zone-free.acquisitions_per_operation", "per operation", BETTER_LESS, true },
	{ "lock.zone-free.wait", "s", BETTER_LESS, true },
	{ "lock.unresolved.*", "share", BETTER_NONE, false },
	{ "lock.*.acquisitions", "", BETTER_LESS, false },
	{ "lock.*.acquisitions_per_operation", "per operation", BETTER_LESS, false },
	{ "lock.*.acquisitions_per_folio", "per folio", BETTER_LESS, false },
	{ "lock.*.acquisitions_per_cut", "per cut", BETTER_LESS, false },
	{ "lock.*.contentions", "", BETTER_LESS, false },
	{ "lock.*.wait", "s", BETTER_LESS, false },
	{ "lock.*.hold", "s", BETTER_NONE, false },
	{ "lock.*.share", "of CPU", BETTER_LESS, false },
	/* of /proc/vmstat, differences over the repetition */
	{ "vmstat.allocstall*", "", BETTER_LESS, false },
	{ "vmstat.compact_fail", "", BETTER_LESS, false },
	{ "vmstat.compact_stall", "", BETTER_LESS, false },
	{ "vmstat.oom_kill", "", BETTER_LESS, false },
	{ "vmstat.pgfault", "", BETTER_LESS, false },
	{ "vmstat.pgmajfault", "", BETTER_LESS, false },
	{ "vmstat.pgscan_direct*", "", BETTER_LESS, false },
	{ "vmstat.pswpin", "", BETTER_LESS, false },
	{ "vmstat.pswpout", "", BETTER_LESS, false },
	{ "vmstat.thp_fault_fallback*", "", BETTER_LESS, false },
	{ "vmstat.workingset_refault*", "", BETTER_LESS, false },
	{ "vmstat.*", "", BETTER_NONE, false },
	/* of sysfs hugepages-SIZE/stats, differences over the repetition */
	{ "thp.*.anon_fault_fallback*", "", BETTER_LESS, false },
	{ "thp.*.split_failed", "", BETTER_LESS, false },
	{ "thp.*", "", BETTER_NONE, false },
	/* of the memory cgroups of the tasks, differences over the repetition */
	{ "memcg.*oom_kill", "", BETTER_LESS, false },
	{ "memcg.*pgmajfault", "", BETTER_LESS, false },
	{ "memcg.*thp_fault_fallback*", "", BETTER_LESS, false },
	{ "memcg.*workingset_refault*", "", BETTER_LESS, false },
	{ "memcg.*", "", BETTER_NONE, false },
	/* of /proc/pressure, differences over the repetition */
	{ "pressure.*", "s", BETTER_LESS, false },
};

const struct metric_row *metric_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (!fnmatch(rows[i].pattern, name, FNM_NOESCAPE))
			return &rows[i];
	return NULL;
}
