/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the CPUs' events by time: a heap of cursors, one per CPU, each with one
 * decompressed block and one batch of decoded events. As long as the first
 * cursor's next event is older than that of any other, it is handed out without
 * a look at the heap.
 */

#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/codec.h"
#include "traces/index.h"

#define BATCH 64

struct cursor {
	uint32_t cpu;
	size_t slot; /* in the index's cpus */
	size_t next_block;
	uint8_t *raw;
	size_t raw_room;
	struct evts_decoder *decoder;
	unsigned at, count; /* in batch */
	struct event batch[BATCH];
};

struct trace_reader {
	struct trace_index index;
	struct cursor **heap; /* by (time, CPU) of the next event */
	size_t heap_count;
	struct cursor *cursors;
	struct cursor *first; /* whose event was handed out last; heap[0], or NULL */
	uint64_t bound; /* first's events before this time need no look at the heap */
	int error; /* said once, returned from then on */
};

static uint64_t cursor_time(const struct cursor *c)
{
	return c->batch[c->at].time;
}

static bool cursor_before(const struct cursor *a, const struct cursor *b)
{
	uint64_t ta = cursor_time(a), tb = cursor_time(b);

	return ta < tb || (ta == tb && a->cpu < b->cpu);
}

/*
 * With TRACE_TOLERATE_DAMAGE broken blocks were left out of the index, so one that is
 * broken here changed since.
 */
static int block_broken(struct trace_reader *r, const struct cursor *c, int error)
{
	const struct block_ref *ref = &r->index.cpus[c->slot].refs[c->next_block - 1];

	if (error != -EBADMSG)
		return trace_index_events_error(&r->index, ref->offset, error);
	log_error("%s: damaged at offset %" PRIu64 " (an event block): `mmtape salvage %s -o FILE` "
	          "recovers what is whole",
	          r->index.path, ref->offset, r->index.path);
	return -EBADMSG;
}

/* Opens the next block of the CPU: 1, or 0 behind the last one. */
static int block_open(struct trace_reader *r, struct cursor *c)
{
	const struct cpu_blocks *blocks = &r->index.cpus[c->slot];
	const struct block_ref *ref;
	struct block_header header;
	struct evts_head head;
	int error;

	if (c->next_block == blocks->count)
		return 0;
	ref = &blocks->refs[c->next_block++];
	if (ref->content > c->raw_room) {
		free(c->raw);
		c->raw_room = 0;
		c->raw = malloc(ref->content);
		if (!c->raw)
			return -ENOMEM;
		c->raw_room = ref->content;
	}
	error = trace_index_read(&r->index, ref, c->raw);
	error = error ? error : block_header_decode(&header, c->raw);
	error = error ? error : evts_head_decode(&head, c->raw + FORMAT_BLOCK_HEADER);
	if (!error && head.cpu != c->cpu)
		error = -EBADMSG;
	if (!error)
		error = evts_decoder_open(c->decoder, c->raw + FORMAT_BLOCK_HEADER,
		                          ref->content - FORMAT_BLOCK_HEADER);
	return error < 0 ? block_broken(r, c, error) : 1;
}

/* Makes c->batch[c->at] the CPU's next event: 1, or 0 when there is none. */
static int cursor_fill(struct trace_reader *r, struct cursor *c)
{
	while (c->at == c->count) {
		int n = evts_decoder_next(c->decoder, c->batch, BATCH);

		if (n < 0)
			return block_broken(r, c, n);
		c->at = 0;
		c->count = (unsigned)n;
		if (n)
			break;
		n = block_open(r, c);
		if (n <= 0)
			return n;
	}
	return 1;
}

static void heap_sift(struct trace_reader *r, size_t i)
{
	struct cursor *c = r->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= r->heap_count)
			break;
		if (child + 1 < r->heap_count && cursor_before(r->heap[child + 1], r->heap[child]))
			child++;
		if (!cursor_before(r->heap[child], c))
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = c;
}

/* From which time on the second cursor may come first. */
static uint64_t heap_bound(const struct trace_reader *r)
{
	const struct cursor *second = NULL;

	for (size_t i = 1; i < 3 && i < r->heap_count; i++)
		if (!second || cursor_before(r->heap[i], second))
			second = r->heap[i];
	return second ? cursor_time(second) : UINT64_MAX;
}

static int cursors_start(struct trace_reader *r)
{
	r->first = NULL;
	r->heap_count = 0;
	for (size_t i = 0; i < r->index.cpu_count; i++) {
		struct cursor *c = &r->cursors[i];
		int n;

		c->next_block = 0;
		c->at = c->count = 0;
		evts_decoder_close(c->decoder);
		n = cursor_fill(r, c);
		if (n < 0)
			return n;
		if (n)
			r->heap[r->heap_count++] = c;
	}
	for (size_t i = r->heap_count / 2; i-- > 0;)
		heap_sift(r, i);
	return 0;
}

static int cursors_new(struct trace_reader *r)
{
	size_t count = r->index.cpu_count;

	r->cursors = calloc(count + 1, sizeof(*r->cursors));
	r->heap = calloc(count + 1, sizeof(struct cursor *));
	if (!r->cursors || !r->heap)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		r->cursors[i].slot = i;
		r->cursors[i].cpu = r->index.cpus[i].cpu;
		if (evts_decoder_new(&r->cursors[i].decoder) < 0)
			return -ENOMEM;
	}
	return 0;
}

int trace_reader_new(struct trace_reader **out, const char *path, unsigned flags)
{
	struct trace_reader *r = calloc(1, sizeof(*r));
	int error;

	if (!r)
		return -ENOMEM;
	error = trace_index_open(&r->index, path, flags);
	error = error ? error : cursors_new(r);
	error = error ? error : cursors_start(r);
	if (error < 0) {
		trace_reader_free(r);
		return error;
	}
	*out = r;
	return 0;
}

struct trace_reader *trace_reader_free(struct trace_reader *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; r->cursors && i < r->index.cpu_count; i++) {
		evts_decoder_free(r->cursors[i].decoder);
		free(r->cursors[i].raw);
	}
	free(r->cursors);
	free(r->heap);
	trace_index_close(&r->index);
	free(r);
	return NULL;
}

const char *trace_reader_path(const struct trace_reader *r)
{
	return r->index.path;
}

const struct trace_meta *trace_reader_meta(const struct trace_reader *r)
{
	return r->index.meta;
}

const struct trace_status *trace_reader_status(const struct trace_reader *r)
{
	return &r->index.status;
}

const struct trace_loss *trace_reader_losses(const struct trace_reader *r, size_t *count)
{
	*count = r->index.records.loss_count;
	return r->index.records.losses;
}

const struct trace_name *trace_reader_names(const struct trace_reader *r, size_t *count)
{
	*count = r->index.records.name_count;
	return r->index.records.names;
}

const struct trace_maps *trace_reader_maps(const struct trace_reader *r, size_t *count)
{
	*count = r->index.records.maps_count;
	return r->index.records.maps;
}

const struct trace_stat *trace_reader_stats(const struct trace_reader *r, size_t *count)
{
	*count = r->index.records.stat_count;
	return r->index.records.stats;
}

const struct trace_tail *trace_reader_tail(const struct trace_reader *r)
{
	return r->index.records.has_tail ? &r->index.records.tail : NULL;
}

/* Moves the first cursor on and puts it where it now belongs. */
static int heap_advance(struct trace_reader *r)
{
	int n = cursor_fill(r, r->first);

	if (n < 0)
		return n;
	if (!n)
		r->heap[0] = r->heap[--r->heap_count];
	if (r->heap_count)
		heap_sift(r, 0);
	return 0;
}

int trace_reader_next(struct trace_reader *r, const struct event **out)
{
	struct cursor *c = r->first;

	if (c && ++c->at < c->count && cursor_time(c) < r->bound) {
		*out = &c->batch[c->at];
		return 1;
	}
	if (r->error)
		return r->error;
	if (c)
		r->error = heap_advance(r);
	if (r->error || !r->heap_count) {
		r->first = NULL;
		return r->error;
	}
	c = r->first = r->heap[0];
	r->bound = heap_bound(r);
	*out = &c->batch[c->at];
	return 1;
}

int trace_reader_rewind(struct trace_reader *r)
{
	if (!r->error)
		r->error = cursors_start(r);
	return r->error;
}
