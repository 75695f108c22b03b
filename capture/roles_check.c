/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of roles against /proc/kallsyms. */

#include <stdlib.h>
#include <string.h>

#include "capture/kallsyms.h"
#include "capture/roles_check.h"
#include "common/cleanup.h"
#include "common/log.h"

struct presence {
	const struct role_function *rows;
	const char **names; /* of all rows, sorted */
	bool *present; /* by index of names */
	size_t count;
	bool any; /* the kernel names functions at all */
};

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Of equal names any one. */
static size_t find_name(const struct presence *p, const char *name)
{
	const char **at = bsearch(&name, p->names, p->count, sizeof(*p->names), compare_names);

	return at ? (size_t)(at - p->names) : p->count;
}

/* Those of modules too: what a role names may be built as one. */
static int note_symbol(void *data, const struct kallsyms_symbol *s)
{
	struct presence *p = data;
	char name[128];
	size_t i;

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(s->name, "."), s->name);
	p->any = true;
	i = find_name(p, name);
	if (i < p->count)
		p->present[i] = true;
	return 0;
}

static bool is_present(const struct presence *p, const char *name)
{
	size_t i = find_name(p, name);

	return i < p->count && p->present[i];
}

static bool any_present(const struct presence *p, const char *names)
{
	char text[256], *save = NULL;

	snprintf(text, sizeof(text), "%s", names);
	for (char *n = strtok_r(text, " ", &save); n; n = strtok_r(NULL, " ", &save))
		if (is_present(p, n))
			return true;
	return false;
}

static int presence_new(struct presence *p)
{
	int r;

	p->rows = role_functions(&p->count);
	p->names = calloc(p->count, sizeof(*p->names));
	p->present = calloc(p->count, sizeof(*p->present));
	if (!p->names || !p->present)
		return -ENOMEM;
	for (size_t i = 0; i < p->count; i++)
		p->names[i] = p->rows[i].name;
	qsort(p->names, p->count, sizeof(*p->names), compare_names);
	r = kallsyms_each_code(note_symbol, p);
	return r < 0 ? r : p->any ? 0 : -ENOENT;
}

int roles_check_each(uint16_t kernel,
                     void (*report)(void *data, const struct role_function *row, bool certain),
                     void *data)
{
	struct presence p = { 0 };
	int r = presence_new(&p);

	for (size_t i = 0; r >= 0 && i < p.count; i++) {
		const struct role_function *row = &p.rows[i];

		if (row->from > kernel || (row->until && kernel > row->until) ||
		    is_present(&p, row->name) ||
		    (row->inlined_in && any_present(&p, row->inlined_in)))
			continue;
		report(data, row, !row->needs && !row->unverified);
	}
	free(p.names);
	free(p.present);
	return r;
}

struct found {
	const struct role_function *first;
	int count;
};

static void note_missing(void *data, const struct role_function *row, bool certain)
{
	struct found *f = data;

	if (!certain)
		return;
	if (!f->count++)
		f->first = row;
}

int roles_check_warn(const char *release)
{
	uint16_t kernel = role_kernel(release);
	struct found found = { 0 };
	char more[32] = "";

	if (kernel < ROLE_KERNEL(5, 15) || kernel > ROLE_KERNEL(6, 18) ||
	    roles_check_each(kernel, note_missing, &found) < 0 || !found.count)
		return 0;
	if (found.count > 1)
		snprintf(more, sizeof(more), " (and %d more)", found.count - 1);
	log_warn("kernel %s has no function '%s' of role %s%s: what took its lock there counts "
	         "for its callers or as unresolved; see docs/locks.md",
	         release, found.first->name, found.first->role, more);
	return found.count;
}
