/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptor tables: arrays of file numbers by descriptor, as the kernel's own
 * are. Tables made by fork share the array until one of them changes.
 */

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "traces/descriptors.h"

#define MAX_FILES (1u << 24)
#define MAX_ENTRIES (1u << 26) /* of all tables */

struct table {
	size_t refs;
	size_t count; /* descriptors from here on are not in use */
	size_t room;
	uint32_t file[]; /* 0: not in use */
};

struct descriptors {
	struct table **tables; /* by lineage's number; NULL: empty */
	size_t table_count, table_room;
	size_t entries; /* room of all arrays */
	struct descriptor_file *files; /* files[0] is number 1 */
	size_t file_count, file_room;
	uint64_t unknown;
};

int descriptors_new(struct descriptors **out)
{
	struct descriptors *d = calloc(1, sizeof(*d));

	if (!d)
		return -ENOMEM;
	*out = d;
	return 0;
}

static void table_put(struct descriptors *d, struct table *t)
{
	if (!t || --t->refs)
		return;
	d->entries -= t->room;
	free(t);
}

struct descriptors *descriptors_free(struct descriptors *d)
{
	if (!d)
		return NULL;
	for (size_t i = 0; i < d->table_count; i++)
		table_put(d, d->tables[i]);
	free(d->tables);
	free(d->files);
	free(d);
	return NULL;
}

/* Makes tables that lineage has made meanwhile: at most one, if told of every event. */
static int tables_sync(struct descriptors *d, const struct lineage *l)
{
	while (d->table_count < lineage_file_tables(l)) {
		uint32_t from = lineage_files(l, (uint32_t)d->table_count)->from;
		struct table *copied = NULL;

		if (d->table_count == d->table_room) {
			size_t room = d->table_room ? d->table_room * 2 : 16;
			struct table **p = realloc(d->tables, room * sizeof(*p));

			if (!p)
				return -ENOMEM;
			d->tables = p;
			d->table_room = room;
		}
		if (from < d->table_count)
			copied = d->tables[from];
		if (copied)
			copied->refs++;
		d->tables[d->table_count++] = copied;
	}
	return 0;
}

static void table_drop_unused(struct descriptors *d, const struct lineage *l, uint32_t number)
{
	if (number >= d->table_count || lineage_files(l, number)->users)
		return;
	table_put(d, d->tables[number]);
	d->tables[number] = NULL;
}

/* An array of our own that holds `fd`. */
static int table_own(struct descriptors *d, uint32_t number, size_t fd)
{
	struct table *old = d->tables[number], *t;
	size_t room = old ? old->room : 32;

	if (old && old->refs == 1 && fd < old->room)
		return 0;
	while (room <= fd)
		room *= 2;
	if (d->entries + room > MAX_ENTRIES)
		return -E2BIG;
	t = calloc(1, sizeof(*t) + room * sizeof(t->file[0]));
	if (!t)
		return -ENOMEM;
	t->refs = 1;
	t->room = room;
	if (old) {
		t->count = old->count;
		memcpy(t->file, old->file, old->count * sizeof(t->file[0]));
	}
	d->entries += room;
	table_put(d, old);
	d->tables[number] = t;
	return 0;
}

/* The table that holds fd, or NULL. */
static struct table *table_with(const struct descriptors *d, uint32_t number, uint64_t fd)
{
	struct table *t = number < d->table_count ? d->tables[number] : NULL;

	return t && fd < t->count ? t : NULL;
}

static int file_add(struct descriptors *d, enum file_origin origin, uint32_t *file)
{
	if (d->file_count == MAX_FILES)
		return -E2BIG;
	if (d->file_count == d->file_room) {
		size_t room = d->file_room ? d->file_room * 2 : 64;
		struct descriptor_file *p = realloc(d->files, room * sizeof(*p));

		if (!p)
			return -ENOMEM;
		d->files = p;
		d->file_room = room;
	}
	d->files[d->file_count++] = (struct descriptor_file){ .origin = origin };
	d->unknown += origin == FILE_UNKNOWN;
	*file = (uint32_t)d->file_count;
	return 0;
}

static int table_set(struct descriptors *d, uint32_t number, uint64_t fd, uint32_t file)
{
	struct table *t;
	int r;

	if (fd >= DESCRIPTORS_MAX)
		return 0;
	r = table_own(d, number, (size_t)fd);
	if (r < 0)
		return r;
	t = d->tables[number];
	t->file[fd] = file;
	if (fd >= t->count)
		t->count = (size_t)fd + 1;
	return 0;
}

/* Closes first…last. */
static int table_close(struct descriptors *d, uint32_t number, uint64_t first, uint64_t last)
{
	struct table *t = table_with(d, number, first);
	int r;

	if (!t || first > last)
		return 0;
	r = table_own(d, number, (size_t)first);
	if (r < 0)
		return r;
	t = d->tables[number];
	if (last >= t->count)
		last = t->count - 1;
	memset(t->file + first, 0, (size_t)(last - first + 1) * sizeof(t->file[0]));
	while (t->count && !t->file[t->count - 1])
		t->count--;
	return 0;
}

int descriptors_file(struct descriptors *d, const struct lineage *l, uint32_t task, uint64_t fd,
                     uint32_t *file)
{
	uint32_t number = lineage_task(l, task)->files;
	const struct table *t;
	int r;

	*file = 0;
	fd &= UINT32_MAX; /* the kernel takes an unsigned int */
	if (fd > INT32_MAX)
		return 0;
	r = tables_sync(d, l);
	if (r < 0)
		return r;
	t = table_with(d, number, fd);
	if (t && t->file[fd]) {
		*file = t->file[fd];
		return 0;
	}
	r = file_add(d, FILE_UNKNOWN, file);
	return r < 0 ? r : table_set(d, number, fd, *file);
}

static void file_resize(struct descriptor_file *f, uint64_t size)
{
	f->size = size;
	if (f->max_size < size)
		f->max_size = size;
}

void descriptors_mapped(struct descriptors *d, uint32_t file, uint64_t end)
{
	if (file && file <= d->file_count && d->files[file - 1].size < end)
		file_resize(&d->files[file - 1], end);
}

static int call_open(struct descriptors *d, uint32_t table, uint64_t fd, enum file_origin origin)
{
	uint32_t file;
	int r = file_add(d, origin, &file);

	return r < 0 ? r : table_set(d, table, fd, file);
}

static int call_dup(struct descriptors *d, const struct lineage *l, uint32_t task,
                    const struct paired_call *c)
{
	uint32_t file, table = lineage_task(l, task)->files;
	int r;

	if (!c->has_enter)
		return call_open(d, table, c->result, FILE_UNKNOWN);
	r = descriptors_file(d, l, task, c->arg[0], &file);
	return r < 0 ? r : table_set(d, table, c->result, file);
}

static bool fcntl_dups(const struct paired_call *c)
{
	return c->has_enter && (c->arg[1] == F_DUPFD || c->arg[1] == F_DUPFD_CLOEXEC);
}

static int leave_item(struct descriptors *d, const struct lineage *l, uint32_t task,
                      const struct paired_call *c)
{
	const uint32_t table = lineage_task(l, task)->files;

	if (result_is_error(c->result))
		return 0;
	switch (c->call) {
	case CALL_OPENAT:
	case CALL_OPENAT2:
	case CALL_OPEN:
		return call_open(d, table, c->result, FILE_OPENED);
	case CALL_MEMFD_CREATE:
		return call_open(d, table, c->result, FILE_MEMFD);
	case CALL_DUP:
	case CALL_DUP2:
	case CALL_DUP3:
		return call_dup(d, l, task, c);
	case CALL_FCNTL:
		return fcntl_dups(c) ? call_dup(d, l, task, c) : 0;
	default:
		return 0;
	}
}

static int call_size(struct descriptors *d, const struct lineage *l, uint32_t task,
                     const struct paired_call *c)
{
	uint32_t file;
	uint64_t end;
	int r = descriptors_file(d, l, task, c->arg[0], &file);

	if (r < 0 || !file)
		return r;
	if (c->call == CALL_FTRUNCATE)
		file_resize(&d->files[file - 1], c->arg[1]);
	else if (!(c->arg[1] & FALLOC_FL_KEEP_SIZE) && add_fits(c->arg[2], c->arg[3], &end))
		descriptors_mapped(d, file, end);
	return 0;
}

static int call_close_range(struct descriptors *d, struct lineage *l, uint32_t task,
                            const struct paired_call *c)
{
	int r;

	if (c->arg[2] & CLOSE_RANGE_UNSHARE) {
		r = lineage_unshare_files(l, task);
		if (r >= 0)
			r = tables_sync(d, l);
		if (r < 0)
			return r;
	}
	if (c->arg[2] & CLOSE_RANGE_CLOEXEC)
		return 0;
	return table_close(d, lineage_task(l, task)->files, c->arg[0] & UINT32_MAX,
	                   c->arg[1] & UINT32_MAX);
}

/* Calls that are recorded by their enter alone are taken to succeed. */
static int enter_item(struct descriptors *d, struct lineage *l, uint32_t task,
                      const struct paired_call *c)
{
	uint64_t fd = c->arg[0] & UINT32_MAX;

	switch (c->call) {
	case CALL_CLOSE:
		return table_close(d, lineage_task(l, task)->files, fd, fd);
	case CALL_CLOSE_RANGE:
		return call_close_range(d, l, task, c);
	case CALL_FTRUNCATE:
	case CALL_FALLOCATE:
		return call_size(d, l, task, c);
	default:
		return 0;
	}
}

int descriptors_item(struct descriptors *d, struct lineage *l, uint32_t task,
                     const struct item *item)
{
	int r = tables_sync(d, l);

	if (r < 0)
		return r;
	if (item->kind == ITEM_ENTER)
		return enter_item(d, l, task, item->call);
	if (item->kind == ITEM_LEAVE)
		return leave_item(d, l, task, item->call);
	if (item->event.kind == EVENT_EXIT)
		table_drop_unused(d, l, lineage_task(l, task)->files);
	if (item->event.kind == EVENT_EXEC) {
		uint32_t from = lineage_files(l, lineage_task(l, task)->files)->from;

		if (from != LINEAGE_NONE)
			table_drop_unused(d, l, from);
	}
	return 0;
}

const struct descriptor_file *descriptors_at(const struct descriptors *d, uint32_t file)
{
	return &d->files[file - 1];
}

size_t descriptors_files(const struct descriptors *d)
{
	return d->file_count;
}

uint64_t descriptors_unknown(const struct descriptors *d)
{
	return d->unknown;
}
