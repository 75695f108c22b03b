/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One size of anonymous folios at a time, by the kernel's settings for each size. */

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "replay/sweep.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage"
#define PAGE_KIB 4u
#define LEAST_ORDER 2u /* an anonymous folio of order 1 has no room for its queue */
#define HUGE_PAGE_ORDER 9u

static bool is_taken(const struct sweep *sweep, unsigned order)
{
	for (size_t i = 0; i < sweep->count; i++)
		if (sweep->orders[i] == order)
			return true;
	return false;
}

static int add(struct sweep *sweep, const char *text)
{
	uint64_t bytes;
	unsigned order = 0;

	if (parse_size(text, &bytes) < 0)
		bytes = 0;
	while (order <= HUGE_PAGE_ORDER && (uint64_t)PAGE_KIB << 10 << order != bytes)
		order++;
	if (order < LEAST_ORDER || order > HUGE_PAGE_ORDER) {
		log_error(
			"--mthp-sweep: '%s' is not a size like 16k, a power of two from 16k to 2m",
			text);
		return -EINVAL;
	}
	if (is_taken(sweep, order)) {
		log_error("--mthp-sweep: '%s' is given twice", text);
		return -EINVAL;
	}
	sweep->orders[sweep->count++] = order;
	return 0;
}

int sweep_parse(const char *text, struct sweep *out)
{
	char one[32];
	int r = 0;

	*out = (struct sweep){ 0 };
	for (const char *at = text; r >= 0; at++) {
		size_t len = strcspn(at, ",");

		snprintf(one, sizeof(one), "%.*s", (int)len, at);
		r = add(out, one);
		at += len;
		if (!*at)
			break;
	}
	return r;
}

static int set_size(struct settings_change *change, unsigned kib, const char *mode)
{
	char text[48];

	snprintf(text, sizeof(text), "%uk=%s", kib, mode);
	return settings_change_mthp(change, text);
}

/* All sizes but one to never; says whether the one is there. */
static int set_sizes(struct settings_change *change, unsigned wanted, bool *found)
{
	DIR *dir = opendir(THP_DIR);
	struct dirent *entry;
	char path[320];
	int r = 0;

	*found = false;
	while (dir && r >= 0 && (entry = readdir(dir))) {
		unsigned kib;

		/* Sizes for files alone have no such setting. */
		if (sscanf(entry->d_name, "hugepages-%ukB", &kib) != 1 ||
		    (unsigned)snprintf(path, sizeof(path), THP_DIR "/%s/enabled", entry->d_name) >=
		            sizeof(path) ||
		    access(path, F_OK))
			continue;
		*found |= kib == wanted;
		r = set_size(change, kib, kib == wanted ? "always" : "never");
	}
	if (dir)
		closedir(dir);
	return r;
}

int sweep_apply(const struct sweep *sweep, size_t at, struct settings_change *change)
{
	unsigned kib = PAGE_KIB << sweep->orders[at];
	bool found;
	int r = set_sizes(change, kib, &found);

	if (r < 0 || found)
		return r;
	if (sweep->orders[at] == HUGE_PAGE_ORDER && !access(THP_DIR "/enabled", F_OK))
		return settings_change_thp(change, "always");
	log_error("--mthp-sweep: this kernel has no folios of %uk (sizes can be set since 6.8): "
	          "leave "
	          "that size out",
	          kib);
	return -ENOENT;
}
