/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of a trace mean: order, gaps, records, and where each CPU's
 * events are. A block that is missing shows as a gap in the sequence of blocks,
 * and how much it held as a gap in the running index of its CPU; what the last
 * blocks of a CPU held shows as a difference to TAIL.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/codec.h"
#include "traces/file.h"
#include "traces/index.h"

#define PEEK (FORMAT_BLOCK_HEADER + FORMAT_EVTS_HEAD)

static struct cpu_blocks *cpu_find(struct trace_index *x, uint32_t cpu)
{
	if (cpu >= x->cpu_slots) {
		uint32_t *slots = realloc(x->cpu_slot, (cpu + 1) * sizeof(*slots));

		if (!slots)
			return NULL;
		memset(slots + x->cpu_slots, 0, (cpu + 1 - x->cpu_slots) * sizeof(*slots));
		x->cpu_slot = slots;
		x->cpu_slots = cpu + 1;
	}
	if (!x->cpu_slot[cpu]) {
		struct cpu_blocks *cpus;

		cpus = realloc(x->cpus, (x->cpu_count + 1) * sizeof(*cpus));
		if (!cpus)
			return NULL;
		x->cpus = cpus;
		cpus[x->cpu_count] = (struct cpu_blocks){ .cpu = cpu };
		x->cpu_slot[cpu] = (uint32_t)++x->cpu_count;
	}
	return &x->cpus[x->cpu_slot[cpu] - 1];
}

static int ref_add(struct cpu_blocks *c, const struct block_ref *ref)
{
	struct block_ref *refs = c->refs;

	if (!(c->count & (c->count - 1))) {
		refs = realloc(refs, (c->count ? 2 * c->count : 1) * sizeof(*refs));
		if (!refs)
			return -ENOMEM;
		c->refs = refs;
	}
	refs[c->count++] = *ref;
	return 0;
}

/* Events of the CPU that came before this block and are in no block. */
static int gap_take(struct trace_index *x, const struct block_ref *ref, const struct cpu_blocks *c,
                    const struct evts_head *h)
{
	struct trace_loss gap = { .cpu = h->cpu, .reason = LOSS_DAMAGE };
	int r;

	gap.events = h->index - c->next_index;
	gap.from = c->last_time;
	gap.to = h->first;
	if (!gap.events)
		return 0;
	if (c->damage_seen == x->status.damage_count) {
		r = trace_index_damage(x, ref->offset, 0, "events missing");
		if (r < 0)
			return r;
	}
	x->found += gap.events;
	return trace_index_lost(x, &gap);
}

static int events_take(struct trace_index *x, const struct block_ref *ref,
                       const struct evts_head *h)
{
	struct cpu_blocks *c = cpu_find(x, h->cpu);
	int r;

	if (!c)
		return -ENOMEM;
	if (x->cpu_count > INDEX_CPUS_MAX)
		return trace_index_too_much(x, ref->offset, "more than 4096 CPUs");
	if (h->index < c->next_index || h->first < c->last_time)
		return trace_index_damage(x, ref->offset, ref->size, "events out of order");
	r = gap_take(x, ref, c, h);
	if (r < 0)
		return r;
	if (!c->count)
		c->first_time = h->first;
	c->next_index = h->index + h->events;
	c->last_time = h->last;
	c->damage_seen = x->status.damage_count;
	x->found += h->events;
	x->status.events += h->events;
	return ref_add(c, ref);
}

static int head_take(struct trace_index *x, const uint8_t *payload, size_t len)
{
	unsigned version;
	int r = head_decode(x->meta, payload, len, &version);

	if (r == -EPROTONOSUPPORT)
		log_error("%s: format version %u, and this mmtape reads up to %u: "
		          "use a newer mmtape",
		          x->path, version, FORMAT_VERSION);
	return r;
}

static int unknown_take(const struct trace_index *x, uint64_t offset, const struct block_header *h)
{
	char name[5];

	if (!(h->flags & FORMAT_BLOCK_REQUIRED))
		return 0;
	store_le32(name, h->type);
	for (int i = 0; i < 4; i++)
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?';
	name[4] = 0;
	log_error("%s: offset %" PRIu64 ": a block of type '%s' is required to read this trace "
	          "and not known here: use a newer mmtape",
	          x->path, offset, name);
	return -EPROTONOSUPPORT;
}

static int record_take(struct trace_index *x, const struct block_ref *ref,
                       const struct block_header *h)
{
	const uint8_t *payload = x->raw + FORMAT_BLOCK_HEADER;
	int r;

	if (h->type == BLOCK_HEAD)
		r = head_take(x, payload, h->length);
	else
		r = records_decode(&x->records, h->type, payload, h->length);
	if (r == 1)
		r = unknown_take(x, ref->offset, h);
	if (r == -E2BIG)
		return trace_index_too_much(x, ref->offset, "more than 64 MiB of records");
	if (r == -EBADMSG)
		return trace_index_damage(x, ref->offset, ref->size, "contents of a block");
	return r;
}

/* What does not fit the blocks before, or NULL. */
static const char *order_check(const struct trace_index *x, const struct block_header *h)
{
	if (x->records.has_tail)
		return "data behind the end";
	if (h->sequence < x->sequence)
		return "block out of order";
	if ((h->type == BLOCK_HEAD) != (h->sequence == 0))
		return "first block";
	return NULL;
}

static int whole_read(struct trace_index *x, const struct block_ref *ref, size_t available)
{
	if (available < ref->size)
		return trace_index_read(x, ref, x->raw);
	return frame_read(x->frames, x->in, ref->size, x->raw, ref->content);
}

/* Enough of the block to tell what it is; all of it if it holds no events. */
static int block_read(struct trace_index *x, const struct block_ref *ref, size_t available,
                      struct block_header *h, const char **what)
{
	size_t want = ref->content < PEEK ? ref->content : PEEK;
	size_t have = available < ref->size ? available : ref->size;

	*what = "broken zstd frame";
	if (frame_peek(x->frames, x->in, have, x->raw, want) < 0 &&
	    whole_read(x, ref, available) < 0)
		return -EBADMSG;
	*what = "header of a block";
	if (block_header_decode(h, x->raw) < 0)
		return -EBADMSG;
	*what = "checksum";
	return h->type == BLOCK_EVTS ? 0 : whole_read(x, ref, available);
}

/* A checksum that holds does not make contents that do: decodes all of the verified block. */
static int contents_check(struct trace_index *x, const struct block_header *h)
{
	struct event batch[64];
	int r = evts_decoder_open(x->decoder, x->raw + FORMAT_BLOCK_HEADER, h->length);

	while (!r) {
		r = evts_decoder_next(x->decoder, batch, ARRAY_SIZE(batch));
		if (r <= 0)
			return r;
		r = 0;
	}
	return r;
}

int trace_index_events_error(const struct trace_index *x, uint64_t offset, int error)
{
	if (error == -EPROTONOSUPPORT)
		log_error("%s: offset %" PRIu64 ": a kind of event that is not known here: "
		          "use a newer mmtape",
		          x->path, offset);
	return error;
}

static int events_read(struct trace_index *x, const struct block_ref *ref,
                       const struct block_header *h)
{
	struct evts_head events;
	int r = 0;

	if (h->length < FORMAT_EVTS_HEAD ||
	    evts_head_decode(&events, x->raw + FORMAT_BLOCK_HEADER) < 0)
		r = -EBADMSG;
	else if (x->decoder)
		r = contents_check(x, h);
	if (!r)
		return events_take(x, ref, &events);
	if (r == -EBADMSG)
		return trace_index_damage(x, ref->offset, ref->size, "contents of an event block");
	return trace_index_events_error(x, ref->offset, r);
}

static int block_take(struct trace_index *x, const struct block_ref *ref,
                      const struct block_header *h)
{
	int r = h->type == BLOCK_EVTS ? events_read(x, ref, h) : record_take(x, ref, h);

	if (r < 0)
		return r;
	x->has_head |= h->type == BLOCK_HEAD;
	x->sequence = h->sequence + 1;
	x->damage_seen = x->status.damage_count;
	if (++x->status.blocks > INDEX_BLOCKS_MAX)
		return trace_index_too_much(x, ref->offset, "more than 4194304 blocks");
	return 0;
}

int trace_index_frame(struct trace_index *x, const struct block_ref *ref, size_t available,
                      bool verified)
{
	struct block_header h;
	const char *what = "header of a block";
	int r;

	if (ref->content < FORMAT_BLOCK_HEADER)
		return trace_index_damage(x, ref->offset, ref->size, what);
	if (verified)
		r = block_header_decode(&h, x->raw);
	else
		r = block_read(x, ref, available, &h, &what);
	if (r < 0)
		return trace_index_damage(x, ref->offset, ref->size, what);
	what = h.length == ref->content - FORMAT_BLOCK_HEADER ? order_check(x, &h) : what;
	if (what)
		return trace_index_damage(x, ref->offset, ref->size, what);
	if (h.sequence > x->sequence && x->damage_seen == x->status.damage_count) {
		r = trace_index_damage(x, ref->offset, 0, "blocks missing");
		if (r < 0)
			return r;
	}
	return block_take(x, ref, &h);
}
