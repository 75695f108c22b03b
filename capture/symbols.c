/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/kallsyms as a sorted table. A line is "address type name", with "\t[module]"
 * for modules. A function ends where the next symbol begins; data of the kernel lies
 * behind all of its code, but a module's next neighbour may be far away, which
 * makes a wrong name possible only for code that has no name at all.
 */

#include <stdlib.h>
#include <string.h>

#include "capture/symbols.h"
#include "capture/sysfile.h"
#include "common/array.h"
#include "common/buffer.h"
#include "common/bytes.h"
#include "common/cleanup.h"

#define KALLSYMS "/proc/kallsyms"
/* As many without an address, and the table is taken for a hidden one. */
#define LOOK_FUNCTIONS 64

struct symbol {
	uint64_t address;
	uint32_t name; /* offset in names */
	bool global;
};

struct symbols {
	struct symbol *items;
	size_t count, room;
	struct buffer names;
};

/* The parts of a line; false: not one. The line is cut up. */
static bool parse_line(char *line, uint64_t *address, char *type, const char **name)
{
	char *end, *word;

	errno = 0;
	*address = strtoull(line, &end, 16);
	if (errno || end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
		return false;
	*type = end[1];
	word = end + 3;
	word[strcspn(word, " \t\n")] = '\0';
	*name = word;
	return *word;
}

static bool is_code(char type)
{
	return strchr("tTwW", type);
}

static int add(struct symbols *s, uint64_t address, bool global, const char *name)
{
	int r = array_grow((void **)&s->items, s->count, &s->room, sizeof(*s->items));

	if (r < 0)
		return r;
	if (s->names.len > UINT32_MAX / 2)
		return -EFBIG;
	s->items[s->count++] = (struct symbol){ .address = address,
		                                .name = (uint32_t)s->names.len,
		                                .global = global };
	return buffer_bytes(&s->names, name, strlen(name) + 1);
}

/* By address; of several names the global ones, then the ones that came first. */
static int compare(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	if (x->global != y->global)
		return x->global ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void sort_unique(struct symbols *s)
{
	size_t kept = 0;

	if (s->count)
		qsort(s->items, s->count, sizeof(*s->items), compare);
	for (size_t i = 0; i < s->count; i++)
		if (!kept || s->items[i].address != s->items[kept - 1].address)
			s->items[kept++] = s->items[i];
	s->count = kept;
}

static int read_table(struct symbols *s, FILE *f)
{
	bool shown = false;
	char line[1024];

	while (fgets(line, sizeof(line), f)) {
		uint64_t address;
		const char *name;
		char type;
		int r;

		if (!parse_line(line, &address, &type, &name))
			return -EBADMSG;
		if (!is_code(type))
			continue;
		shown |= address != 0;
		r = add(s, address, type == 'T', name);
		if (r < 0)
			return r;
	}
	if (ferror(f))
		return error_errno();
	return !s->count ? -ENOENT : shown ? 0 : -EPERM;
}

int symbols_new(struct symbols **out)
{
	_cleanup_fclose_ FILE *f = sysfile_open(KALLSYMS);
	struct symbols *s;
	int r;

	if (!f)
		return error_errno();
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	r = read_table(s, f);
	if (r < 0) {
		symbols_free(s);
		return r;
	}
	sort_unique(s);
	*out = s;
	return 0;
}

struct symbols *symbols_free(struct symbols *s)
{
	if (s) {
		free(s->items);
		buffer_clear(&s->names);
		free(s);
	}
	return NULL;
}

/* -EPERM if the first functions have no addresses; data of CPUs lies at low ones in any case. */
static int look(void)
{
	_cleanup_fclose_ FILE *f = sysfile_open(KALLSYMS);
	int seen = 0;
	char line[1024];

	if (!f)
		return error_errno();
	while (seen < LOOK_FUNCTIONS && fgets(line, sizeof(line), f)) {
		uint64_t address;
		const char *name;
		char type;

		if (!parse_line(line, &address, &type, &name))
			return -EBADMSG;
		if (is_code(type) && address)
			return 0;
		seen += is_code(type);
	}
	return seen ? -EPERM : -ENOENT;
}

int symbols_explain(char *why, size_t size)
{
	int r = look();

	if (r == -EPERM)
		snprintf(why, size,
		         "%s hides addresses: run as root, with /proc/sys/kernel/kptr_restrict at "
		         "0 or 1",
		         KALLSYMS);
	else if (r == -ENOENT)
		snprintf(why, size,
		         "this kernel has no symbols: boot one built with CONFIG_KALLSYMS");
	else if (r == -EBADMSG)
		snprintf(why, size, "%s: a line is not understood", KALLSYMS);
	else if (r < 0)
		snprintf(why, size, "%s: cannot read it: %s", KALLSYMS, strerror(-r));
	return r;
}

/* The last symbol at or below address. */
static const struct symbol *find(const struct symbols *s, uint64_t address)
{
	size_t low = 0, high = s->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &s->items[low - 1] : NULL;
}

const char *symbols_find(const struct symbols *s, uint64_t address)
{
	const struct symbol *symbol = find(s, address);

	return symbol ? (const char *)s->names.data + symbol->name : NULL;
}

uint64_t symbols_start(const struct symbols *s, uint64_t address)
{
	const struct symbol *symbol = find(s, address);

	return symbol ? symbol->address : 0;
}

size_t symbols_count(const struct symbols *s)
{
	return s->count;
}
