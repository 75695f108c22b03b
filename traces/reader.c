/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Merges the CPUs' events by time: a tournament of cursors, one per CPU, each with
 * one decompressed block and one batch of decoded events.
 */

#include <inttypes.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/codec.h"
#include "traces/index.h"
#include "traces/tournament.h"

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
	struct cursor *cursors; /* by CPU */
	struct tournament order; /* of the cursors, by the time of the next event */
	uint64_t from; /* ns, of the first event: times in the tournament count from here */
	struct cursor *first; /* whose event was handed out last */
	size_t live; /* cursors that have a next event */
	int error; /* said once, returned from then on */
};

static uint64_t cursor_key(const struct trace_reader *r, const struct cursor *c)
{
	return tournament_key(&r->order, c->batch[c->at].time - r->from, c->slot);
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

static bool times_fit(const struct trace_reader *r, uint64_t first, uint64_t last)
{
	return first >= r->from && last - r->from <= tournament_max(&r->order);
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
	if (!error && (head.cpu != c->cpu || !times_fit(r, head.first, head.last)))
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

static int cursors_start(struct trace_reader *r)
{
	size_t streams = (size_t)1 << r->order.stream_bits;
	_cleanup_free_ uint64_t *keys = malloc(streams * sizeof(*keys));

	if (!keys)
		return -ENOMEM;
	memset(keys, 0xff, streams * sizeof(*keys)); /* TOURNAMENT_ENDED */
	r->first = NULL;
	r->live = 0;
	for (size_t i = 0; i < r->index.cpu_count; i++) {
		struct cursor *c = &r->cursors[i];
		int n;

		c->next_block = 0;
		c->at = c->count = 0;
		evts_decoder_close(c->decoder);
		n = cursor_fill(r, c);
		if (n < 0)
			return n;
		if (!n)
			continue;
		keys[i] = cursor_key(r, c);
		r->live++;
	}
	tournament_start(&r->order, keys);
	return 0;
}

/* A hostile file may claim any times; real ones fit: 52 days of 4096 CPUs, more of fewer. */
static int order_new(struct trace_reader *r)
{
	const struct trace_index *x = &r->index;
	uint64_t last = 0;

	r->order.stream_bits = tournament_bits(x->cpu_count);
	r->order.nodes = calloc((size_t)1 << r->order.stream_bits, sizeof(*r->order.nodes));
	if (!r->order.nodes)
		return -ENOMEM;
	r->from = x->cpu_count ? UINT64_MAX : 0;
	for (size_t i = 0; i < x->cpu_count; i++) {
		r->from = x->cpus[i].first_time < r->from ? x->cpus[i].first_time : r->from;
		last = x->cpus[i].last_time > last ? x->cpus[i].last_time : last;
	}
	if (times_fit(r, r->from, last))
		return 0;
	log_error("%s: damaged: its events are said to span %" PRIu64 " days", x->path,
	          (uint64_t)((last - r->from) / (86400 * 1000000000ULL)));
	return -EBADMSG;
}

static int cursors_new(struct trace_reader *r)
{
	size_t count = r->index.cpu_count;

	r->cursors = calloc(count + 1, sizeof(*r->cursors));
	if (!r->cursors)
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
	error = error ? error : order_new(r);
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
	free(r->order.nodes);
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

/* Behind the first cursor's batch: the next one, and its place in the order. */
static int first_refill(struct trace_reader *r)
{
	struct cursor *c = r->first;
	int n = cursor_fill(r, c);

	if (n < 0)
		return n;
	r->live -= (size_t)!n;
	tournament_play(&r->order, c->slot, n ? cursor_key(r, c) : TOURNAMENT_ENDED);
	return 0;
}

int trace_reader_next(struct trace_reader *r, const struct event **out)
{
	struct cursor *c = r->first;

	if (c && ++c->at < c->count)
		tournament_play(&r->order, c->slot, cursor_key(r, c));
	else if (c && !r->error)
		r->error = first_refill(r);
	if (r->error || !r->live) {
		r->first = NULL;
		return r->error;
	}
	c = r->first = &r->cursors[tournament_stream(&r->order, tournament_winner(&r->order))];
	*out = &c->batch[c->at];
	return 1;
}

int trace_reader_rewind(struct trace_reader *r)
{
	if (!r->error)
		r->error = cursors_start(r);
	return r->error;
}
