/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace in memory and its survey. */
#pragma once

#include <sys/mman.h>

#include "event_script.h"
#include "traces/survey.h"

#define PAGE 0x1000ULL
#define HUGE_PAGE 0x200000ULL
#define BASE 0x7f0000000000ULL
#define READ_WRITE (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)
#define WRITE (FAULT_USER | FAULT_WRITE)
#define READ FAULT_USER

struct world {
	struct script script;
	struct trace_meta *meta;
	struct trace_maps maps[1];
	size_t map_count;
	struct survey *survey;
};

static inline int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || trace_meta_new(&w->meta) < 0 || trace_meta_set(w->meta, META_THP, "never") < 0 ||
	    trace_meta_set(w->meta, META_ZERO_PAGE, "1") < 0 ||
	    trace_meta_set(w->meta, META_KERNEL, "6.1.0-30") < 0)
		return -1;
	*state = w;
	return 0;
}

static inline int teardown(void **state)
{
	struct world *w = *state;

	survey_free(w->survey);
	trace_meta_free(w->meta);
	script_clear(&w->script);
	free(w);
	return 0;
}

static inline void set(struct world *w, const char *key, const char *value)
{
	assert_int_equal(trace_meta_set(w->meta, key, value), 0);
}

static inline const struct survey *run(struct world *w)
{
	const struct event_source source = script_source(&w->script);

	assert_int_equal(survey_run_source(&source, w->meta, w->maps, w->map_count, &w->survey), 0);
	return w->survey;
}

static inline void map_flags(struct world *w, uint32_t task, uint64_t at, uint64_t length,
                             uint64_t flags)
{
	SCRIPT_CALL(&w->script, CALL_MMAP, task, at, 0, length, READ_WRITE, flags, UINT64_MAX, 0);
}

static inline void map(struct world *w, uint32_t task, uint64_t at, uint64_t length)
{
	map_flags(w, task, at, length, PRIVATE);
}

static inline void map_file(struct world *w, uint32_t task, uint64_t at, uint64_t length,
                            uint64_t flags, uint64_t fd)
{
	SCRIPT_CALL(&w->script, CALL_MMAP, task, at, 0, length, READ_WRITE, flags, fd, 0);
}

static inline void fault(struct world *w, uint32_t task, uint64_t at, uint64_t code)
{
	script_event(&w->script, EVENT_FAULT_USER, task, at, code);
}

static inline void fault_pages(struct world *w, uint32_t task, uint64_t at, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++)
		fault(w, task, at + i * PAGE, WRITE);
}

static inline void peak_is(struct world *w, uint64_t pages)
{
	assert_int_equal(run(w)->peak_bytes, pages * PAGE);
}
