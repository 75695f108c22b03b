/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings of a process that is gone. Placement as in fs/binfmt_elf.c of x86-64. */

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/guess.h"
#include "common/bytes.h"

#define PAGE 4096ULL
/* Position-independent programs: from two thirds of the address space, at most 16 TiB up. */
#define MOVABLE_LOW 0x555555554000ULL
#define MOVABLE_HIGH 0x655555554000ULL
#define USER_TOP 0x7ffffffff000ULL
/* exec makes room of 128 KiB below the first stack page (setup_arg_pages). */
#define STACK_ROOM 0x20000ULL
#define MAPS_ROOM (2 * 2 * HEADERS_MAX_LOADS + 1)

void guess_begin(struct guess *g, uint32_t task)
{
	g->task = task;
	g->wanted = false;
	g->count = 0;
}

void guess_want(struct guess *g, uint64_t time, const char *path, size_t size)
{
	if (size >= sizeof(g->path))
		size = 0;
	memcpy(g->path, path, size);
	g->path[size] = '\0';
	g->time = time;
	g->wanted = true;
}

bool guess_fault(struct guess *g, const struct event *e)
{
	if (g->count == GUESS_FAULTS)
		return true;
	g->faults[g->count].address = align_down(e->arg[0], PAGE);
	g->faults[g->count].code = (uint32_t)e->arg[1];
	g->faults[g->count].by_exec = !g->wanted;
	return ++g->count == GUESS_FAULTS;
}

/* Where the first instruction was, or 0. */
static uint64_t first_instruction(const struct guess *g)
{
	for (unsigned i = 0; i < g->count; i++)
		if (!g->faults[i].by_exec && (g->faults[i].code & FAULT_USER))
			return g->faults[i].code & FAULT_INSTRUCTION ? g->faults[i].address : 0;
	return 0;
}

static uint64_t image_end(const struct headers *h)
{
	const struct headers_load *last = &h->loads[h->load_count - 1];

	return align_up(last->address + last->memory_bytes, PAGE);
}

/* The base that puts address `inside` on the page of the fault. */
static bool base_by_fault(const struct headers *h, uint64_t inside, uint64_t fault, uint64_t *base)
{
	uint64_t page = align_down(inside, PAGE);

	if (!fault || fault < page)
		return false;
	*base = fault - page;
	return (h->movable || !*base) && image_end(h) <= USER_TOP - *base;
}

static bool program_base(const struct guess *g, const struct headers *h, uint64_t *base)
{
	if (!h->movable) {
		*base = 0;
		return true;
	}
	for (unsigned i = 0; i < g->count; i++) {
		uint64_t at = g->faults[i].address;

		/* Those of exec are of the end of the data, which the headers cannot tell. */
		if (!g->faults[i].by_exec && at >= MOVABLE_LOW && at < MOVABLE_HIGH)
			return base_by_fault(h, h->table, at, base);
	}
	return false;
}

/* No fault among the program's own may lie below its base. */
static bool program_fits(const struct guess *g, const struct headers *h, uint64_t base)
{
	for (unsigned i = 0; h->movable && i < g->count; i++) {
		uint64_t at = g->faults[i].address;

		if (at >= MOVABLE_LOW && at < MOVABLE_HIGH && at < base)
			return false;
	}
	return true;
}

static size_t add_image(const struct headers *h, uint64_t base, uint64_t file,
                        struct trace_map *out)
{
	size_t n = 0;

	for (unsigned i = 0; i < h->load_count; i++) {
		const struct headers_load *l = &h->loads[i];
		uint64_t start = align_down(base + l->address, PAGE);
		uint64_t end = align_up(base + l->address + l->memory_bytes, PAGE);
		uint64_t file_end = align_up(base + l->address + l->file_bytes, PAGE);

		if (l->file_bytes)
			out[n++] = (struct trace_map){ .start = start,
				                       .end = file_end,
				                       .offset = align_down(l->offset, PAGE),
				                       .file = file,
				                       .prot = l->prot,
				                       .kind = MAP_KIND_FILE };
		else
			file_end = start;
		if (end > file_end)
			out[n++] = (struct trace_map){ .start = file_end,
				                       .end = end,
				                       .prot = l->prot,
				                       .kind = MAP_KIND_ANON };
	}
	return n;
}

static bool overlaps(const struct trace_map *maps, size_t count, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < count; i++)
		if (maps[i].start < end && start < maps[i].end)
			return true;
	return false;
}

/* The highest page that exec wrote beside the images is the stack's first. */
static size_t add_stack(const struct guess *g, const struct trace_map *maps, size_t count,
                        struct trace_map *out)
{
	uint64_t top = 0;

	for (unsigned i = 0; i < g->count; i++) {
		uint64_t at = g->faults[i].address;

		if (g->faults[i].by_exec && at >= MOVABLE_HIGH && at < USER_TOP && at > top &&
		    !overlaps(maps, count, at, at + PAGE))
			top = at;
	}
	if (!top || overlaps(maps, count, top - STACK_ROOM, top + PAGE))
		return 0;
	*out = (struct trace_map){ .start = top - STACK_ROOM,
		                   .end = top + PAGE,
		                   .prot = PROT_READ | PROT_WRITE,
		                   .kind = MAP_KIND_STACK };
	return 1;
}

size_t guess_maps(const struct guess *g, const struct headers *program,
                  const struct headers *interpreter, const struct siphash_key *key,
                  struct trace_map *out, size_t room)
{
	const struct headers *first = interpreter ? interpreter : program;
	uint64_t first_base, base;
	size_t n;

	if (room < MAPS_ROOM ||
	    !base_by_fault(first, first->entry, first_instruction(g), &first_base))
		return 0;
	base = first_base;
	if (interpreter && (!program_base(g, program, &base) || !program_fits(g, program, base)))
		return 0;
	n = add_image(program, base, siphash_pair(key, program->device, program->inode), out);
	if (interpreter) {
		if (overlaps(out, n, first_base, first_base + image_end(interpreter)))
			return 0;
		n += add_image(interpreter, first_base,
		               siphash_pair(key, interpreter->device, interpreter->inode), out + n);
	}
	return n + add_stack(g, out, n, out + n);
}

int guess_finish(const struct guess *g, const struct siphash_key *key, struct trace_maps *out)
{
	struct headers program, interpreter;
	int r;

	if (!g->path[0])
		return 1;
	r = headers_read(&program, g->path);
	/* A script's interpreter may be a script itself; the kernel allows 4 in a row. */
	for (int depth = 0; r == 2 && depth < 4; depth++) {
		char path[sizeof(program.interpreter)];

		memcpy(path, program.interpreter, sizeof(path));
		r = headers_read(&program, path);
	}
	if (r == 3)
		return 3;
	if (r != 0 ||
	    (program.interpreter[0] && headers_read(&interpreter, program.interpreter) != 0))
		return 1;
	out->maps = calloc(MAPS_ROOM, sizeof(*out->maps));
	if (!out->maps)
		return -ENOMEM;
	out->time = g->time;
	out->process = g->task;
	out->flags = MAPS_FROM_HEADERS;
	out->count = guess_maps(g, &program, program.interpreter[0] ? &interpreter : NULL, key,
	                        out->maps, MAPS_ROOM);
	return out->count ? 0 : 1;
}
