/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of an EVTS block back to events. The block may be hostile: every
 * length is checked when it is opened, every index and cursor while decoding.
 */

#include "common/cleanup.h"
#include "traces/codec.h"

#define TIME_PLANES 8
#define LOW_PLANES 4
#define TASK_PLANES 2
#define BATCH 256

/* A column of bytes that are taken one after the other. */
struct cursor {
	const uint8_t *at, *end;
};

struct arg_cursor {
	struct cursor bytes;
	uint64_t last;
};

struct shape {
	uint32_t code;
	uint16_t kind;
	uint8_t args, flags;
	bool fault;
	uint16_t first_arg; /* in evts_decoder.arg */
};

struct known_task {
	uint32_t id;
	uint64_t page[2]; /* last, and the place before it */
};

struct evts_decoder {
	struct evts_head head;
	uint32_t at; /* events handed out */
	uint64_t time; /* of the last of them */
	unsigned page_shift, time_planes, task_planes, shape_count, task_count;
	bool broken;
	const uint8_t *shapes;
	const uint8_t *task_plane[TASK_PLANES];
	const uint8_t *time_plane[TIME_PLANES];
	struct cursor near, far;
	struct shape shape[FORMAT_SHAPES_MAX];
	struct arg_cursor arg[FORMAT_SHAPES_MAX * EVENT_MAX_ARGS];
	unsigned arg_count;
	struct known_task *task;
	size_t task_room;
};

int evts_decoder_new(struct evts_decoder **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

struct evts_decoder *evts_decoder_free(struct evts_decoder *d)
{
	if (d)
		free(d->task);
	free(d);
	return NULL;
}

void evts_decoder_close(struct evts_decoder *d)
{
	d->head = (struct evts_head){ 0 };
	d->near = d->far = (struct cursor){ 0 };
	d->at = d->arg_count = 0;
	d->time = 0;
	d->broken = false;
}

static int shapes_read(struct evts_decoder *d, struct bytes_reader *in)
{
	d->arg_count = 0;
	for (unsigned i = 0; i < d->shape_count; i++) {
		struct shape *s = &d->shape[i];

		s->kind = bytes_u16(in);
		s->args = bytes_u8(in);
		s->flags = bytes_u8(in);
		s->code = bytes_u32(in);
		s->fault = event_is_fault(s->kind);
		s->first_arg = (uint16_t)d->arg_count;
		if (in->bad || s->args > EVENT_MAX_ARGS || (s->fault ? s->args : s->code))
			return -EBADMSG;
		if (!event_row(s->kind))
			return -EPROTONOSUPPORT;
		d->arg_count += s->args;
	}
	return 0;
}

static int tasks_read(struct evts_decoder *d, struct bytes_reader *in)
{
	if (d->task_count > d->task_room) {
		free(d->task);
		d->task_room = 0;
		d->task = malloc(d->task_count * sizeof(*d->task));
		if (!d->task)
			return -ENOMEM;
		d->task_room = d->task_count;
	}
	for (unsigned i = 0; i < d->task_count; i++)
		d->task[i] = (struct known_task){ .id = bytes_u32(in) };
	return in->bad ? -EBADMSG : 0;
}

static void cursor_take(struct cursor *c, struct bytes_reader *in, size_t len)
{
	c->at = bytes_take(in, len);
	c->end = c->at ? c->at + len : NULL;
}

int evts_decoder_open(struct evts_decoder *d, const uint8_t *payload, size_t len)
{
	struct bytes_reader in = { .at = payload, .end = payload + len };
	uint32_t arg_len[FORMAT_SHAPES_MAX * EVENT_MAX_ARGS];
	const uint8_t *head = bytes_take(&in, FORMAT_EVTS_HEAD);
	uint32_t near, far;
	int r;

	d->broken = true;
	if (!head || evts_head_decode(&d->head, head) < 0)
		return -EBADMSG;
	d->page_shift = bytes_u8(&in);
	d->time_planes = bytes_u8(&in);
	d->task_planes = bytes_u8(&in);
	d->shape_count = bytes_u8(&in);
	d->task_count = bytes_u32(&in);
	near = bytes_u32(&in);
	far = bytes_u32(&in);
	if (in.bad || d->page_shift > FORMAT_PAGE_SHIFT_MAX || d->time_planes > TIME_PLANES ||
	    d->task_planes > TASK_PLANES || !d->shape_count || !d->task_count ||
	    d->task_count > FORMAT_TASKS_MAX || near > d->head.events)
		return -EBADMSG;
	r = shapes_read(d, &in);
	if (!r)
		r = tasks_read(d, &in);
	if (r < 0)
		return r;
	for (unsigned i = 0; i < d->arg_count; i++)
		arg_len[i] = bytes_u32(&in);
	d->shapes = bytes_take(&in, d->head.events);
	for (unsigned i = 0; i < d->task_planes; i++)
		d->task_plane[i] = bytes_take(&in, d->head.events);
	for (unsigned i = 0; i < d->time_planes; i++)
		d->time_plane[i] = bytes_take(&in, d->head.events);
	cursor_take(&d->near, &in, near);
	cursor_take(&d->far, &in, far);
	for (unsigned i = 0; i < d->arg_count && !in.bad; i++) {
		d->arg[i].last = 0;
		cursor_take(&d->arg[i].bytes, &in, arg_len[i]);
	}
	if (in.bad || bytes_left(&in))
		return -EBADMSG;
	d->at = 0;
	d->time = d->head.first;
	d->broken = false;
	return 0;
}

/* false if the column ends inside the value. */
static inline bool varint_take(struct cursor *c, uint64_t *out)
{
	uint64_t v = 0;

	for (unsigned shift = 0; c->at < c->end && shift < 64; shift += 7) {
		uint8_t byte = *c->at++;

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*out = v;
			return true;
		}
	}
	return false;
}

static inline bool args_take(struct evts_decoder *d, const struct shape *s, struct event *out)
{
	struct arg_cursor *c = &d->arg[s->first_arg];
	uint64_t v;

	for (unsigned i = 0; i < s->args; i++, c++) {
		if (!varint_take(&c->bytes, &v))
			return false;
		c->last += (uint64_t)zigzag_decode(v);
		out->arg[i] = c->last;
	}
	return true;
}

static bool far_take(struct cursor *c, unsigned n, uint64_t *out)
{
	uint64_t v = 0;

	if (n > (size_t)(c->end - c->at))
		return false;
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)c->at[i] << (8 * i);
	c->at += n;
	*out = v;
	return true;
}

/* near is the caller's copy, so that it stays in registers. */
static inline bool page_take(struct evts_decoder *d, struct cursor *near, struct known_task *t)
{
	uint64_t from = t->page[0], v;

	if (near->at == near->end)
		return false;
	v = *near->at++;
	if (v >= FORMAT_NEAR_SECOND) {
		if (v >= FORMAT_NEAR_FAR) {
			if (!far_take(&d->far, (unsigned)v - FORMAT_NEAR_FAR + 1, &v))
				return false;
		} else {
			from = t->page[1];
			v -= FORMAT_NEAR_SECOND;
		}
		t->page[1] = t->page[0];
	}
	t->page[0] = from + (uint64_t)zigzag_decode(v);
	return true;
}

/* Stands for a plane that the block does not have. */
static const uint8_t no_plane[BATCH];

static const uint8_t *plane_at(const struct evts_decoder *d, const uint8_t *const *planes,
                               unsigned have, unsigned plane)
{
	return plane < have ? planes[plane] + d->at : no_plane;
}

/* The bytes of a time difference above the lowest four, which few blocks have. */
static uint64_t high_delta(const struct evts_decoder *d, unsigned i)
{
	uint64_t v = 0;

	for (unsigned p = LOW_PLANES; p < d->time_planes; p++)
		v |= (uint64_t)d->time_plane[p][d->at + i] << (8 * p);
	return v;
}

/* Times of the next n events; false if they leave the span of the block. */
static bool times_take(struct evts_decoder *d, struct event *out, unsigned n)
{
	const uint8_t *p0 = plane_at(d, d->time_plane, d->time_planes, 0);
	const uint8_t *p1 = plane_at(d, d->time_plane, d->time_planes, 1);
	const uint8_t *p2 = plane_at(d, d->time_plane, d->time_planes, 2);
	const uint8_t *p3 = plane_at(d, d->time_plane, d->time_planes, 3);
	uint64_t t = d->time;
	bool wrapped = false, high = d->time_planes > LOW_PLANES;

	for (unsigned i = 0; i < n; i++) {
		uint64_t delta = p0[i] | (uint32_t)p1[i] << 8 | (uint32_t)p2[i] << 16 |
		                 (uint32_t)p3[i] << 24;

		if (high)
			delta |= high_delta(d, i);
		t += delta;
		wrapped |= t < delta;
		out[i].time = t;
	}
	d->time = t;
	return !wrapped && t <= d->head.last;
}

static inline bool event_take(struct evts_decoder *d, struct cursor *near, struct event *out,
                              unsigned shape, unsigned task)
{
	const struct shape *s = &d->shape[shape];
	struct known_task *t = &d->task[task];

	if (shape >= d->shape_count || task >= d->task_count)
		return false;
	memset(out->arg, 0, sizeof(out->arg));
	out->task = t->id;
	out->cpu = d->head.cpu;
	out->kind = s->kind;
	out->flags = s->flags;
	out->reserved = 0;
	if (!s->fault)
		return args_take(d, s, out);
	if (!page_take(d, near, t))
		return false;
	out->arg[0] = t->page[0] << d->page_shift;
	out->arg[1] = s->code;
	return true;
}

static bool ended_whole(const struct evts_decoder *d)
{
	bool whole = d->time == d->head.last && d->near.at == d->near.end &&
	             d->far.at == d->far.end;

	for (unsigned i = 0; i < d->arg_count; i++)
		whole &= d->arg[i].bytes.at == d->arg[i].bytes.end;
	return whole;
}

int evts_decoder_next(struct evts_decoder *d, struct event *out, unsigned max)
{
	const uint8_t *task0, *task1, *shapes = d->shapes + d->at;
	struct cursor near = d->near;
	unsigned n = max < BATCH ? max : BATCH;

	if (d->broken)
		return -EBADMSG;
	if (n > d->head.events - d->at)
		n = d->head.events - d->at;
	if (!n)
		return ended_whole(d) ? 0 : -EBADMSG;
	d->broken = !times_take(d, out, n);
	if (d->broken)
		return -EBADMSG;
	task0 = plane_at(d, d->task_plane, d->task_planes, 0);
	task1 = plane_at(d, d->task_plane, d->task_planes, 1);
	for (unsigned i = 0; i < n; i++) {
		if (!event_take(d, &near, &out[i], shapes[i], task0[i] | (unsigned)task1[i] << 8)) {
			d->broken = true;
			return i ? (int)i : -EBADMSG;
		}
	}
	d->near = near;
	d->at += n;
	return (int)n;
}
