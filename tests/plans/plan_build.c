/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plans made by hand. It is for tests: what cannot be done ends the program. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/plans/plan_build.h"

static void push(struct build_words *w, uint64_t word)
{
	if (w->count == w->room) {
		w->room = w->room ? 2 * w->room : 64;
		w->word = realloc(w->word, w->room * sizeof(*w->word));
		if (!w->word)
			abort();
	}
	w->word[w->count++] = word;
}

static uint32_t add_task(struct build *b, uint32_t parent, uint64_t clone_flags, uint32_t space)
{
	uint32_t t = b->task_count++;

	if (t >= BUILD_TASKS)
		abort();
	b->tasks[t] = (struct plan_task){
		.clone_flags = clone_flags,
		.space = space,
		.parent = parent,
		.process = clone_flags & 0x10000 /* CLONE_THREAD */ ? b->tasks[parent].process : t,
		.recorded_id = 1000 + t,
	};
	return t;
}

uint32_t build_root(struct build *b)
{
	uint32_t space = b->space_count++;

	b->root_count++;
	b->spaces[space].task = b->task_count;
	return add_task(b, PLAN_NONE, 0, space);
}

uint32_t build_child(struct build *b, uint32_t parent, uint64_t clone_flags)
{
	return add_task(b, parent, clone_flags, b->tasks[parent].space);
}

uint32_t build_space(struct build *b, uint32_t task)
{
	b->spaces[b->space_count].task = task;
	return b->space_count++;
}

void build_map(struct build *b, uint32_t space, uint64_t address, uint64_t length, int prot,
               int flags, uint32_t file)
{
	if (b->map_count >= BUILD_MAPS)
		abort();
	b->map_space[b->map_count] = space;
	b->maps[b->map_count++] = (struct plan_map){ .address = address,
		                                     .length = length,
		                                     .file = file,
		                                     .prot = (uint32_t)prot,
		                                     .flags = (uint32_t)flags };
}

uint32_t build_file(struct build *b, uint64_t size)
{
	if (b->file_count >= BUILD_FILES)
		abort();
	b->files[b->file_count++].size = size;
	return b->file_count;
}

uint64_t build_op(struct build *b, uint32_t task, uint64_t head, unsigned operands, ...)
{
	va_list ap;

	push(&b->words[task], head);
	va_start(ap, operands);
	for (unsigned i = 0; i < operands; i++)
		push(&b->words[task], va_arg(ap, uint64_t));
	va_end(ap);
	return plan_head_kind(head) < PLAN_TOUCH ? 0 : ++b->words[task].operations;
}

void build_wait(struct build *b, uint32_t task, uint32_t other, uint64_t ordinal)
{
	push(&b->words[task], PLAN_WAIT | (uint64_t)other << 8 | ordinal << 32);
}

static void notify(struct build_words *w, uint64_t ordinal)
{
	uint64_t at = 0;

	for (size_t i = 0; i < w->count; i += 1 + plan_operands(&w->word[i]))
		if (plan_head_kind(w->word[i]) >= PLAN_TOUCH && ++at == ordinal)
			w->word[i] |= PLAN_NOTIFY << 8;
}

static void notify_all(struct build *b)
{
	for (uint32_t t = 0; t < b->task_count; t++) {
		const struct build_words *w = &b->words[t];

		for (size_t i = 0; i < w->count; i += 1 + plan_operands(&w->word[i]))
			if (plan_head_kind(w->word[i]) == PLAN_WAIT)
				notify(&b->words[w->word[i] >> 8 & 0xffffff], w->word[i] >> 32);
	}
}

static uint64_t put(char *base, uint64_t *at, const void *what, size_t bytes)
{
	uint64_t offset = *at;

	if (bytes && base)
		memcpy(base + offset, what, bytes);
	*at = (offset + bytes + 63) & ~63ULL;
	return offset;
}

/* With base NULL it only measures. */
static uint64_t lay_out(struct build *b, char *base)
{
	static const uint64_t first_window;
	struct plan_header h = {
		.magic = PLAN_MAGIC,
		.task_count = b->task_count,
		.space_count = b->space_count,
		.file_count = b->file_count,
		.root_count = b->root_count,
		.anchor_count = b->anchors + 1,
		.segment_count = b->segments,
		.page_size = 4096,
	};
	uint64_t at = sizeof(h), windows = put(base, &at, &first_window, sizeof(first_window));

	for (uint32_t f = 0; f < b->file_count; f++) {
		b->files[f].windows = windows;
		b->files[f].window_count = 1;
	}
	for (uint32_t t = 0; t < b->task_count; t++) {
		const struct build_words *w = &b->words[t];

		b->tasks[t].words = put(base, &at, w->word, w->count * sizeof(*w->word));
		b->tasks[t].word_count = w->count;
		b->tasks[t].operations = w->operations;
		h.counts.operations += w->operations;
	}
	for (uint32_t s = 0; s < b->space_count; s++) {
		b->spaces[s].map_count = 0;
		b->spaces[s].maps = (at + 63) & ~63ULL;
		for (uint32_t m = 0; m < b->map_count; m++)
			if (b->map_space[m] == s) {
				if (base)
					memcpy(base + b->spaces[s].maps +
					               b->spaces[s].map_count * sizeof(*b->maps),
					       &b->maps[m], sizeof(*b->maps));
				b->spaces[s].map_count++;
			}
		at = b->spaces[s].maps + b->spaces[s].map_count * sizeof(*b->maps);
		at = (at + 63) & ~63ULL;
	}
	h.tasks = put(base, &at, b->tasks, b->task_count * sizeof(*b->tasks));
	h.spaces = put(base, &at, b->spaces, b->space_count * sizeof(*b->spaces));
	h.files = put(base, &at, b->files, b->file_count * sizeof(*b->files));
	h.bytes = (at + 4095) & ~4095ULL;
	if (base)
		memcpy(base, &h, sizeof(h));
	return h.bytes;
}

void build_finish(struct build *b, struct plan *out)
{
	uint64_t bytes;
	char *base;

	for (uint32_t t = 0; t < b->task_count; t++)
		push(&b->words[t], PLAN_END);
	notify_all(b);
	bytes = lay_out(b, NULL);
	out->fd = memfd_create("test-plan", MFD_CLOEXEC);
	if (out->fd < 0 || ftruncate(out->fd, (off_t)bytes) < 0)
		abort();
	base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
	if (base == MAP_FAILED)
		abort();
	lay_out(b, base);
	out->header = (const struct plan_header *)base;
}

void build_free(struct build *b, struct plan *plan)
{
	if (plan->header) {
		munmap((void *)plan->header, plan->header->bytes);
		close(plan->fd);
	}
	for (uint32_t t = 0; t < b->task_count; t++)
		free(b->words[t].word);
	memset(b, 0, sizeof(*b));
}
