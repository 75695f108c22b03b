/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Switches tracepoints on and off and decodes their records, by what points_load.c found. */

#include <string.h>

#include "capture/instance.h"
#include "capture/points_table.h"
#include "common/bytes.h"

/* Leaves are switched on before enters and off after them, so that no enter lacks its leave. */
static int set_some(const struct points *p, struct instance *instance, bool enters, bool on)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct point *pt = &p->rows[i];
		bool is_enter = event_is_call(pt->kind) && !event_is_leave(pt->kind);
		int r;

		if (is_enter != enters)
			continue;
		r = instance_event_set(instance, pt->system, pt->name, on);
		if (r < 0)
			return r;
	}
	return 0;
}

int points_enable(const struct points *p, struct instance *instance)
{
	int r = set_some(p, instance, false, true);

	return r < 0 ? r : set_some(p, instance, true, true);
}

int points_disable(const struct points *p, struct instance *instance)
{
	int r = set_some(p, instance, true, false);

	return r < 0 ? r : set_some(p, instance, false, false);
}

int points_enable_kind(const struct points *p, struct instance *instance, unsigned kind)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->rows[i].kind == kind)
			return instance_event_set(instance, p->rows[i].system, p->rows[i].name,
			                          true);
	return -ENOENT;
}

bool points_have(const struct points *p, unsigned kind)
{
	return p->have[kind];
}

static inline uint64_t field_load(const struct point_field *f, const uint8_t *data)
{
	const uint8_t *at = data + f->offset;
	uint32_t v;

	switch (f->size) {
	case 8:
		return load_le64(at);
	case 4:
		v = load_le32(at);
		return f->is_signed ? (uint64_t)(int64_t)(int32_t)v : v;
	case 2:
		return load_le16(at);
	case 1:
		return *at;
	default:
		return 0;
	}
}

/* __data_loc: offset in the low half, length in the high half (include/trace/stages). */
static void text_load(const struct point *pt, const uint8_t *data, size_t size,
                      struct point_record *out)
{
	size_t offset = pt->text.offset, length = pt->text_bytes;

	if (pt->text_dynamic) {
		uint32_t location = load_le32(data + offset);

		offset = location & 0xffff;
		length = location >> 16;
	}
	if (offset >= size)
		return;
	if (length > size - offset)
		length = size - offset;
	out->text = (const char *)data + offset;
	out->text_size = strnlen(out->text, length);
}

int points_decode(const struct points *p, const void *data, size_t size, struct point_record *out)
{
	const struct point *pt;
	unsigned id;

	if (size < 8)
		return 1;
	id = load_le16(data);
	if (id >= p->ids || !p->by_id[id])
		return 1;
	pt = &p->rows[p->by_id[id] - 1];
	if (size < pt->bytes)
		return 1;
	out->event = (struct event){ .kind = pt->kind };
	out->event.task = (uint32_t)field_load(&pt->task, data);
	for (unsigned i = 0; i < pt->args; i++)
		out->event.arg[i] = field_load(&pt->arg[i], data);
	if (pt->kind == EVENT_EXIT && !pt->arg[0].size)
		out->event.arg[0] = 2;
	out->text = NULL;
	out->text_size = 0;
	if (pt->text.size)
		text_load(pt, data, size, out);
	return 0;
}

/* Fields common to all records come first, at the same place in each. */
uint32_t points_task(const struct points *p, const void *data, size_t size)
{
	if (!p->count || size < p->rows[0].task.offset + sizeof(uint32_t))
		return 0;
	return (uint32_t)field_load(&p->rows[0].task, data);
}
