/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `dump --format jsonl`: a JSON object a line. Addresses are strings, since JSON's numbers are not.
 */

#include "common/json_out.h"
#include "traces/dump.h"

static void begin(struct json_out *j, struct dump *d, const char *type, uint64_t time)
{
	json_out_init(j, d->out, false);
	json_out_object(j, NULL);
	json_out_string(j, "type", type);
	json_out_i64(j, "time", dump_time(d, time));
}

static void put_arg(struct json_out *j, const char *name, unsigned type, uint64_t value)
{
	char text[EVENT_VALUE_MAX];

	switch (type) {
	case ARG_SIZE:
	case ARG_OFFSET:
	case ARG_TASK:
		json_out_u64(j, name, value);
		return;
	case ARG_INT:
		json_out_i64(j, name, (int64_t)value);
		return;
	case ARG_FD:
		json_out_i64(j, name, (int32_t)value);
		return;
	case ARG_RESULT:
		if (!result_is_error(value)) {
			json_out_i64(j, name, (int64_t)value);
			return;
		}
		break;
	default:
		break;
	}
	event_value_format(text, sizeof(text), type, value);
	json_out_string(j, name, text);
}

static void jsonl_event(struct dump *d, const struct event *e)
{
	const struct event_row *row = event_row(e->kind);
	struct json_out j;

	begin(&j, d, event_is_call(e->kind) ? event_is_leave(e->kind) ? "leave" : "enter" : "event",
	      e->time);
	json_out_u64(&j, "cpu", e->cpu);
	json_out_u64(&j, "task", e->task);
	json_out_string(&j, "name", event_name(e->kind));
	for (unsigned i = 0; i < row->args; i++)
		put_arg(&j, row->names[i], row->types[i], e->arg[i]);
	if (e->flags & EVENT_POINTER_READ)
		json_out_string(&j, "pointer", e->flags & EVENT_POINTER_LATE ? "late" : "read");
	json_out_end(&j);
}

static void jsonl_name(struct dump *d, const struct trace_name *n)
{
	struct json_out j;

	begin(&j, d, "name", n->time);
	json_out_u64(&j, "task", n->task);
	json_out_string(&j, "name", n->name);
	json_out_end(&j);
}

static void jsonl_maps(struct dump *d, const struct trace_maps *m)
{
	struct json_out j;

	begin(&j, d, "maps", m->time);
	json_out_u64(&j, "process", m->process);
	json_out_bool(&j, "start", m->flags & MAPS_START);
	json_out_bool(&j, "read_late", m->flags & MAPS_READ_LATE);
	json_out_bool(&j, "from_headers", m->flags & MAPS_FROM_HEADERS);
	json_out_array(&j, "maps");
	for (size_t i = 0; i < m->count; i++) {
		const struct trace_map *map = &m->maps[i];
		char prot[5];

		dump_map_prot(prot, map->prot);
		json_out_object(&j, NULL);
		json_out_hex(&j, "start", map->start);
		json_out_hex(&j, "end", map->end);
		json_out_string(&j, "prot", prot);
		json_out_u64(&j, "offset", map->offset);
		json_out_string(&j, "kind", dump_map_kind(map->kind));
		if (map->file)
			json_out_hex(&j, "file", map->file);
		json_out_end(&j);
	}
	json_out_end(&j);
	json_out_end(&j);
}

static void jsonl_stat(struct dump *d, const struct trace_stat *s)
{
	struct json_out j;

	begin(&j, d, "counters", s->time);
	json_out_string(&j, "when", s->when == STAT_START ? "start" : "end");
	json_out_object(&j, "values");
	for (size_t i = 0; i < trace_meta_count(s->pairs); i++) {
		const char *key, *value;

		trace_meta_at(s->pairs, i, &key, &value);
		json_out_string(&j, key, value);
	}
	json_out_end(&j);
	json_out_end(&j);
}

static void jsonl_loss(struct dump *d, const struct trace_loss *l)
{
	struct json_out j;

	begin(&j, d, "loss", l->from);
	json_out_i64(&j, "until", dump_time(d, l->to));
	if (l->cpu != FORMAT_CPU_UNKNOWN)
		json_out_u64(&j, "cpu", l->cpu);
	if (l->events)
		json_out_u64(&j, "events", l->events);
	else
		json_out_string(&j, "events", NULL);
	json_out_string(&j, "reason", dump_loss_reason(l->reason));
	json_out_end(&j);
}

const struct dump_format dump_jsonl = {
	.name = "jsonl",
	.event = jsonl_event,
	.task_name = jsonl_name,
	.maps = jsonl_maps,
	.stat = jsonl_stat,
	.loss = jsonl_loss,
};
