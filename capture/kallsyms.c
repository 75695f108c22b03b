/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/kallsyms line by line: "address type name", with "[module]" behind it for
 * modules. The kernel's own symbols come first, by address; a function ends where
 * the next symbol begins.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/kallsyms.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

/* false: not a symbol of the kernel itself. */
static bool parse_line(char *line, uint64_t *address, char *type, const char **name)
{
	char *end;

	errno = 0;
	*address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	*type = end[1];
	*name = end + 3;
	end += 3 + strcspn(end + 3, " \t\n");
	if (*end && strchr(end, '['))
		return false;
	*end = '\0';
	return **name;
}

int kallsyms_each(int (*each)(void *data, const char *name, uint64_t address), void *data)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/kallsyms");
	char line[1024];

	if (!f)
		return error_errno();
	while (fgets(line, sizeof(line), f)) {
		uint64_t address;
		const char *name;
		char type;
		int r;

		if (!parse_line(line, &address, &type, &name) || !strchr("tTwW", type))
			continue;
		r = each(data, name, address);
		if (r < 0)
			return r;
	}
	return ferror(f) ? -EIO : 0;
}

struct ranges {
	bool (*wanted)(void *data, const char *name);
	void *data;
	struct kallsyms_range *out;
	size_t room, count;
	bool open, shown; /* the last range has no end yet; addresses are not hidden */
};

static int each_for_ranges(void *data, const char *name, uint64_t address)
{
	struct ranges *r = data;
	struct kallsyms_range *last = r->count ? &r->out[r->count - 1] : NULL;
	bool wanted = r->wanted(r->data, name);

	r->shown |= address != 0;
	/* Another name for the same place. */
	if (r->open && address == last->start)
		return 0;
	if (r->open) {
		last->end = address;
		r->open = wanted;
		if (wanted)
			last->end = 0;
		return 0;
	}
	if (!wanted || !address)
		return 0;
	if (r->count == r->room)
		return -E2BIG;
	r->out[r->count++] = (struct kallsyms_range){ .start = address };
	r->open = true;
	return 0;
}

int kallsyms_ranges(bool (*wanted)(void *data, const char *name), void *data,
                    struct kallsyms_range *out, size_t room, size_t *count)
{
	struct ranges ranges = { .wanted = wanted, .data = data, .out = out, .room = room };
	int r = kallsyms_each(each_for_ranges, &ranges);

	*count = ranges.count;
	if (r < 0)
		return r;
	if (!ranges.shown)
		return -EPERM;
	/* The very last function has no end to be seen. */
	if (ranges.open)
		(*count)--;
	return 0;
}
