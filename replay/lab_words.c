/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command of a guest, from the words that the user gave. */

#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "replay/lab_initramfs.h"

/* What LOCK_STAT needs distorts times; what it does not distort is counted on that kernel too. */
static const struct {
	const char *source;
	enum lab_part part;
} parts[] = {
	{ "lock_stat", LAB_PART_COUNT },
	{ "entries", LAB_PART_COUNT },
	{ "contention", LAB_PART_TIME },
	{ "profile", LAB_PART_TIME },
};

static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; *at; at += *at == ',') {
		size_t word = strcspn(at, ",");

		if (word == length && !strncmp(at, name, length))
			return true;
		at += word;
	}
	return false;
}

bool lab_lists_source(const char *list, const char *source)
{
	return !strcmp(list, "all") || is_listed(list, source);
}

bool lab_part_sources(const char *list, enum lab_part part, char *out, size_t size)
{
	bool any = false;

	if (part == LAB_PART_ALL) {
		snprintf(out, size, "%s", list);
		return strcmp(list, "none") != 0;
	}
	*out = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t used = strlen(out);

		if (parts[i].part != part || !lab_lists_source(list, parts[i].source))
			continue;
		snprintf(out + used, size - used, "%s%s", any ? "," : "", parts[i].source);
		any = true;
	}
	if (!any)
		snprintf(out, size, "none");
	return any;
}

void lab_words_clear(struct lab_words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->items[i]);
	free(w->items);
	*w = (struct lab_words){ 0 };
}

static int add(struct lab_words *w, const char *folder, const char *word)
{
	char **items = realloc(w->items, (w->count + 2) * sizeof(*items));

	if (!items)
		return -ENOMEM;
	w->items = items;
	if (asprintf(&items[w->count], "%s%s", folder, word) < 0)
		return -ENOMEM;
	items[++w->count] = NULL;
	return 0;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What goes between the user's options and the trace or the command. */
static int add_options(const struct lab_setup *s, enum lab_part part, struct lab_words *w)
{
	char sources[128];
	int r = add(w, "", "--exclusive");

	if (r >= 0)
		r = add(w, "--output=", LAB_RESULT);
	if (r < 0 || part == LAB_PART_ALL)
		return r;
	lab_part_sources(s->sources, part, sources, sizeof(sources));
	r = add(w, "--sources=", sources);
	if (r >= 0 && part == LAB_PART_COUNT)
		r = add(w, "", "--no-time");
	if (r >= 0 && part == LAB_PART_COUNT && s->trace)
		r = add(w, "", "--no-latency");
	return r;
}

int lab_words_make(const struct lab_setup *s, enum lab_part part, struct lab_words *out)
{
	int r = 0;

	*out = (struct lab_words){ 0 };
	for (size_t i = 0; i < s->word_count && r >= 0; i++)
		r = add(out, "", s->words[i]);
	if (r >= 0)
		r = add_options(s, part, out);
	if (r >= 0)
		r = add(out, "", "--");
	if (r >= 0 && s->trace)
		return add(out, "/" LAB_TRACES "/", base_name(s->trace));
	if (r >= 0)
		r = add(out, "/" LAB_FILES "/", base_name(s->command[0]));
	for (size_t i = 1; r >= 0 && s->command[i]; i++)
		r = add(out, "", s->command[i]);
	return r;
}
