/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace: one encoder per CPU, one frame per closed block, each frame by
 * one write(). A frame that could not be written whole is taken back, so that
 * the file always ends behind a whole frame; its events are then a loss, which
 * trace_writer_finish() records if the disk lets it.
 */

#include <unistd.h>

#include "common/cleanup.h"
#include "traces/codec.h"
#include "traces/frames.h"
#include "traces/records_codec.h"
#include "traces/seek.h"
#include "traces/writer.h"

#define BATCH_BYTES (64u << 10) /* a batch is written when it gets larger */

/* Small records that share a block: a count, then the records. */
struct batch {
	struct buffer payload;
	uint32_t count;
};

struct trace_writer {
	int fd;
	unsigned page_shift;
	uint64_t bytes, events, lost, sequence;
	int failed; /* the first error of write(), or 0 */
	struct frame_writer *frames;
	struct evts_encoder **cpus; /* by CPU number, NULL where nothing came yet */
	uint32_t cpu_count;
	struct buffer payload; /* of the block being written */
	struct buffer seek_entries;
	struct batch losses, names; /* until the next flush */
};

static int fd_write(int fd, const uint8_t *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? error_errno() : -ENOSPC;
		data += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Appends bytes, or takes back what came of them. */
static int append(struct trace_writer *w, const uint8_t *data, size_t len)
{
	int r = fd_write(w->fd, data, len);

	if (!r) {
		w->bytes += len;
		return 0;
	}
	/* On a pipe neither works, and what was written cannot be taken back. */
	if (ftruncate(w->fd, (off_t)w->bytes) < 0 || lseek(w->fd, (off_t)w->bytes, SEEK_SET) < 0)
		r = r ? r : error_errno();
	if (!w->failed)
		w->failed = r;
	return r;
}

/* parts[0] is left free for the block header joined with the first part. */
static int block_write(struct trace_writer *w, uint32_t type, uint16_t flags,
                       struct evts_part *parts, int count)
{
	struct block_header h = { .type = type, .flags = flags, .sequence = w->sequence };
	uint8_t header[FORMAT_BLOCK_HEADER];
	const uint8_t *frame;
	size_t len, total = 0;
	int r;

	for (int i = 0; i < count; i++)
		total += parts[i].len;
	if (total > FORMAT_BLOCK_MAX - FORMAT_BLOCK_HEADER)
		return -E2BIG;
	h.length = (uint32_t)total;
	block_header_encode(header, &h);
	w->payload.len = 0;
	r = buffer_bytes(&w->payload, header, sizeof(header));
	r = r ? r : buffer_bytes(&w->payload, parts[0].data, parts[0].len);
	if (r < 0)
		return r;
	parts[0] = (struct evts_part){ w->payload.data, w->payload.len };
	r = frame_write(w->frames, parts, count, &frame, &len);
	r = r ? r : append(w, frame, len);
	r = r ? r
	      : seek_add(&w->seek_entries, (uint32_t)len, (uint32_t)total + FORMAT_BLOCK_HEADER);
	if (!r)
		w->sequence++;
	return r;
}

static int record_write(struct trace_writer *w, uint32_t type, uint16_t flags,
                        const struct buffer *payload)
{
	struct evts_part part = { payload->data, payload->len };

	return block_write(w, type, flags, &part, 1);
}

static int batch_begin(struct batch *b)
{
	if (b->count++)
		return 0;
	b->payload.len = 0;
	return buffer_u32(&b->payload, 0);
}

static int batch_write(struct trace_writer *w, struct batch *b, uint32_t type, uint16_t flags)
{
	int r;

	if (!b->count)
		return 0;
	store_le32(b->payload.data, b->count);
	r = record_write(w, type, flags, &b->payload);
	if (!r)
		b->count = 0;
	return r;
}

static int loss_add(struct trace_writer *w, const struct trace_loss *loss)
{
	int r = batch_begin(&w->losses);

	w->lost += loss->events ? loss->events : 1;
	return r ? r : loss_encode(loss, &w->losses.payload);
}

/* Writes the open block of one CPU. If that fails its events are a loss. */
static int cpu_flush(struct trace_writer *w, uint32_t cpu)
{
	struct evts_encoder *e = w->cpus[cpu];
	struct evts_part parts[EVTS_PARTS_MAX];
	struct trace_loss loss = { .cpu = cpu, .reason = LOSS_RECORDER };
	int r;

	if (!e || !evts_encoder_events(e))
		return 0;
	r = evts_encoder_parts(e, parts);
	if (r > 0)
		r = block_write(w, BLOCK_EVTS, FORMAT_BLOCK_REQUIRED, parts, r);
	if (r < 0) {
		loss.events = evts_encoder_events(e);
		loss.from = evts_encoder_first(e);
		loss.to = evts_encoder_last(e);
		w->events -= loss.events;
		(void)loss_add(w, &loss);
	}
	evts_encoder_reset(e, r == 0);
	return r;
}

static int head_write(struct trace_writer *w, const struct trace_meta *meta)
{
	struct buffer payload = { 0 };
	int r = head_encode(meta, &payload);

	r = r ? r : record_write(w, BLOCK_HEAD, FORMAT_BLOCK_REQUIRED, &payload);
	buffer_clear(&payload);
	return r;
}

int trace_writer_new(struct trace_writer **out, int fd, const struct trace_meta *meta,
                     const struct trace_writer_options *options)
{
	uint64_t page_size = trace_meta_get_u64(meta, META_PAGE_SIZE, 4096);
	struct trace_writer *w = calloc(1, sizeof(*w));
	int r;

	if (!w) {
		close(fd);
		return -ENOMEM;
	}
	w->fd = fd;
	r = page_size && !(page_size & (page_size - 1)) ? 0 : -EINVAL;
	w->page_shift = page_size ? (unsigned)__builtin_ctzll(page_size) : 0;
	if (!r && w->page_shift > FORMAT_PAGE_SHIFT_MAX)
		r = -EINVAL;
	r = r ? r : frame_writer_new(&w->frames, options ? options->level : 0);
	r = r ? r : head_write(w, meta);
	if (r < 0) {
		trace_writer_free(w);
		return r;
	}
	*out = w;
	return 0;
}

struct trace_writer *trace_writer_free(struct trace_writer *w)
{
	if (!w)
		return NULL;
	for (uint32_t i = 0; i < w->cpu_count; i++)
		evts_encoder_free(w->cpus[i]);
	free(w->cpus);
	frame_writer_free(w->frames);
	buffer_clear(&w->payload);
	buffer_clear(&w->seek_entries);
	buffer_clear(&w->losses.payload);
	buffer_clear(&w->names.payload);
	if (w->fd >= 0)
		close(w->fd);
	free(w);
	return NULL;
}

static int cpu_add(struct trace_writer *w, uint32_t cpu)
{
	struct evts_encoder **cpus;

	if (cpu > FORMAT_CPU_MAX)
		return -EINVAL;
	if (cpu >= w->cpu_count) {
		cpus = realloc(w->cpus, (cpu + 1) * sizeof(struct evts_encoder *));
		if (!cpus)
			return -ENOMEM;
		for (uint32_t i = w->cpu_count; i <= cpu; i++)
			cpus[i] = NULL;
		w->cpus = cpus;
		w->cpu_count = cpu + 1;
	}
	return evts_encoder_new(&w->cpus[cpu], cpu, w->page_shift);
}

int trace_writer_event(struct trace_writer *w, const struct event *e)
{
	int flushed = 0, r = 0;

	if (e->cpu >= w->cpu_count || !w->cpus[e->cpu])
		r = cpu_add(w, e->cpu);
	if (r < 0)
		return r;
	r = evts_encoder_add(w->cpus[e->cpu], e);
	if (r > 0) {
		/* The event is taken even when the block before it could not be written. */
		flushed = cpu_flush(w, e->cpu);
		r = evts_encoder_add(w->cpus[e->cpu], e);
	}
	if (!r)
		w->events++;
	return flushed ? flushed : r;
}

int trace_writer_loss(struct trace_writer *w, const struct trace_loss *loss)
{
	int r = loss_add(w, loss);

	if (!r && w->losses.payload.len > BATCH_BYTES)
		r = batch_write(w, &w->losses, BLOCK_LOSS, FORMAT_BLOCK_REQUIRED);
	return r;
}

int trace_writer_name(struct trace_writer *w, const struct trace_name *name)
{
	int r = batch_begin(&w->names);

	r = r ? r : name_encode(name, &w->names.payload);
	if (!r && w->names.payload.len > BATCH_BYTES)
		r = batch_write(w, &w->names, BLOCK_NAME, 0);
	return r;
}

int trace_writer_maps(struct trace_writer *w, const struct trace_maps *maps)
{
	struct buffer payload = { 0 };
	int r = maps_encode(maps, &payload);

	r = r ? r : record_write(w, BLOCK_MAPS, FORMAT_BLOCK_REQUIRED, &payload);
	buffer_clear(&payload);
	return r;
}

int trace_writer_stat(struct trace_writer *w, const struct trace_stat *stat)
{
	struct buffer payload = { 0 };
	int r = stat_encode(stat, &payload);

	r = r ? r : record_write(w, BLOCK_STAT, 0, &payload);
	buffer_clear(&payload);
	return r;
}

/* Goes on after an error: what can be written is. Returns the first one. */
int trace_writer_flush(struct trace_writer *w)
{
	int first = 0, r;

	for (uint32_t i = 0; i < w->cpu_count; i++) {
		r = cpu_flush(w, i);
		first = first ? first : r;
	}
	r = batch_write(w, &w->names, BLOCK_NAME, 0);
	first = first ? first : r;
	r = batch_write(w, &w->losses, BLOCK_LOSS, FORMAT_BLOCK_REQUIRED);
	return first ? first : r;
}

static int tail_write(struct trace_writer *w, const struct trace_tail *tail)
{
	struct trace_tail whole = *tail;
	struct buffer payload = { 0 };
	int r;

	whole.events = w->events;
	whole.lost = w->lost;
	r = tail_encode(&whole, &payload);
	r = r ? r : record_write(w, BLOCK_TAIL, FORMAT_BLOCK_REQUIRED, &payload);
	buffer_clear(&payload);
	return r;
}

int trace_writer_finish(struct trace_writer *w, const struct trace_tail *tail)
{
	struct buffer table = { 0 };
	int first = trace_writer_flush(w);
	int r;

	r = tail_write(w, tail);
	if (!r)
		r = seek_table(&w->seek_entries, &table);
	if (!r)
		r = append(w, table.data, table.len);
	buffer_clear(&table);
	first = first ? first : r;
	if (close(take_fd(&w->fd)) < 0 && !first)
		first = error_errno();
	return first ? first : w->failed;
}

uint64_t trace_writer_bytes(const struct trace_writer *w)
{
	return w->bytes;
}

uint64_t trace_writer_events(const struct trace_writer *w)
{
	return w->events;
}

uint64_t trace_writer_lost(const struct trace_writer *w)
{
	return w->lost;
}
