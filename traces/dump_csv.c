/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `dump --format csv`: ten columns, one row an event; records take as many rows as they need. */

#include <inttypes.h>

#include "common/escape.h"
#include "traces/dump.h"

#define ARGUMENTS EVENT_MAX_ARGS

static void csv_begin(struct dump *d)
{
	fputs("time_ns,cpu,task,name,phase,arg1,arg2,arg3,arg4,arg5,arg6\n", d->out);
}

static void put_head(struct dump *d, uint64_t time, uint32_t cpu, uint32_t task, const char *name,
                     const char *phase)
{
	fprintf(d->out, "%" PRId64 ",", dump_time(d, time));
	if (cpu != FORMAT_CPU_UNKNOWN)
		fprintf(d->out, "%" PRIu32, cpu);
	putc(',', d->out);
	if (task)
		fprintf(d->out, "%" PRIu32, task);
	fprintf(d->out, ",%s,%s", name, phase);
}

static void put_end(struct dump *d, unsigned args)
{
	for (; args < ARGUMENTS; args++)
		putc(',', d->out);
	putc('\n', d->out);
}

static void csv_event(struct dump *d, const struct event *e)
{
	const struct event_row *row = event_row(e->kind);
	char value[EVENT_VALUE_MAX];

	put_head(d, e->time, e->cpu, e->task, event_name(e->kind),
	         event_is_leave(e->kind)  ? "leave"
	         : event_is_call(e->kind) ? "enter"
	                                  : "");
	for (unsigned i = 0; i < row->args; i++) {
		event_value_format(value, sizeof(value), row->types[i], e->arg[i]);
		fprintf(d->out, ",%s", value);
	}
	put_end(d, row->args);
}

static void csv_name(struct dump *d, const struct trace_name *n)
{
	put_head(d, n->time, FORMAT_CPU_UNKNOWN, n->task, "name", "");
	putc(',', d->out);
	escape_csv(d->out, n->name);
	put_end(d, 1);
}

static void csv_maps(struct dump *d, const struct trace_maps *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct trace_map *map = &m->maps[i];
		char prot[5];

		dump_map_prot(prot, map->prot);
		put_head(d, m->time, FORMAT_CPU_UNKNOWN, m->process, "map",
		         dump_map_kind(map->kind));
		fprintf(d->out, ",0x%" PRIx64 ",0x%" PRIx64 ",%s,0x%" PRIx64 ",0x%" PRIx64,
		        map->start, map->end, prot, map->offset, map->file);
		put_end(d, 5);
	}
}

static void csv_stat(struct dump *d, const struct trace_stat *s)
{
	for (size_t i = 0; i < trace_meta_count(s->pairs); i++) {
		const char *key, *value;

		trace_meta_at(s->pairs, i, &key, &value);
		put_head(d, s->time, FORMAT_CPU_UNKNOWN, 0, "counter",
		         s->when == STAT_START ? "start" : "end");
		putc(',', d->out);
		escape_csv(d->out, key);
		putc(',', d->out);
		escape_csv(d->out, value);
		put_end(d, 2);
	}
}

static void csv_loss(struct dump *d, const struct trace_loss *l)
{
	put_head(d, l->from, l->cpu, 0, "lost", dump_loss_reason(l->reason));
	if (l->events)
		fprintf(d->out, ",%" PRIu64, l->events);
	else
		fputs(",unknown", d->out);
	fprintf(d->out, ",%" PRId64, dump_time(d, l->to));
	put_end(d, 2);
}

const struct dump_format dump_csv = {
	.name = "csv",
	.begin = csv_begin,
	.event = csv_event,
	.task_name = csv_name,
	.maps = csv_maps,
	.stat = csv_stat,
	.loss = csv_loss,
};
