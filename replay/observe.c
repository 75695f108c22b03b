/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which sources of lock figures are used, and their life from open to close. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/journal.h"
#include "capture/sources.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/observe_own.h"

static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; *at;) {
		size_t part = strcspn(at, ",");

		if (part == len && !strncmp(at, name, len))
			return true;
		at += part + (at[part] == ',');
	}
	return false;
}

static void say_unknown(const char *name)
{
	char names[256] = "";
	size_t len = 0;

	for (const struct source *const *s = lock_sources; *s && len < sizeof(names); s++)
		len += (size_t)snprintf(names + len, sizeof(names) - len, "%s, ", (*s)->name);
	log_error("--sources: no source '%s': %sall or none", name, names);
}

static int check_names(const char *list)
{
	char name[64];

	for (const char *at = list; *at;) {
		size_t part = strcspn(at, ",");

		snprintf(name, sizeof(name), "%.*s", (int)part, at);
		if (!source_find(name)) {
			say_unknown(name);
			return -EINVAL;
		}
		at += part + (at[part] == ',');
	}
	return 0;
}

static int choose(struct observer *o, const char *list)
{
	bool all = !strcmp(list, "all"), none = !strcmp(list, "none");
	int r = all || none ? 0 : check_names(list);

	for (const struct source *const *s = lock_sources; *s && r >= 0; s++) {
		struct observed *seen = &o->all[o->all_count];

		if (o->all_count == OBSERVE_MAX)
			return -E2BIG;
		seen->source = *s;
		o->all_count++;
		if (none || (!all && !is_listed(list, (*s)->name))) {
			snprintf(seen->why, sizeof(seen->why), "not asked for (--sources)");
			continue;
		}
		r = (*s)->check(&o->options, seen->why, sizeof(seen->why));
		if (r < 0 && !all) {
			log_error("--sources: %s: %s", (*s)->name, seen->why);
			return r;
		}
		if (r >= 0)
			o->used[o->used_count++] = seen;
		r = 0;
	}
	return r;
}

int observer_new(struct observer **out, const char *list, bool exclusive, bool together)
{
	struct observer *o = calloc(1, sizeof(*o));
	int r = o ? 0 : -ENOMEM;

	*out = NULL;
	if (r < 0) {
		log_error("not enough memory");
		return r;
	}
	o->options.exclusive = exclusive;
	o->together = together;
	r = choose(o, list);
	if (r >= 0 && o->used_count)
		r = journal_new(&o->options.journal);
	if (r < 0)
		observer_free(o);
	else
		*out = o;
	return r;
}

struct observer *observer_free(struct observer *o)
{
	if (!o)
		return NULL;
	observer_close(o);
	for (size_t i = 0; i < o->all_count; i++) {
		json_decref(o->all[i].unseen);
		json_decref(o->all[i].unresolved_in);
	}
	o->options.journal = journal_free(o->options.journal);
	free(o);
	return NULL;
}

size_t observer_passes(const struct observer *o)
{
	return o->together && o->used_count ? 1 : o->used_count;
}

bool observer_uses(const struct observer *o, const char *source)
{
	for (size_t i = 0; i < o->used_count; i++)
		if (!strcmp(o->used[i]->source->name, source))
			return true;
	return false;
}

int observer_open(struct observer *o, size_t pass)
{
	size_t count = o->together ? o->used_count : 1;

	o->first_open = o->together ? 0 : pass;
	for (o->open_count = 0; o->open_count < count; o->open_count++) {
		struct observed *seen = o->used[o->first_open + o->open_count];
		int r = seen->source->open(&seen->state, &o->options);

		if (r < 0)
			return r;
	}
	return 0;
}

void observer_close(struct observer *o)
{
	while (o->open_count) {
		struct observed *seen = o->used[o->first_open + --o->open_count];

		seen->source->close(seen->state);
		seen->state = NULL;
	}
}

/*
 * lock_stat, the first of the table, sees what the others do to begin and to end: it
 * starts last and stops first.
 */
int observer_start(struct observer *o)
{
	int r = 0;

	for (size_t i = o->open_count; i-- > 0 && r >= 0;) {
		struct observed *seen = o->used[o->first_open + i];

		r = seen->source->start(seen->state);
	}
	return r;
}

int observer_stop(struct observer *o)
{
	int r = 0;

	for (size_t i = 0; i < o->open_count; i++) {
		struct observed *seen = o->used[o->first_open + i];
		int one = seen->source->stop(seen->state);

		r = r < 0 ? r : one;
	}
	return r;
}

uint64_t observer_dropped(const struct observer *o)
{
	uint64_t dropped = 0;

	for (size_t i = 0; i < o->used_count; i++)
		dropped += o->used[i]->dropped;
	return dropped;
}
