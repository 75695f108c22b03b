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

/* false: not a symbol. The line is cut up. */
static bool parse_line(char *line, struct kallsyms_symbol *s)
{
	char *end;

	errno = 0;
	s->address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	s->type = end[1];
	s->name = end + 3;
	end += 3 + strcspn(end + 3, " \t\n");
	s->module = *end && strchr(end, '[');
	*end = '\0';
	return *s->name;
}

int kallsyms_each_code(int (*each)(void *data, const struct kallsyms_symbol *s), void *data)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/kallsyms");
	char line[1024];
	int r = 0;

	if (!f)
		return error_errno();
	while (r == 0 && fgets(line, sizeof(line), f)) {
		struct kallsyms_symbol s;

		if (!parse_line(line, &s))
			return -EBADMSG;
		if (strchr("tTwW", s.type))
			r = each(data, &s);
	}
	return r == 0 && ferror(f) ? -EIO : r;
}

struct named {
	int (*each)(void *data, const char *name, uint64_t address);
	void *data;
};

static int each_named(void *data, const struct kallsyms_symbol *s)
{
	const struct named *n = data;

	return s->module ? 0 : n->each(n->data, s->name, s->address);
}

int kallsyms_each(int (*each)(void *data, const char *name, uint64_t address), void *data)
{
	struct named n = { each, data };

	return kallsyms_each_code(each_named, &n);
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
