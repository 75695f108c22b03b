/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the spaces of a trace share: its settings, and the pages of files. */

#include <stdlib.h>
#include <string.h>

#include "traces/mm.h"
#include "traces/release.h"

static uint64_t power_of_two(uint64_t value, uint64_t otherwise)
{
	return value >= 4096 && value <= 1ULL << 30 && !(value & (value - 1)) ? value : otherwise;
}

void mm_context_init(struct mm_context *context, const struct trace_meta *meta)
{
	const char *thp = trace_meta_get(meta, META_THP);

	*context = (struct mm_context){
		.page_size = power_of_two(trace_meta_get_u64(meta, META_PAGE_SIZE, 4096), 4096),
		.huge_size = power_of_two(trace_meta_get_u64(meta, META_HUGE_PAGE_SIZE, 2 << 20),
		                          2 << 20),
		.thp = !thp                      ? MM_THP_NEVER
		       : !strcmp(thp, "always")  ? MM_THP_ALWAYS
		       : !strcmp(thp, "madvise") ? MM_THP_MADVISE
		                                 : MM_THP_NEVER,
		.zero_page = trace_meta_get_u64(meta, META_ZERO_PAGE, 0) == 1,
		.stacks_small = release_at_least(trace_meta_get(meta, META_KERNEL), 6, 7),
	};
}

void mm_context_clear(struct mm_context *context)
{
	for (size_t i = 0; i < context->file_count; i++)
		touched_clear(&context->file_pages[i]);
	free(context->file_pages);
	map_clear(&context->files);
	map_clear(&context->segments);
}

static int file_pages_of(struct mm_context *c, uint32_t file, struct touched **out)
{
	uint64_t *index;
	bool added;
	int r = map_place(&c->files, file, &index, &added);

	if (r < 0)
		return r;
	if (added) {
		if (c->file_count == c->file_room) {
			size_t room = c->file_room ? c->file_room * 2 : 64;
			struct touched *p = realloc(c->file_pages, room * sizeof(*p));

			if (!p) {
				map_remove(&c->files, file);
				return -ENOMEM;
			}
			c->file_pages = p;
			c->file_room = room;
		}
		*index = c->file_count;
		c->file_pages[c->file_count++] = (struct touched){ 0 };
	}
	*out = &c->file_pages[*index];
	return 0;
}

int mm_context_touch_file(struct mm_context *context, uint32_t file, uint64_t first, uint64_t end)
{
	struct touched *pages;
	uint64_t added;
	int r = file_pages_of(context, file, &pages);

	if (r < 0)
		return r;
	r = touched_add(pages, first, end, &added);
	context->files_resident += added;
	return r;
}
