/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One pass over a trace through all the models. */

#include <inttypes.h>
#include <stdlib.h>

#include "common/log.h"
#include "traces/survey.h"

/* In the cookie of a call beside what memory_item() keeps there: it is in in_flight. */
#define COOKIE_COUNTED (1ULL << 63)

#define PROGRESS_EVENTS 1000000

struct pass {
	struct survey *survey;
	struct call_pairer *pairer;
	struct lineage *lineage;
	struct descriptors *descriptors;
	struct memory *memory;
	struct map breaks; /* space number to the last result of brk */
	uint64_t in_flight;
};

struct survey *survey_free(struct survey *s)
{
	if (!s)
		return NULL;
	shapes_clear(&s->shapes);
	memory_spaces_free(s->space, s->space_count);
	free(s);
	return NULL;
}

static void pass_clear(struct pass *p)
{
	call_pairer_free(p->pairer);
	lineage_free(p->lineage);
	descriptors_free(p->descriptors);
	memory_free(p->memory);
	map_clear(&p->breaks);
}

static void count_event(struct survey *s, const struct event *e)
{
	if (!s->events++)
		s->first = e->time;
	s->last = e->time;
	if (e->kind < EVENT_KIND_COUNT && event_name(e->kind))
		s->kinds[e->kind]++;
	else
		s->unknown_kinds++;
	if (event_is_fault(e->kind) && e->arg[1] & FAULT_WRITE)
		s->writes++;
}

/* Descriptor, wait and exec calls are no memory operations. */
static bool is_memory_call(const struct paired_call *c)
{
	return c->call < CALL_OPENAT;
}

static int brk_shape(struct pass *p, uint32_t task, const struct paired_call *c)
{
	uint64_t *brk, moved;
	bool added;
	int r = map_place(&p->breaks, lineage_task(p->lineage, task)->space, &brk, &added);

	if (r < 0)
		return r;
	moved = added ? 0 : *brk < c->result ? c->result - *brk : *brk - c->result;
	*brk = c->result;
	return shapes_add(&p->survey->shapes, CALL_BRK, moved, 0);
}

static int count_item(struct pass *p, uint32_t task, const struct item *item)
{
	struct paired_call *c = item->call;

	if (item->kind == ITEM_ENTER && c->has_leave && is_memory_call(c)) {
		if (++p->in_flight > p->survey->peak_calls)
			p->survey->peak_calls = p->in_flight;
		c->cookie |= COOKIE_COUNTED;
	}
	if (item->kind == ITEM_LEAVE && c->cookie & COOKIE_COUNTED)
		p->in_flight--;
	if (item->kind == ITEM_LEAVE && c->call == CALL_BRK)
		return brk_shape(p, task, c);
	return item->kind == ITEM_ENTER ? shapes_add_call(&p->survey->shapes, c) : 0;
}

/* The models have a bound: beyond it events are still counted. */
static int take_item(struct pass *p, const struct item *item)
{
	struct survey *s = p->survey;
	uint32_t task;
	int r;

	count_event(s, &item->event);
	if (s->partial)
		return 0;
	r = lineage_event(p->lineage, &item->event, &task);
	if (r >= 0)
		r = descriptors_item(p->descriptors, p->lineage, task, item);
	if (r >= 0)
		r = memory_item(p->memory, p->lineage, p->descriptors, task, item);
	if (r >= 0)
		r = count_item(p, task, item);
	if (r == -E2BIG) {
		s->partial = true;
		s->partial_event = item->number;
		return 0;
	}
	return r;
}

static int collect(struct pass *p)
{
	struct survey *s = p->survey;

	s->calls = *call_pairer_counts(p->pairer);
	s->lineage = *lineage_counts(p->lineage);
	s->tasks = lineage_tasks(p->lineage);
	s->spaces = lineage_spaces(p->lineage);
	s->file_tables = lineage_file_tables(p->lineage);
	s->files = descriptors_files(p->descriptors);
	s->unknown_files = descriptors_unknown(p->descriptors);
	s->peak_bytes = memory_peak_bytes(p->memory);
	shapes_sort(&s->shapes);
	return memory_spaces_take(p->memory, &s->space, &s->space_count);
}

static int pass_run(struct pass *p)
{
	struct item item;
	int r;

	while ((r = call_pairer_next(p->pairer, &item)) > 0) {
		r = take_item(p, &item);
		if (r < 0)
			break;
		if (!(item.number % PROGRESS_EVENTS) && item.number)
			log_progress("%" PRIu64 " million events read",
			             item.number / PROGRESS_EVENTS);
	}
	log_progress_end();
	return r < 0 ? r : collect(p);
}

int survey_run_source(const struct event_source *source, const struct trace_meta *meta,
                      const struct trace_maps *maps, size_t map_count, struct survey **out)
{
	struct pass p = { .survey = calloc(1, sizeof(*p.survey)) };
	int r = p.survey ? 0 : -ENOMEM;

	if (r >= 0)
		r = call_pairer_new_source(&p.pairer, source);
	if (r >= 0)
		r = lineage_new(&p.lineage);
	if (r >= 0)
		r = descriptors_new(&p.descriptors);
	if (r >= 0)
		r = memory_new(&p.memory, meta, maps, map_count);
	if (r >= 0) {
		lineage_set_kernel(p.lineage, trace_meta_get(meta, META_KERNEL));
		r = pass_run(&p);
	}
	pass_clear(&p);
	if (r < 0) {
		survey_free(p.survey);
		return r;
	}
	*out = p.survey;
	return 0;
}

int survey_run(struct trace_reader *reader, struct survey **out)
{
	struct event_source source;
	const struct trace_maps *maps;
	size_t count;
	int r = trace_reader_rewind(reader);

	if (r < 0)
		return r;
	event_source_of_reader(&source, reader);
	maps = trace_reader_maps(reader, &count);
	return survey_run_source(&source, trace_reader_meta(reader), maps, count, out);
}
