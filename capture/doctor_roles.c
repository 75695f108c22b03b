/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the table of roles that this kernel has neither as symbols of their
 * own nor inside those they are inlined in. What calls them shows as unresolved.
 * Names are in /proc/kallsyms for everyone, also where addresses are hidden.
 */

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/doctor_checks.h"
#include "capture/roles.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

/* A name that is looked for: part of a string of the table. */
struct sought {
	const char *name;
	size_t length;
	bool found;
};

struct names {
	struct sought *items;
	size_t count;
};

static int compare_sought(const void *a, const void *b)
{
	const struct sought *x = a, *y = b;
	int order = strncmp(x->name, y->name, x->length < y->length ? x->length : y->length);

	return order ? order : (x->length > y->length) - (x->length < y->length);
}

static struct sought *names_find(const struct names *names, const char *name, size_t length)
{
	const struct sought key = { name, length, false };

	return names->count ? bsearch(&key, names->items, names->count, sizeof(key), compare_sought)
	                    : NULL;
}

/* The words of text, none twice in the end. */
static int names_add(struct names *names, const char *text)
{
	while (text && *text) {
		size_t length = strcspn(text, " ");
		struct sought *items = reallocarray(names->items, names->count + 1, sizeof(*items));

		if (!items)
			return -ENOMEM;
		names->items = items;
		items[names->count++] = (struct sought){ text, length, false };
		text += length;
		text += strspn(text, " ");
	}
	return 0;
}

static void names_sort(struct names *names)
{
	size_t kept = 0;

	if (!names->count)
		return;
	qsort(names->items, names->count, sizeof(*names->items), compare_sought);
	for (size_t i = 1; i < names->count; i++)
		if (compare_sought(&names->items[kept], &names->items[i]))
			names->items[++kept] = names->items[i];
	names->count = kept + 1;
}

static int names_load(struct names *names, uint16_t kernel)
{
	size_t count;
	const struct role_function *rows = role_functions(&count);
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (!role_of_function(rows[i].name, kernel))
			continue;
		r = names_add(names, rows[i].name);
		if (r == 0)
			r = names_add(names, rows[i].inlined_in);
	}
	names_sort(names);
	return r;
}

/* Marks what /proc/kallsyms has; false if it has no names at all. */
static bool names_look(struct names *names)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/kallsyms");
	char line[512];
	bool any = false;

	while (f && fgets(line, sizeof(line), f)) {
		char *name = strchr(line, ' ');
		struct sought *sought;

		name = name ? strchr(name + 1, ' ') : NULL;
		if (!name)
			continue;
		any = true;
		name++;
		/* Compilers add .isra.0 and the like. */
		sought = names_find(names, name, strcspn(name, ". \t\n"));
		if (sought)
			sought->found = true;
	}
	return any;
}

static bool any_found(const struct names *names, const char *words)
{
	while (words && *words) {
		size_t length = strcspn(words, " ");
		const struct sought *sought = names_find(names, words, length);

		if (sought && sought->found)
			return true;
		words += length;
		words += strspn(words, " ");
	}
	return false;
}

/* What an option of the kernel brings may well not be there. */
static bool is_missing(const struct names *names, const struct role_function *row)
{
	return !row->needs && !any_found(names, row->name) && !any_found(names, row->inlined_in);
}

/* A name may have several rows; the row's first one speaks for it. */
static bool is_first(const struct role_function *rows, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (!strcmp(rows[j].name, rows[i].name))
			return false;
	return true;
}

/* Counts the functions that hold on this kernel and writes those that are missing to list. */
static unsigned count_missing(const struct names *names, uint16_t kernel, unsigned *of, char *list,
                              size_t size)
{
	size_t count, used = 0;
	const struct role_function *rows = role_functions(&count);
	unsigned missing = 0;

	*list = '\0';
	*of = 0;
	for (size_t i = 0; i < count; i++) {
		const struct role_function *row = role_of_function(rows[i].name, kernel);

		if (!row || !is_first(rows, i))
			continue;
		(*of)++;
		if (!is_missing(names, row))
			continue;
		if (used < size)
			used += (size_t)snprintf(list + used, size - used, "%s%s",
			                         missing ? ", " : "", row->name);
		missing++;
	}
	if (used >= size)
		strcpy(list + size - strlen(", …") - 1, ", …");
	return missing;
}

static void answer(struct doctor_answer *a, const struct names *names, uint16_t kernel)
{
	char list[sizeof(a->cause) - 40];
	unsigned of, missing = count_missing(names, kernel, &of, list, sizeof(list));

	if (missing)
		doctor_no(a, "their locks show as unresolved; a row in capture/roles_table.c",
		          "%u of %u are not in this kernel: %s", missing, of, list);
	else
		doctor_yes(a, "all %u are in this kernel", of);
}

void doctor_ask_roles(struct doctor_answer *a)
{
	struct names names = { 0 };
	uint16_t kernel = 0;
	struct utsname u;

	if (uname(&u) == 0)
		kernel = role_kernel(u.release);
	if (!kernel)
		doctor_no(a, "", "the kernel's release is not understood");
	else if (names_load(&names, kernel) < 0)
		doctor_no(a, "", "out of memory");
	else if (!names_look(&names))
		doctor_no(a, "a kernel with CONFIG_KALLSYMS", "/proc/kallsyms has no names");
	else
		answer(a, &names, kernel);
	free(names.items);
}
