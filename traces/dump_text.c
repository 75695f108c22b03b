/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `dump --format text`: a line per event, for people. */

#include <inttypes.h>

#include "common/cleanup.h"
#include "common/escape.h"
#include "traces/dump.h"

static void put_head(struct dump *d, uint64_t time, uint32_t cpu, uint32_t task)
{
	int64_t ns = dump_time(d, time);
	uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;

	fprintf(d->out, "%s%" PRIu64 ".%09" PRIu64 " ", ns < 0 ? "-" : "", size / 1000000000,
	        size % 1000000000);
	if (cpu == FORMAT_CPU_UNKNOWN)
		fputs("[  -] ", d->out);
	else
		fprintf(d->out, "[%03" PRIu32 "] ", cpu);
	if (task)
		fprintf(d->out, "%6" PRIu32 " ", task);
	else
		fputs("     - ", d->out);
}

static void put_args(struct dump *d, const struct event *e, const struct event_row *row,
                     const char *between)
{
	char value[EVENT_VALUE_MAX];

	for (unsigned i = 0; i < row->args; i++) {
		event_value_format(value, sizeof(value), row->types[i], e->arg[i]);
		fprintf(d->out, "%s%s=%s", i ? between : "", row->names[i], value);
	}
}

static void text_event(struct dump *d, const struct event *e)
{
	const struct event_row *row = event_row(e->kind);
	char value[EVENT_VALUE_MAX];

	put_head(d, e->time, e->cpu, e->task);
	fputs(event_name(e->kind), d->out);
	if (event_is_leave(e->kind)) {
		event_value_format(value, sizeof(value), row->types[0], e->arg[0]);
		fprintf(d->out, " -> %s", value);
	} else if (event_is_call(e->kind)) {
		putc('(', d->out);
		put_args(d, e, row, ", ");
		putc(')', d->out);
	} else if (row->args) {
		putc(' ', d->out);
		put_args(d, e, row, " ");
	}
	if (e->flags & EVENT_POINTER_READ)
		fputs(e->flags & EVENT_POINTER_LATE ? " (pointer read late)" : " (pointer read)",
		      d->out);
	putc('\n', d->out);
}

static void text_name(struct dump *d, const struct trace_name *n)
{
	put_head(d, n->time, FORMAT_CPU_UNKNOWN, n->task);
	fputs("name \"", d->out);
	escape_text(d->out, n->name);
	fputs("\"\n", d->out);
}

static void text_maps(struct dump *d, const struct trace_maps *m)
{
	put_head(d, m->time, FORMAT_CPU_UNKNOWN, m->process);
	fprintf(d->out, "maps %zu%s%s%s\n", m->count, m->flags & MAPS_START ? " at the start" : "",
	        m->flags & MAPS_READ_LATE ? " read late" : "",
	        m->flags & MAPS_FROM_HEADERS ? " from program headers" : "");
	for (size_t i = 0; i < m->count; i++) {
		const struct trace_map *map = &m->maps[i];
		char prot[5];

		dump_map_prot(prot, map->prot);
		fprintf(d->out, "\t0x%" PRIx64 "-0x%" PRIx64 " %s offset=0x%" PRIx64 " %s",
		        map->start, map->end, prot, map->offset, dump_map_kind(map->kind));
		if (map->file)
			fprintf(d->out, " file=%016" PRIx64, map->file);
		putc('\n', d->out);
	}
}

static void text_stat(struct dump *d, const struct trace_stat *s)
{
	put_head(d, s->time, FORMAT_CPU_UNKNOWN, 0);
	fprintf(d->out, "counters at the %s\n", s->when == STAT_START ? "start" : "end");
	for (size_t i = 0; i < trace_meta_count(s->pairs); i++) {
		const char *key, *value;

		trace_meta_at(s->pairs, i, &key, &value);
		putc('\t', d->out);
		escape_text(d->out, key);
		putc('=', d->out);
		escape_text(d->out, value);
		putc('\n', d->out);
	}
}

static void text_loss(struct dump *d, const struct trace_loss *l)
{
	put_head(d, l->from, l->cpu, 0);
	fputs("lost ", d->out);
	if (l->events)
		fprintf(d->out, "%" PRIu64, l->events);
	else
		fputs("an unknown number of", d->out);
	fprintf(d->out, " events (%s) within %" PRIu64 " ns\n", dump_loss_reason(l->reason),
	        l->to - l->from);
}

const struct dump_format dump_text = {
	.name = "text",
	.event = text_event,
	.task_name = text_name,
	.maps = text_maps,
	.stat = text_stat,
	.loss = text_loss,
};
