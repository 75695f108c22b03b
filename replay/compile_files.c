/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that were mapped: scratch files of the plan, by descriptor or by the hash of maps. */

#include <stdlib.h>

#include "common/bytes.h"
#include "replay/compile_core.h"

#define MAX_FILES 4096
#define MAX_BYTES (1ULL << 46) /* of a file: tmpfs and ext4 can still be that sparse */
#define WINDOW 0x10000ULL
#define MAX_WINDOWS (1u << 22) /* 256 GiB of filled file */

static int new_file(struct compile *c, uint64_t *number)
{
	int r;

	if (c->file_count >= MAX_FILES) {
		*number = c->file_shared++ % MAX_FILES + 1;
		return 0;
	}
	r = array_grow((void **)&c->files, c->file_count, &c->file_room, sizeof(*c->files));
	if (r < 0)
		return r;
	c->files[c->file_count++] = (struct cfile){ .size = c->page };
	*number = c->file_count;
	return 0;
}

static int find_file(struct compile *c, struct map *index, uint64_t key, uint32_t *file,
                     bool *added)
{
	uint64_t *place;
	int r = map_place(index, key, &place, added);

	if (r >= 0 && *added)
		r = new_file(c, place);
	if (r >= 0)
		*file = (uint32_t)*place;
	return r;
}

int files_item(struct compile *c, const struct item *item, uint32_t task)
{
	return descriptors_item(c->descriptors, c->lineage, task, item);
}

int files_of_descriptor(struct compile *c, const struct ctask *t, uint64_t fd, uint32_t *file)
{
	uint32_t number = 0;
	bool added;
	int r = descriptors_file(c->descriptors, c->lineage, t->number, fd, &number);

	if (r < 0)
		return r;
	r = find_file(c, &c->file_index, number, file, &added);
	if (r >= 0 && added &&
	    (!number || descriptors_at(c->descriptors, number)->origin == FILE_UNKNOWN))
		c->counts.unknown_files++;
	return r;
}

int files_of_hash(struct compile *c, uint64_t hash, uint32_t *file)
{
	uint64_t number = 0;
	bool added;
	int r;

	if (hash)
		return find_file(c, &c->hash_index, hash, file, &added);
	c->counts.unknown_files++;
	r = new_file(c, &number);
	*file = (uint32_t)number;
	return r;
}

bool files_need(struct compile *c, uint32_t file, uint64_t offset, uint64_t length)
{
	struct cfile *f = &c->files[file - 1];
	uint64_t end;

	if (!add_fits(offset, length, &end) || end > MAX_BYTES)
		return false;
	end = page_up(c, end);
	if (end > f->size)
		f->size = end;
	return true;
}

int files_touch(struct compile *c, uint32_t file, uint64_t offset, uint64_t length)
{
	struct cfile *f = &c->files[file - 1];
	uint64_t end = offset + length;

	for (uint64_t at = align_down(offset, WINDOW); at < end; at += WINDOW) {
		uint64_t *place;
		bool added;
		int r = map_place(&f->windows, at, &place, &added);

		if (r < 0)
			return r;
		if (added && ++c->window_count > MAX_WINDOWS)
			return -E2BIG;
	}
	return 0;
}
