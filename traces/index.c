/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The index of a trace from its opening to its close: what is said about damage,
 * and what the end of the file shows to be missing. blocks.c takes in the blocks.
 */

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/codec.h"
#include "traces/file.h"
#include "traces/index.h"

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

int trace_index_too_much(const struct trace_index *x, uint64_t offset, const char *what)
{
	log_error("%s: offset %" PRIu64 ": %s: refused as hostile", x->path, offset, what);
	return -E2BIG;
}

int trace_index_lost(struct trace_index *x, const struct trace_loss *loss)
{
	int r = records_add_loss(&x->records, loss);

	x->lost_here += loss->events ? loss->events : 1;
	if (r == -E2BIG)
		return trace_index_too_much(x, 0, "more than 64 MiB of records");
	return r;
}

int trace_index_read(struct trace_index *x, const struct block_ref *ref, uint8_t *out)
{
	ssize_t n = trace_file_read(x->fd, ref->offset, x->in, ref->size);

	if (n < 0 || (size_t)n != ref->size)
		return -EBADMSG;
	return frame_read(x->frames, x->in, ref->size, out, ref->content);
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

static int cpu_compare(const void *a, const void *b)
{
	const struct cpu_blocks *ca = a, *cb = b;

	return ca->cpu < cb->cpu ? -1 : ca->cpu > cb->cpu;
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
	/* They were in the order of the file; events of equal times go by CPU. */
	if (x->cpu_count)
		qsort(x->cpus, x->cpu_count, sizeof(*x->cpus), cpu_compare);
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
