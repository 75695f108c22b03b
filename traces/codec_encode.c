/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of one CPU to the columns of an EVTS block. Every value goes to its
 * column as it arrives, so that closing a block only puts the parts together.
 *
 * Columns grow together: each has room for `room` events.
 */

#include "common/cleanup.h"
#include "traces/codec.h"

#define FIRST_ROOM 2048
#define SHAPE_SLOTS 512
#define TASK_SLOTS (2 * CODEC_BLOCK_TASKS)
#define TIME_PLANES 8
#define TASK_PLANES 2
/* What one event can add beside its bytes in the planes: a shape, a task, far or arguments. */
#define EVENT_EXTRA_MAX (FORMAT_SHAPE + 4 + 1 + 4 * EVENT_MAX_ARGS + VARINT_MAX * EVENT_MAX_ARGS)

struct arg_column {
	struct buffer bytes;
	uint64_t last;
};

struct shape {
	uint64_t key; /* kind, flags and code */
	uint8_t args;
	struct arg_column *columns; /* `EVENT_MAX_ARGS`, kept over reset, NULL until needed */
};

struct known_task {
	uint32_t id;
	uint64_t page[2]; /* last, and the place before it */
};

struct evts_encoder {
	struct evts_head head;
	unsigned page_shift;
	unsigned time_planes, task_planes;
	unsigned shape_count, task_count;
	uint32_t room, faults;
	size_t extra; /* bytes of tables, far and arguments */
	uint8_t *shapes; /* column */
	uint8_t *near;
	uint8_t *task_plane[TASK_PLANES];
	uint8_t *time_plane[TIME_PLANES];
	struct buffer far, args, directory;
	struct shape shape[FORMAT_SHAPES_MAX];
	struct known_task task[CODEC_BLOCK_TASKS];
	uint16_t shape_slot[SHAPE_SLOTS]; /* number + 1 by hash of the key */
	uint16_t task_slot[TASK_SLOTS];
};

static uint32_t hash(uint64_t key, unsigned bits)
{
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> (64 - bits));
}

_Static_assert(SHAPE_SLOTS == 1 << 9 && TASK_SLOTS == 1 << 12, "hash widths below");

static uint16_t *shape_slot(struct evts_encoder *e, uint64_t key)
{
	uint32_t at = hash(key, 9);

	while (e->shape_slot[at] && e->shape[e->shape_slot[at] - 1].key != key)
		at = (at + 1) % SHAPE_SLOTS;
	return &e->shape_slot[at];
}

static uint16_t *task_slot(struct evts_encoder *e, uint32_t id)
{
	uint32_t at = hash(id, 12);

	while (e->task_slot[at] && e->task[e->task_slot[at] - 1].id != id)
		at = (at + 1) % TASK_SLOTS;
	return &e->task_slot[at];
}

int evts_encoder_new(struct evts_encoder **out, uint32_t cpu, unsigned page_shift)
{
	struct evts_encoder *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->head.cpu = cpu;
	e->page_shift = page_shift;
	e->time_planes = 1;
	*out = e;
	return 0;
}

struct evts_encoder *evts_encoder_free(struct evts_encoder *e)
{
	if (!e)
		return NULL;
	for (unsigned i = 0; i < FORMAT_SHAPES_MAX; i++) {
		for (unsigned a = 0; e->shape[i].columns && a < EVENT_MAX_ARGS; a++)
			buffer_clear(&e->shape[i].columns[a].bytes);
		free(e->shape[i].columns);
	}
	for (unsigned i = 0; i < TIME_PLANES; i++)
		free(e->time_plane[i]);
	for (unsigned i = 0; i < TASK_PLANES; i++)
		free(e->task_plane[i]);
	free(e->shapes);
	free(e->near);
	buffer_clear(&e->far);
	buffer_clear(&e->args);
	buffer_clear(&e->directory);
	free(e);
	return NULL;
}

uint32_t evts_encoder_events(const struct evts_encoder *e)
{
	return e->head.events;
}

uint64_t evts_encoder_first(const struct evts_encoder *e)
{
	return e->head.first;
}

uint64_t evts_encoder_last(const struct evts_encoder *e)
{
	return e->head.last;
}

static int column_grow(uint8_t **column, uint32_t room)
{
	uint8_t *p = realloc(*column, room);

	if (!p)
		return -ENOMEM;
	*column = p;
	return 0;
}

static int grow(struct evts_encoder *e)
{
	uint32_t room = e->room ? 2 * e->room : FIRST_ROOM;
	int r = 0;

	r |= column_grow(&e->shapes, room);
	r |= column_grow(&e->near, room);
	for (unsigned i = 0; i < TASK_PLANES; i++)
		if (!i || e->task_plane[i])
			r |= column_grow(&e->task_plane[i], room);
	for (unsigned i = 0; i < TIME_PLANES; i++)
		if (!i || e->time_plane[i])
			r |= column_grow(&e->time_plane[i], room);
	if (r)
		return -ENOMEM;
	e->room = room;
	return 0;
}

/* Begins planes up to `count`: the events so far have zeros there. */
static int planes_widen(const struct evts_encoder *e, uint8_t **planes, unsigned *have,
                        unsigned count)
{
	for (; *have < count; ++*have) {
		uint8_t **plane = &planes[*have];

		if (!*plane && column_grow(plane, e->room) < 0)
			return -ENOMEM;
		memset(*plane, 0, e->head.events);
	}
	return 0;
}

static unsigned bytes_needed(uint64_t v)
{
	return v ? (unsigned)(71 - __builtin_clzll(v)) / 8 : 0;
}

static size_t block_size(const struct evts_encoder *e, uint32_t events, unsigned time_planes,
                         unsigned task_planes)
{
	return FORMAT_BLOCK_HEADER + FORMAT_EVTS_HEAD + FORMAT_EVTS_DIRECTORY + e->extra +
	       (size_t)events * (1 + time_planes + task_planes) + e->faults;
}

static int shape_add(struct evts_encoder *e, uint16_t *slot, uint64_t key, const struct event *ev)
{
	struct shape *s = &e->shape[e->shape_count];

	s->key = key;
	s->args = event_is_fault(ev->kind) ? 0 : event_row(ev->kind)->args;
	if (s->args && !s->columns)
		s->columns = calloc(EVENT_MAX_ARGS, sizeof(*s->columns));
	if (s->args && !s->columns)
		return -ENOMEM;
	e->extra += FORMAT_SHAPE + 4 * s->args;
	*slot = (uint16_t)++e->shape_count;
	return 0;
}

static void task_add(struct evts_encoder *e, uint16_t *slot, uint32_t id)
{
	e->task[e->task_count] = (struct known_task){ .id = id };
	e->extra += 4;
	*slot = (uint16_t)++e->task_count;
}

static int page_add(struct evts_encoder *e, struct known_task *task, uint64_t page)
{
	uint64_t to_last = zigzag_encode((int64_t)(page - task->page[0]));
	uint64_t to_second = zigzag_encode((int64_t)(page - task->page[1]));
	uint8_t far[8];
	unsigned n;

	if (to_last < FORMAT_NEAR_SECOND) {
		e->near[e->faults++] = (uint8_t)to_last;
		task->page[0] = page;
		return 0;
	}
	task->page[1] = task->page[0];
	task->page[0] = page;
	if (to_second < FORMAT_NEAR_FAR - FORMAT_NEAR_SECOND) {
		e->near[e->faults++] = (uint8_t)(FORMAT_NEAR_SECOND + to_second);
		return 0;
	}
	n = bytes_needed(to_last);
	store_le64(far, to_last);
	e->near[e->faults++] = (uint8_t)(FORMAT_NEAR_FAR - 1 + n);
	e->extra += n;
	return buffer_bytes(&e->far, far, n);
}

static int args_add(struct evts_encoder *e, struct shape *s, const struct event *ev)
{
	for (unsigned i = 0; i < s->args; i++) {
		struct arg_column *c = &s->columns[i];
		size_t before = c->bytes.len;
		int r = buffer_varint(&c->bytes, zigzag_encode((int64_t)(ev->arg[i] - c->last)));

		if (r < 0)
			return r;
		c->last = ev->arg[i];
		e->extra += c->bytes.len - before;
	}
	return 0;
}

/* Whether the event, of the given delta, must wait for the next block. */
static bool is_full(const struct evts_encoder *e, unsigned time_planes, bool new_shape,
                    bool new_task)
{
	uint32_t events = e->head.events;

	return events == CODEC_BLOCK_EVENTS || (new_shape && e->shape_count == FORMAT_SHAPES_MAX) ||
	       (new_task && e->task_count == CODEC_BLOCK_TASKS) ||
	       block_size(e, events + 1, time_planes, TASK_PLANES) + EVENT_EXTRA_MAX >
	               CODEC_BLOCK_BYTES;
}

int evts_encoder_add(struct evts_encoder *e, const struct event *ev)
{
	bool fault = event_is_fault(ev->kind);
	uint64_t code = fault ? ev->arg[1] : 0;
	uint64_t key = ev->kind | (uint64_t)ev->flags << 16 | code << 32;
	uint64_t delta = e->head.events ? ev->time - e->head.last : 0;
	uint16_t *shape, *task;
	unsigned planes;
	int r = 0;

	if (!event_row(ev->kind) || code > UINT32_MAX)
		return -EINVAL;
	if (ev->time < e->head.last)
		return -ERANGE;
	planes = bytes_needed(delta);
	planes = planes > e->time_planes ? planes : e->time_planes;
	shape = shape_slot(e, key);
	task = task_slot(e, ev->task);
	if (e->head.events && is_full(e, planes, !*shape, !*task))
		return 1;
	if (e->head.events == e->room)
		r = grow(e);
	if (!r && !*shape)
		r = shape_add(e, shape, key, ev);
	if (!r && !*task)
		task_add(e, task, ev->task);
	if (!r)
		r = planes_widen(e, e->time_plane, &e->time_planes, planes);
	if (!r)
		r = planes_widen(e, e->task_plane, &e->task_planes, bytes_needed(*task - 1U));
	if (r < 0)
		return r;
	r = fault ? page_add(e, &e->task[*task - 1], ev->arg[0] >> e->page_shift)
	          : args_add(e, &e->shape[*shape - 1], ev);
	if (r < 0)
		return r;
	e->shapes[e->head.events] = (uint8_t)(*shape - 1);
	for (unsigned i = 0; i < e->task_planes; i++)
		e->task_plane[i][e->head.events] = (uint8_t)((*task - 1) >> (8 * i));
	for (unsigned i = 0; i < e->time_planes; i++)
		e->time_plane[i][e->head.events] = (uint8_t)(delta >> (8 * i));
	if (!e->head.events)
		e->head.first = ev->time;
	e->head.last = ev->time;
	e->head.events++;
	return 0;
}

static int directory_write(struct evts_encoder *e)
{
	const struct evts_head *h = &e->head;
	const uint8_t widths[] = { (uint8_t)e->page_shift, (uint8_t)e->time_planes,
		                   (uint8_t)e->task_planes, (uint8_t)e->shape_count };
	struct buffer *b = &e->directory;

	b->len = 0;
	if (buffer_reserve(b, FORMAT_EVTS_HEAD + FORMAT_EVTS_DIRECTORY + e->extra) < 0)
		return -ENOMEM;
	/* Nothing below can fail any more: the room is there. */
	(void)buffer_u32(b, h->cpu);
	(void)buffer_u32(b, h->events);
	(void)buffer_u64(b, h->index);
	(void)buffer_u64(b, h->first);
	(void)buffer_u64(b, h->last);
	(void)buffer_bytes(b, widths, sizeof(widths));
	(void)buffer_u32(b, e->task_count);
	(void)buffer_u32(b, e->faults);
	(void)buffer_u32(b, (uint32_t)e->far.len);
	for (unsigned i = 0; i < e->shape_count; i++) {
		const struct shape *s = &e->shape[i];
		const uint8_t args_flags[] = { s->args, (uint8_t)(s->key >> 16) };

		(void)buffer_u16(b, (uint16_t)s->key);
		(void)buffer_bytes(b, args_flags, sizeof(args_flags));
		(void)buffer_u32(b, (uint32_t)(s->key >> 32));
	}
	for (unsigned i = 0; i < e->task_count; i++)
		(void)buffer_u32(b, e->task[i].id);
	for (unsigned i = 0; i < e->shape_count; i++)
		for (unsigned a = 0; a < e->shape[i].args; a++)
			(void)buffer_u32(b, (uint32_t)e->shape[i].columns[a].bytes.len);
	return 0;
}

int evts_encoder_parts(struct evts_encoder *e, struct evts_part parts[EVTS_PARTS_MAX])
{
	int n = 0;

	if (directory_write(e) < 0)
		return -ENOMEM;
	e->args.len = 0;
	for (unsigned i = 0; i < e->shape_count; i++)
		for (unsigned a = 0; a < e->shape[i].args; a++) {
			const struct buffer *from = &e->shape[i].columns[a].bytes;

			if (buffer_bytes(&e->args, from->data, from->len) < 0)
				return -ENOMEM;
		}
	parts[n++] = (struct evts_part){ e->directory.data, e->directory.len };
	parts[n++] = (struct evts_part){ e->shapes, e->head.events };
	for (unsigned i = 0; i < e->task_planes; i++)
		parts[n++] = (struct evts_part){ e->task_plane[i], e->head.events };
	for (unsigned i = 0; i < e->time_planes; i++)
		parts[n++] = (struct evts_part){ e->time_plane[i], e->head.events };
	parts[n++] = (struct evts_part){ e->near, e->faults };
	parts[n++] = (struct evts_part){ e->far.data, e->far.len };
	parts[n++] = (struct evts_part){ e->args.data, e->args.len };
	return n;
}

void evts_encoder_reset(struct evts_encoder *e, bool written)
{
	for (unsigned i = 0; i < e->shape_count; i++)
		for (unsigned a = 0; a < e->shape[i].args; a++) {
			e->shape[i].columns[a].bytes.len = 0;
			e->shape[i].columns[a].last = 0;
		}
	memset(e->shape_slot, 0, sizeof(e->shape_slot));
	memset(e->task_slot, 0, sizeof(e->task_slot));
	if (written)
		e->head.index += e->head.events;
	e->head.events = 0;
	e->time_planes = 1;
	e->task_planes = e->shape_count = e->task_count = e->faults = 0;
	e->extra = 0;
	e->far.len = 0;
}
