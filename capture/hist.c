/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parses histogram files line by line. Nothing is believed: a line that is cut
 * or of another shape ends it with an error instead of a wrong count.
 */

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "capture/hist.h"
#include "common/cleanup.h"

struct parser {
	struct hist_totals *totals;
	int (*add)(void *data, const struct hist_entry *entry);
	void *data;
	struct hist_entry entry;
	bool in_stack, in_totals;
	unsigned blocks;
};

static char *skip_blanks(char *text)
{
	while (*text == ' ' || *text == '\t')
		text++;
	return text;
}

/* What follows prefix, without blanks, or NULL. */
static char *after(char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) ? NULL : skip_blanks(text + length);
}

static int parse_number(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EBADMSG;
	errno = 0;
	*out = strtoull(text, &end, 10);
	end = skip_blanks(end);
	return errno || (*end && *end != '}') ? -EBADMSG : 0;
}

/* "} hitcount: N" at the end of an entry. */
static int finish_entry(struct parser *p, char *text)
{
	char *hits = after(text, "}");
	int r;

	hits = hits ? after(hits, "hitcount:") : NULL;
	if (!hits || (!p->entry.by_flags && !p->entry.count))
		return -EBADMSG;
	r = parse_number(hits, &p->entry.hits);
	p->in_stack = false;
	return r < 0 ? r : p->add(p->data, &p->entry);
}

/* "N } hitcount: N" */
static int parse_flags(struct parser *p, char *text)
{
	uint64_t value;
	int r = parse_number(text, &value);

	text = strchr(text, '}');
	if (r < 0 || !text || value > 255)
		return -EBADMSG;
	p->entry.by_flags = true;
	p->entry.flags = (unsigned)value;
	return finish_entry(p, text);
}

/* "[address] symbol , …" */
static int parse_entry(struct parser *p, char *text)
{
	char *name = strchr(text, ']'), *end, *second;

	if (*text != '[' || !name)
		return -EBADMSG;
	name = skip_blanks(name + 1);
	end = name + strcspn(name, " \t,");
	second = skip_blanks(end);
	if (end == name || *second != ',')
		return -EBADMSG;
	second = skip_blanks(second + 1);
	*end = '\0';
	p->entry = (struct hist_entry){ .caller = name };
	text = after(second, "common_flags:");
	if (text)
		return parse_flags(p, text);
	p->in_stack = true;
	return after(second, "stacktrace:") || after(second, "common_stacktrace:") ? 0 : -EBADMSG;
}

static int parse_frame(struct parser *p, char *text)
{
	if (*text == '}')
		return finish_entry(p, text);
	if (p->entry.count == HIST_FRAMES)
		return -EBADMSG;
	/* name+0x1/0x2, or only an address where there is no name. */
	text[strcspn(text, "+ \t[")] = '\0';
	if (!*text)
		return -EBADMSG;
	p->entry.frames[p->entry.count++] = text;
	return 0;
}

static int parse_total(struct parser *p, char *text)
{
	uint64_t value;
	char *number;
	int r;

	number = after(text, "Hits:");
	if (number) {
		r = parse_number(number, &value);
		p->totals->hits += r < 0 ? 0 : value;
		return r;
	}
	number = after(text, "Dropped:");
	if (number) {
		r = parse_number(number, &value);
		p->totals->dropped += r < 0 ? 0 : value;
		p->in_totals = false;
		p->blocks++;
		return r;
	}
	return after(text, "Entries:") ? 0 : -EBADMSG;
}

static int parse_line(struct parser *p, char *text)
{
	if (!*text || *text == '#')
		return p->in_stack ? -EBADMSG : 0;
	if (p->in_stack)
		return parse_frame(p, text);
	if (p->in_totals)
		return parse_total(p, text);
	if (!strcmp(text, "Totals:")) {
		p->in_totals = true;
		return 0;
	}
	text = after(text, "{");
	text = text ? after(text, "caller:") : NULL;
	return text ? parse_entry(p, text) : -EBADMSG;
}

int hist_parse(char *text, struct hist_totals *totals,
               int (*add)(void *data, const struct hist_entry *entry), void *data)
{
	struct parser p = { .totals = totals, .add = add, .data = data };
	char *newline;

	*totals = (struct hist_totals){ 0 };
	for (; (newline = strchr(text, '\n')); text = newline + 1) {
		int r;

		*newline = '\0';
		r = parse_line(&p, skip_blanks(text));
		if (r < 0)
			return r;
	}
	/* Cut somewhere: totals come last. */
	return *text || p.in_stack || p.in_totals || !p.blocks ? -EBADMSG : 0;
}
