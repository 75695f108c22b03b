/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lock sources, and the figures they fill in. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sources.h"
#include "common/array.h"

extern const struct source source_lock_stat, source_contention, source_entries, source_profile;

const struct source *const lock_sources[] = {
	&source_lock_stat, &source_contention, &source_entries, &source_profile, NULL,
};

const struct source *source_find(const char *name)
{
	for (const struct source *const *s = lock_sources; *s; s++)
		if (!strcmp((*s)->name, name))
			return *s;
	return NULL;
}

void lock_figures_clear(struct lock_figures *f)
{
	free(f->items);
	free(f->names);
	free(f->unseen);
	*f = (struct lock_figures){ 0 };
}

static bool same_path(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

struct lock_figure *lock_figures_at(struct lock_figures *f, const char *role, enum role_side side,
                                    const char *path)
{
	struct lock_figure *items;

	for (size_t i = 0; i < f->count; i++)
		if (f->items[i].side == side && !strcmp(f->items[i].role, role) &&
		    same_path(f->items[i].path, path))
			return &f->items[i];
	items = reallocarray(f->items, f->count + 1, sizeof(*items));
	if (!items)
		return NULL;
	f->items = items;
	items[f->count] = (struct lock_figure){ .role = role,
		                                .side = side,
		                                .path = path,
		                                .acquisitions = -1,
		                                .contentions = -1,
		                                .wait = -1,
		                                .hold = -1,
		                                .share = -1 };
	return &items[f->count++];
}

int lock_figures_unresolved(struct lock_figures *f, const char *name, double amount)
{
	struct lock_unresolved *u;
	int r;

	for (size_t i = 0; i < f->name_count; i++)
		if (!strncmp(f->names[i].name, name, sizeof(u->name) - 1)) {
			f->names[i].amount += amount;
			return 0;
		}
	r = array_grow((void **)&f->names, f->name_count, &f->name_room, sizeof(*u));
	if (r < 0)
		return r;
	u = &f->names[f->name_count++];
	snprintf(u->name, sizeof(u->name), "%s", name);
	u->amount = amount;
	return 0;
}

int lock_figures_unseen(struct lock_figures *f, const char *role)
{
	const char **unseen;

	for (size_t i = 0; i < f->unseen_count; i++)
		if (!strcmp(f->unseen[i], role))
			return 0;
	unseen = reallocarray(f->unseen, f->unseen_count + 1, sizeof(*unseen));
	if (!unseen)
		return -ENOMEM;
	f->unseen = unseen;
	unseen[f->unseen_count++] = role;
	return 0;
}
