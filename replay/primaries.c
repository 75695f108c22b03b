/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics are primary, by the sources that give them. */

#include <stdio.h>
#include <string.h>

#include "analysis/metrics.h"
#include "common/cleanup.h"
#include "replay/primaries.h"

/*
 * The locks of the known cases. lock_stat has one class for both sides of the zone
 * lock, so its figures stand for them where no other source tells them apart.
 */
static const struct primary {
	const char *role;
	const char *counted_by[3], *waited_by[3]; /* sources, any of which gives the measure */
	const char *unless; /* a source that makes the row needless; NULL: none */
} locks[] = {
	{ "lru", { "lock_stat", "entries" }, { "lock_stat", "contention" } },
	{ "deferred-split", { "lock_stat", "entries" }, { "lock_stat", "contention" } },
	{ "zone-alloc", { "entries" }, { "contention" } },
	{ "zone-free", { "entries" }, { "contention" } },
	{ "zone", { "lock_stat" }, { NULL }, "entries" },
	{ "zone", { NULL }, { "lock_stat" }, "contention" },
};

static bool is_given(const struct observer *o, const char *const sources[3])
{
	for (size_t i = 0; i < 3 && sources[i]; i++)
		if (observer_uses(o, sources[i]))
			return true;
	return false;
}

static int declare(struct result *r, const char *name)
{
	const struct metric_row *row = metric_find(name);

	return result_metric(r, name, row ? row->unit : "", row ? row->better : BETTER_NONE, true);
}

static int declare_lock(struct result *r, const struct primary *p, const char *measure)
{
	char name[RESULT_MAX_NAME];

	snprintf(name, sizeof(name), "lock.%s.%s", p->role, measure);
	return declare(r, name);
}

int primaries_declare(struct result *r, const struct observer *o, bool times, bool operations)
{
	const char *count = operations ? "acquisitions_per_operation" : "acquisitions";
	int e = times ? declare(r, "elapsed") : 0;

	if (e >= 0 && times)
		e = declare(r, "system");
	for (size_t i = 0; i < ARRAY_SIZE(locks) && e >= 0; i++) {
		const struct primary *p = &locks[i];

		if (p->unless && observer_uses(o, p->unless))
			continue;
		if (is_given(o, p->counted_by))
			e = declare_lock(r, p, count);
		if (e >= 0 && is_given(o, p->waited_by))
			e = declare_lock(r, p, "wait");
	}
	return e;
}
