/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of roles against this kernel. What calls a missing function shows as unresolved. */

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/doctor_checks.h"
#include "capture/roles_check.h"
#include "common/cleanup.h"

struct missing {
	uint16_t kernel;
	unsigned count;
	size_t used; /* of list, or more than it holds */
	char list[sizeof(((struct doctor_answer *)0)->cause) - 40];
};

/* A name may have several rows; one speaks for it. */
static bool speaks(const struct role_function *row, uint16_t kernel)
{
	return role_of_function(row->name, kernel) == row;
}

/* What an option of the kernel brings may well not be there. */
static void note_missing(void *data, const struct role_function *row, bool certain)
{
	struct missing *m = data;
	size_t size = sizeof(m->list);

	if (row->needs || !speaks(row, m->kernel))
		return;
	if (m->used < size)
		m->used += (size_t)snprintf(m->list + m->used, size - m->used, "%s%s",
		                            m->count ? ", " : "", row->name);
	m->count++;
}

static unsigned count_functions(uint16_t kernel)
{
	size_t count;
	const struct role_function *rows = role_functions(&count);
	unsigned found = 0;

	for (size_t i = 0; i < count; i++)
		found += speaks(&rows[i], kernel);
	return found;
}

static void answer(struct doctor_answer *a, struct missing *m)
{
	static const char more[] = ", …";

	if (m->used >= sizeof(m->list))
		strcpy(m->list + sizeof(m->list) - sizeof(more), more);
	if (m->count)
		doctor_no(a, "their locks show as unresolved; a row in capture/roles_table.c",
		          "%u of %u are not in this kernel: %s", m->count,
		          count_functions(m->kernel), m->list);
	else
		doctor_yes(a, "all %u are in this kernel", count_functions(m->kernel));
}

void doctor_ask_roles(struct doctor_answer *a)
{
	struct missing missing = { 0 };
	struct utsname u;
	int r;

	if (uname(&u) == 0)
		missing.kernel = role_kernel(u.release);
	if (!missing.kernel) {
		doctor_no(a, "", "the kernel's release is not understood");
		return;
	}
	r = roles_check_each(missing.kernel, note_missing, &missing);
	if (r == -ENOMEM)
		doctor_no(a, "", "out of memory");
	else if (r < 0)
		doctor_no(a, "a kernel with CONFIG_KALLSYMS", "/proc/kallsyms has no names");
	else
		answer(a, &missing);
}
