/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The small blocks: metadata, losses, names, mappings, counters, the tail. */

#include "common/cleanup.h"
#include "traces/codec.h"
#include "traces/records_codec.h"

#define PAIR_MEMORY 96 /* two small allocations and their place in the array */
#define MAP_BYTES 40
#define LOSS_BYTES 32

int head_encode(const struct trace_meta *meta, struct buffer *out)
{
	int r = buffer_u16(out, FORMAT_VERSION);

	if (!r)
		r = buffer_u16(out, 0);
	if (!r)
		r = buffer_u32(out, (uint32_t)trace_meta_count(meta));
	return r ? r : meta_encode(meta, out);
}

int head_decode(struct trace_meta *meta, const uint8_t *data, size_t len, unsigned *version)
{
	struct bytes_reader in = { .at = data, .end = data + len };
	uint32_t count;
	int r;

	*version = bytes_u16(&in);
	(void)bytes_u16(&in);
	count = bytes_u32(&in);
	if (in.bad || !*version)
		return -EBADMSG;
	if (*version > FORMAT_VERSION)
		return -EPROTONOSUPPORT;
	r = meta_decode(meta, &in, count);
	return r ? r : bytes_left(&in) ? -EBADMSG : 0;
}

int loss_encode(const struct trace_loss *loss, struct buffer *out)
{
	int r = buffer_u32(out, loss->cpu);

	r = r ? r : buffer_u32(out, loss->reason);
	r = r ? r : buffer_u64(out, loss->events);
	r = r ? r : buffer_u64(out, loss->from);
	return r ? r : buffer_u64(out, loss->to);
}

int name_encode(const struct trace_name *name, struct buffer *out)
{
	size_t len = strnlen(name->name, sizeof(name->name));
	int r = buffer_u32(out, name->task);

	r = r ? r : buffer_u16(out, (uint16_t)len);
	r = r ? r : buffer_bytes(out, name->name, len);
	return r ? r : buffer_u64(out, name->time);
}

static int map_encode(const struct trace_map *map, struct buffer *out)
{
	int r = buffer_u64(out, map->start);

	r = r ? r : buffer_u64(out, map->end);
	r = r ? r : buffer_u64(out, map->offset);
	r = r ? r : buffer_u64(out, map->file);
	r = r ? r : buffer_u32(out, map->prot);
	return r ? r : buffer_u32(out, map->kind);
}

int maps_encode(const struct trace_maps *maps, struct buffer *out)
{
	int r = buffer_u32(out, maps->process);

	r = r ? r : buffer_u32(out, maps->flags);
	r = r ? r : buffer_u64(out, maps->time);
	r = r ? r : buffer_u32(out, (uint32_t)maps->count);
	for (size_t i = 0; i < maps->count && !r; i++)
		r = map_encode(&maps->maps[i], out);
	return r;
}

int stat_encode(const struct trace_stat *stat, struct buffer *out)
{
	int r = buffer_u32(out, stat->when);

	r = r ? r : buffer_u32(out, (uint32_t)trace_meta_count(stat->pairs));
	r = r ? r : buffer_u64(out, stat->time);
	return r ? r : meta_encode(stat->pairs, out);
}

int tail_encode(const struct trace_tail *tail, struct buffer *out)
{
	int r = buffer_u32(out, tail->status);

	r = r ? r : buffer_u32(out, tail->flags);
	r = r ? r : buffer_u64(out, tail->time);
	r = r ? r : buffer_u64(out, tail->events);
	return r ? r : buffer_u64(out, tail->lost);
}

void records_clear(struct records *r)
{
	for (size_t i = 0; i < r->maps_count; i++)
		free(r->maps[i].maps);
	for (size_t i = 0; i < r->stat_count; i++)
		trace_meta_free(r->stats[i].pairs);
	free(r->losses);
	free(r->names);
	free(r->maps);
	free(r->stats);
	*r = (struct records){ 0 };
}

/*
 * The array with room for one more item: it doubles at powers of two. NULL, and
 * *error, for want of memory or beyond the bound; the old array then stays.
 */
static void *items_room(struct records *r, void *items, size_t count, size_t size, int *error)
{
	size_t room = count ? 2 * count : 1;
	void *p = items;

	*error = 0;
	r->memory += 2 * size;
	if (r->memory > RECORDS_MEMORY_MAX)
		*error = -E2BIG;
	else if (!(count & (count - 1)))
		p = realloc(items, room * size);
	if (!p)
		*error = -ENOMEM;
	return *error ? NULL : p;
}

int records_add_loss(struct records *r, const struct trace_loss *loss)
{
	int error;
	struct trace_loss *p = items_room(r, r->losses, r->loss_count, sizeof(*p), &error);

	if (!p)
		return error;
	r->losses = p;
	p[r->loss_count++] = *loss;
	return 0;
}

static int losses_decode(struct records *r, struct bytes_reader *in)
{
	uint32_t count = bytes_u32(in);
	int error = 0;

	if (in->bad || bytes_left(in) != (uint64_t)count * LOSS_BYTES)
		return -EBADMSG;
	while (count-- && !error) {
		struct trace_loss loss;

		loss.cpu = bytes_u32(in);
		loss.reason = bytes_u32(in);
		loss.events = bytes_u64(in);
		loss.from = bytes_u64(in);
		loss.to = bytes_u64(in);
		if (loss.from > loss.to)
			return -EBADMSG;
		error = records_add_loss(r, &loss);
	}
	return error;
}

static int names_decode(struct records *r, struct bytes_reader *in)
{
	uint32_t count = bytes_u32(in);

	for (; count && !in->bad; count--) {
		struct trace_name name = { .task = bytes_u32(in) }, *p;
		uint16_t len = bytes_u16(in);
		const uint8_t *bytes = bytes_take(in, len);
		int error;

		name.time = bytes_u64(in);
		if (in->bad || len >= sizeof(name.name) || memchr(bytes, 0, len))
			return -EBADMSG;
		memcpy(name.name, bytes, len);
		p = items_room(r, r->names, r->name_count, sizeof(*p), &error);
		if (!p)
			return error;
		r->names = p;
		p[r->name_count++] = name;
	}
	return 0;
}

static int map_decode(struct trace_map *map, struct bytes_reader *in)
{
	map->start = bytes_u64(in);
	map->end = bytes_u64(in);
	map->offset = bytes_u64(in);
	map->file = bytes_u64(in);
	map->prot = bytes_u32(in);
	map->kind = bytes_u32(in);
	return map->start >= map->end ? -EBADMSG : 0;
}

static int maps_decode(struct records *r, struct bytes_reader *in)
{
	struct trace_maps head = { .process = bytes_u32(in) }, *p;
	int error;

	head.flags = bytes_u32(in);
	head.time = bytes_u64(in);
	head.count = bytes_u32(in);
	if (in->bad || bytes_left(in) != head.count * MAP_BYTES)
		return -EBADMSG;
	r->memory += head.count * sizeof(*head.maps);
	p = items_room(r, r->maps, r->maps_count, sizeof(*p), &error);
	if (!p)
		return error;
	r->maps = p;
	head.maps = calloc(head.count + 1, sizeof(*head.maps));
	if (!head.maps)
		return -ENOMEM;
	p[r->maps_count++] = head;
	for (size_t i = 0; i < head.count && !error; i++)
		error = map_decode(&head.maps[i], in);
	return error;
}

static int stat_decode(struct records *r, struct bytes_reader *in)
{
	struct trace_stat head = { .when = bytes_u32(in) }, *p;
	uint32_t count = bytes_u32(in);
	int error;

	head.time = bytes_u64(in);
	if (in->bad)
		return -EBADMSG;
	r->memory += bytes_left(in) + (size_t)count * PAIR_MEMORY;
	p = items_room(r, r->stats, r->stat_count, sizeof(*p), &error);
	if (!p)
		return error;
	r->stats = p;
	error = trace_meta_new(&head.pairs);
	if (error)
		return error;
	p[r->stat_count++] = head;
	return meta_decode(head.pairs, in, count);
}

static int tail_decode(struct records *r, struct bytes_reader *in)
{
	r->tail.status = bytes_u32(in);
	r->tail.flags = bytes_u32(in);
	r->tail.time = bytes_u64(in);
	r->tail.events = bytes_u64(in);
	r->tail.lost = bytes_u64(in);
	r->has_tail = !in->bad;
	return 0;
}

static const struct {
	uint32_t type;
	int (*decode)(struct records *r, struct bytes_reader *in);
} decoders[] = {
	{ BLOCK_LOSS, losses_decode }, { BLOCK_NAME, names_decode }, { BLOCK_MAPS, maps_decode },
	{ BLOCK_STAT, stat_decode },   { BLOCK_TAIL, tail_decode },
};

int records_decode(struct records *r, uint32_t type, const uint8_t *data, size_t len)
{
	struct bytes_reader in = { .at = data, .end = data + len };

	for (size_t i = 0; i < ARRAY_SIZE(decoders); i++) {
		int error;

		if (decoders[i].type != type)
			continue;
		error = decoders[i].decode(r, &in);
		return error ? error : in.bad || bytes_left(&in) ? -EBADMSG : 0;
	}
	return 1;
}
