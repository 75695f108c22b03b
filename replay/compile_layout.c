/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lays the tables and streams out in a memory object of its final size, and seals that. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "replay/compile_core.h"

struct layout {
	uint64_t tasks, spaces, files, maps, windows, words, bytes;
};

static uint64_t map_total(const struct compile *c)
{
	uint64_t count = 0;

	for (size_t i = 0; i < c->group_count; i++)
		count += c->groups[i].map_count;
	return count;
}

static struct layout measure(const struct compile *c)
{
	struct layout l;

	l.tasks = sizeof(struct plan_header);
	l.spaces = l.tasks + c->task_count * sizeof(struct plan_task);
	l.files = l.spaces + c->group_count * sizeof(struct plan_space);
	l.maps = l.files + c->file_count * sizeof(struct plan_file);
	l.windows = l.maps + map_total(c) * sizeof(struct plan_map);
	l.words = l.windows + c->window_count * sizeof(uint64_t);
	/* Every stream gets an end. */
	l.bytes = page_up(c, l.words + (c->words + c->task_count) * sizeof(uint64_t));
	return l;
}

/* Marks the operations that somebody waits for. */
static void set_notify(const struct ctask *t, uint64_t *words)
{
	uint64_t ordinal = 0;

	for (size_t at = 0; at < t->word_count; at += 1 + plan_operands(&words[at])) {
		if (plan_head_kind(words[at]) < PLAN_TOUCH)
			continue;
		if (is_notified(t, ++ordinal))
			words[at] |= (uint64_t)PLAN_NOTIFY << 8;
	}
}

static void put_tasks(const struct compile *c, const struct layout *l, char *base)
{
	struct plan_task *rows = (struct plan_task *)(base + l->tasks);
	uint64_t at = l->words;

	for (size_t i = 0; i < c->task_count; i++) {
		const struct ctask *t = &c->tasks[i];
		uint64_t *words = (uint64_t *)(base + at);

		if (t->word_count)
			memcpy(words, t->words, t->word_count * sizeof(*words));
		words[t->word_count] = PLAN_END;
		set_notify(t, words);
		rows[t->plan] = (struct plan_task){
			.words = at,
			.word_count = t->word_count + 1,
			.operations = t->ordinal,
			.clone_flags = t->clone_flags,
			.space = c->group_of[t->first_space],
			.parent = t->parent == NONE ? PLAN_NONE : c->tasks[t->parent].plan,
			.process = c->tasks[t->process].plan,
			.recorded_id = t->recorded_id,
		};
		at += (t->word_count + 1) * sizeof(*words);
	}
}

static void put_maps(const struct compile *c, const struct group *g, const struct cspace *sp,
                     struct plan_map *out)
{
	for (size_t i = 0; i < g->map_count; i++) {
		const struct assumed *a = &g->maps[i];
		struct piece p;

		place_piece(c, sp, a->start, a->end, &p);
		out[i] = (struct plan_map){
			.address = p.offset,
			.length = p.end - p.start,
			.file_offset = a->offset,
			.file = a->file,
			.prot = a->prot,
			.flags = a->flags,
		};
	}
}

static uint64_t placed(const struct compile *c, const struct cspace *sp, uint64_t address)
{
	struct piece p;

	if (!address)
		return 0;
	place_piece(c, sp, address, address + 1, &p);
	return p.outside ? 0 : p.offset;
}

static void put_spaces(const struct compile *c, const struct layout *l, char *base)
{
	struct plan_space *rows = (struct plan_space *)(base + l->spaces);
	uint64_t at = l->maps;

	for (size_t i = 0; i < c->group_count; i++) {
		const struct group *g = &c->groups[i];
		const struct cspace sp = { .group = (uint32_t)i };
		uint64_t heap = c->options->emulate_brk ? 0 : placed(c, &sp, g->brk_start);

		rows[i] = (struct plan_space){
			.maps = at,
			.map_count = (uint32_t)g->map_count,
			.task = c->tasks[g->task].plan,
			.brk_start = heap,
			.brk = heap,
			.chosen_end = g->chosen_end,
			.chosen_length = g->chosen_length,
		};
		put_maps(c, g, &sp, (struct plan_map *)(base + at));
		at += g->map_count * sizeof(struct plan_map);
	}
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void put_files(const struct compile *c, const struct layout *l, char *base)
{
	struct plan_file *rows = (struct plan_file *)(base + l->files);
	uint64_t at = l->windows;

	for (size_t i = 0; i < c->file_count; i++) {
		const struct cfile *f = &c->files[i];
		uint64_t *windows = (uint64_t *)(base + at), count = 0;
		struct map_entry *e;

		for (size_t k = 0; (e = map_next(&f->windows, &k));)
			windows[count++] = e->key;
		qsort(windows, count, sizeof(*windows), by_value);
		rows[i] = (struct plan_file){ f->size, at, count };
		at += count * sizeof(*windows);
	}
}

static void put_header(const struct compile *c, const struct layout *l, char *base)
{
	const struct trace_meta *meta = trace_reader_meta(c->reader);

	*(struct plan_header *)base = (struct plan_header){
		.magic = PLAN_MAGIC,
		.bytes = l->bytes,
		.tasks = l->tasks,
		.spaces = l->spaces,
		.files = l->files,
		.task_count = (uint32_t)c->task_count,
		.space_count = (uint32_t)c->group_count,
		.file_count = (uint32_t)c->file_count,
		.anchor_count = c->anchor_ids,
		.segment_count = (uint32_t)c->segments.count,
		.root_count = c->root_count,
		.page_size = (uint32_t)c->page,
		.placement = (uint8_t)c->options->placement,
		.order = (uint8_t)c->options->order,
		.touch = (uint8_t)c->options->touch,
		.pace = c->options->paced,
		.zero_page = trace_meta_get_u64(meta, META_ZERO_PAGE, 1) != 0,
		.counts = c->counts,
	};
}

int compile_layout(struct compile *c, struct plan *out)
{
	struct layout l = measure(c);
	_cleanup_close_ int fd = -1;
	char *base;

	if (l.bytes > c->options->max_plan_bytes)
		return -E2BIG;
	fd = memfd_create("mmtape-plan", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0 || ftruncate(fd, (off_t)l.bytes) < 0)
		return error_errno();
	base = mmap(NULL, l.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return error_errno();
	put_tasks(c, &l, base);
	put_spaces(c, &l, base);
	put_files(c, &l, base);
	put_header(c, &l, base);
	/* The caller's view, and everybody's after it, is read only in effect; size is for good. */
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0 ||
	    mprotect(base, l.bytes, PROT_READ) < 0) {
		int r = error_errno();

		munmap(base, l.bytes);
		return r;
	}
	out->header = (const struct plan_header *)base;
	out->fd = take_fd(&fd);
	return 0;
}

void plan_release(struct plan *plan)
{
	if (plan->header)
		munmap((void *)(uintptr_t)plan->header, plan->header->bytes);
	if (plan->header && plan->fd >= 0)
		close(plan->fd);
	*plan = (struct plan){ .fd = -1 };
}
