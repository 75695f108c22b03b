/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the frames of a trace mean: order, gaps, records, and where each CPU's
 * events are. A block that is missing shows as a gap in the sequence of blocks,
 * and how much it held as a gap in the running index of its CPU; what the last
 * blocks of a CPU held shows as a difference to TAIL.
 */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/codec.h"
#include "traces/file.h"
#include "traces/index.h"

#define PEEK (FORMAT_BLOCK_HEADER + FORMAT_EVTS_HEAD)

/* Damage that a trace can have; anything else at the beginning is no trace of ours. */
static bool is_damage(const char *what)
{
	static const char *const kinds[] = { "checksum", "broken zstd frame", "first block",
		                             "contents of a block", "blocks missing" };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(what, kinds[i]))
			return true;
	return false;
}

/* No block of ours at the beginning of the file, or none at all. */
static int refuse(const struct trace_index *x, const char *what)
{
	if (!x->status.bytes) {
		log_error("%s: an empty file, not a trace", x->path);
		return -ENODATA;
	}
	if (!strcmp(what, DAMAGE_CUT)) {
		log_error("%s: cut short within its first block: nothing to read", x->path);
		return -ENODATA;
	}
	if (is_damage(what))
		log_error("%s: damaged (%s), and no block is whole: nothing to read", x->path,
		          what);
	else
		log_error("%s: not a trace (at its beginning: %s)", x->path, what);
	return -EBADMSG;
}

int trace_index_damage(struct trace_index *x, uint64_t offset, uint64_t bytes, const char *what)
{
	struct trace_status *s = &x->status;

	if (!(x->flags & TRACE_TOLERATE_DAMAGE)) {
		if (!offset && !is_damage(what))
			return refuse(x, what);
		log_error("%s: damaged at offset %" PRIu64 " (%s): `mmtape salvage %s -o FILE` "
		          "recovers what is whole",
		          x->path, offset, what, x->path);
		return -EBADMSG;
	}
	if (s->damage_count < ARRAY_SIZE(s->damage))
		s->damage[s->damage_count] = (struct trace_damage){ offset, bytes, what };
	s->damage_count++;
	return 0;
}

static int too_much(const struct trace_index *x, uint64_t offset, const char *what)
{
	log_error("%s: offset %" PRIu64 ": %s: refused as hostile", x->path, offset, what);
	return -E2BIG;
}

int trace_index_lost(struct trace_index *x, const struct trace_loss *loss)
{
	int r = records_add_loss(&x->records, loss);

	x->lost_here += loss->events ? loss->events : 1;
	if (r == -E2BIG)
		return too_much(x, 0, "more than 64 MiB of records");
	return r;
}

int trace_index_read(struct trace_index *x, const struct block_ref *ref, uint8_t *out)
{
	ssize_t n = trace_file_read(x->fd, ref->offset, x->in, ref->size);

	if (n < 0 || (size_t)n != ref->size)
		return -EBADMSG;
	return frame_read(x->frames, x->in, ref->size, out, ref->content);
}

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
		return too_much(x, ref->offset, "more than 4096 CPUs");
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
		return too_much(x, ref->offset, "more than 64 MiB of records");
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
		return too_much(x, ref->offset, "more than 4194304 blocks");
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

static int unknown_lost(struct trace_index *x, uint64_t events, uint64_t from, uint64_t to)
{
	struct trace_loss loss = { .cpu = FORMAT_CPU_UNKNOWN, .reason = LOSS_DAMAGE };

	loss.events = events;
	loss.from = from < to ? from : to;
	loss.to = to;
	return trace_index_lost(x, &loss);
}

static uint64_t losses_sum(const struct records *rec)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rec->loss_count; i++)
		sum += rec->losses[i].events ? rec->losses[i].events : 1;
	return sum;
}

/* What the end of the file says is missing. */
static int end_take(struct trace_index *x)
{
	struct records *rec = &x->records;
	uint64_t last = 0, lost;
	int r = 0;

	for (size_t i = 0; i < x->cpu_count; i++)
		last = x->cpus[i].last_time > last ? x->cpus[i].last_time : last;
	lost = losses_sum(rec) - x->lost_here;
	if (!rec->has_tail)
		return unknown_lost(x, 0, last, last);
	if (rec->tail.events > x->found)
		r = unknown_lost(x, rec->tail.events - x->found, 0, rec->tail.time);
	if (!r && rec->tail.lost > lost)
		r = unknown_lost(x, rec->tail.lost - lost, 0, rec->tail.time);
	return r;
}

static void status_fill(struct trace_index *x)
{
	struct trace_status *s = &x->status;

	s->has_tail = x->records.has_tail;
	s->lost = losses_sum(&x->records);
	s->complete = s->has_tail && !s->damage_count && !s->lost;
}

int trace_index_open(struct trace_index *x, const char *path, unsigned flags)
{
	int r;

	*x = (struct trace_index){ .fd = -1, .flags = flags };
	r = trace_file_open(path, &x->fd, &x->status.bytes);
	if (r < 0)
		return r;
	x->path = strdup(path);
	x->in = malloc(frame_bound());
	x->raw = malloc(FORMAT_BLOCK_MAX);
	if (!x->path || !x->in || !x->raw)
		return -ENOMEM;
	r = frame_reader_new(&x->frames);
	r = r ? r : trace_meta_new(&x->meta);
	if (!r && flags & TRACE_TOLERATE_DAMAGE)
		r = evts_decoder_new(&x->decoder);
	if (r < 0)
		return r;
	r = flags & (TRACE_TOLERATE_DAMAGE | TRACE_SCAN) ? 1 : trace_scan_table(x);
	if (r == 1)
		r = trace_scan(x);
	if (!r && !x->status.blocks)
		r = refuse(x, x->status.damage_count ? x->status.damage[0].what : DAMAGE_CUT);
	r = r ? r : end_take(x);
	status_fill(x);
	return r;
}

void trace_index_close(struct trace_index *x)
{
	if (x->fd >= 0)
		close(x->fd);
	for (size_t i = 0; i < x->cpu_count; i++)
		free(x->cpus[i].refs);
	free(x->cpus);
	free(x->cpu_slot);
	frame_reader_free(x->frames);
	evts_decoder_free(x->decoder);
	trace_meta_free(x->meta);
	records_clear(&x->records);
	buffer_clear(&x->scanned);
	free(x->path);
	free(x->in);
	free(x->raw);
}
