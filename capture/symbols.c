/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/kallsyms as a sorted table. A function ends where the next symbol begins; data of the
 * kernel lies behind all of its code, but a module's next neighbour may be far away, which makes a
 * wrong name possible only for code that has no name at all.
 */

#include <stdlib.h>
#include <string.h>

#include "capture/kallsyms.h"
#include "capture/symbols.h"
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

struct table {
	struct symbols *symbols;
	bool shown; /* addresses are not hidden */
};

static int take_symbol(void *data, const struct kallsyms_symbol *s)
{
	struct table *t = data;

	t->shown |= s->address != 0;
	return add(t->symbols, s->address, s->type == 'T', s->name);
}

static int read_table(struct symbols *s)
{
	struct table t = { .symbols = s };
	int r = kallsyms_each_code(take_symbol, &t);

	if (r < 0)
		return r;
	return !s->count ? -ENOENT : t.shown ? 0 : -EPERM;
}

int symbols_new(struct symbols **out)
{
	struct symbols *s = calloc(1, sizeof(*s));
	int r = s ? read_table(s) : -ENOMEM;

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

/* 1: that is enough. */
static int look_at(void *data, const struct kallsyms_symbol *s)
{
	int *seen = data;

	if (s->address) {
		*seen = 0;
		return 1;
	}
	return ++*seen == LOOK_FUNCTIONS;
}

/* -EPERM if the first functions have no addresses; data of CPUs lies at low ones in any case. */
static int look(void)
{
	int seen = 0, r = kallsyms_each_code(look_at, &seen);

	if (r < 0)
		return r;
	return seen ? -EPERM : r ? 0 : -ENOENT;
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
