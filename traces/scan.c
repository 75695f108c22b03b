/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the frames of a trace. With TRACE_TOLERATE_DAMAGE every frame is decoded
 * whole, so that its checksum is known to hold before anything in it is believed,
 * and behind damage the next frame is searched by its magic number.
 */

#include <string.h>

#include "common/cleanup.h"
#include "traces/codec.h"
#include "traces/file.h"
#include "traces/index.h"
#include "traces/seek.h"

#define FIRST_PIECE (64u << 10)
#define PEEK_PIECE (8u << 10) /* holds the first zstd block of nearly every frame */
/* Places that look like a frame and are none. A hostile file can be full of them. */
#define RESYNC_TRIES_MAX 4096

struct scan {
	uint64_t at;
	unsigned tries;
};

/* Looks at the frame at `at`, and leaves it whole at x->in (a skippable one need not fit). */
static int frame_find(struct trace_index *x, uint64_t at, struct frame_look *look, size_t *have,
                      const char **why)
{
	const size_t pieces[] = { FIRST_PIECE, frame_bound() };
	uint64_t left = x->status.bytes - at;
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		ssize_t n = trace_file_read(x->fd, at, x->in, pieces[i]);

		*why = "cannot be read";
		if (n < 0)
			return (int)n;
		*have = (size_t)n;
		r = frame_look(look, x->in, *have, why);
		if (r < 0 || look->size || *have < pieces[i])
			break;
	}
	if (r < 0)
		return r;
	*why = look->size || *have < pieces[1] ? DAMAGE_CUT : "broken zstd frame";
	return look->size && look->size <= left ? 0 : -EBADMSG;
}

/* Whether a frame with a block of ours, checksum included, lies at `at`; it is then at x->raw. */
static bool frame_whole(struct trace_index *x, uint64_t at, struct frame_look *look, size_t *have,
                        const char **why)
{
	struct block_header h;

	if (frame_find(x, at, look, have, why) < 0)
		return false;
	if (look->skippable)
		return true;
	*why = "checksum";
	if (frame_read(x->frames, x->in, look->size, x->raw, look->content) < 0)
		return false;
	*why = "header of a block";
	return block_header_decode(&h, x->raw) == 0;
}

/* The next place from `at` on that has a whole frame, or the end of the file. */
static uint64_t resync(struct trace_index *x, struct scan *s, uint64_t at)
{
	static const uint8_t magic[4] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct frame_look look;
	const char *why;
	size_t have;

	while (at < x->status.bytes && s->tries < RESYNC_TRIES_MAX) {
		ssize_t n = trace_file_read(x->fd, at, x->in, frame_bound());
		const uint8_t *hit;

		if (n < (ssize_t)sizeof(magic))
			break;
		hit = memmem(x->in, (size_t)n, magic, sizeof(magic));
		if (!hit) {
			at += (uint64_t)n - (sizeof(magic) - 1);
			continue;
		}
		at += (uint64_t)(hit - x->in);
		if (frame_whole(x, at, &look, &have, &why))
			return at;
		s->tries++;
		at++;
	}
	return x->status.bytes;
}

/* A table read into *table, which the caller frees; 1 if it is none. */
static int table_read(const struct trace_index *x, uint64_t offset, uint64_t size, uint8_t **table,
                      const uint8_t **entries, size_t *count)
{
	ssize_t n;

	if (size < SEEK_OVERHEAD ||
	    size > SEEK_OVERHEAD + (uint64_t)INDEX_BLOCKS_MAX * SEEK_ENTRY ||
	    size != x->status.bytes - offset)
		return 1;
	*table = malloc(size);
	if (!*table)
		return -ENOMEM;
	n = trace_file_read(x->fd, offset, *table, size);
	if (n < 0)
		return (int)n;
	return (uint64_t)n != size || seek_table_check(*table, size, offset, entries, count) < 0;
}

/* Whether the table lists the frames that are there. After damage that cannot be asked. */
static bool table_agrees(const struct trace_index *x, const uint8_t *entries, size_t count)
{
	return x->status.damage_count || (count * SEEK_ENTRY == x->scanned.len &&
	                                  !memcmp(entries, x->scanned.data, x->scanned.len));
}

/* The seek table must be whole, true and last; other skippable frames are not ours. */
static int skippable_take(struct trace_index *x, uint64_t at, const struct frame_look *look)
{
	_cleanup_free_ uint8_t *table = NULL;
	const uint8_t *entries;
	size_t count;
	int r;

	if (look->magic != FORMAT_SEEK_FRAME_MAGIC)
		return 0;
	r = table_read(x, at, look->size, &table, &entries, &count);
	if (!r && !table_agrees(x, entries, count))
		r = 1;
	return r == 1 ? trace_index_damage(x, at, look->size, "seek table") : r;
}

static int damage_pass(struct trace_index *x, struct scan *s, const char *why)
{
	uint64_t from = s->at;
	bool tolerate = x->flags & TRACE_TOLERATE_DAMAGE;

	s->at = tolerate ? resync(x, s, from + 1) : x->status.bytes;
	if (s->tries >= RESYNC_TRIES_MAX)
		why = "too damaged to go on";
	return trace_index_damage(x, from, s->at - from, why);
}

static int frame_take(struct trace_index *x, const struct block_ref *ref, size_t have)
{
	int r = seek_add(&x->scanned, ref->size, ref->content);

	return r ? r : trace_index_frame(x, ref, have, x->flags & TRACE_TOLERATE_DAMAGE);
}

int trace_scan(struct trace_index *x)
{
	bool verify = x->flags & TRACE_TOLERATE_DAMAGE;
	struct scan s = { 0 };
	int r = 0;

	while (s.at < x->status.bytes && r >= 0) {
		struct frame_look look;
		struct block_ref ref;
		const char *why;
		size_t have;
		bool good;

		if (verify)
			good = frame_whole(x, s.at, &look, &have, &why);
		else
			good = frame_find(x, s.at, &look, &have, &why) == 0;
		if (!good) {
			r = damage_pass(x, &s, why);
			continue;
		}
		ref = (struct block_ref){ .offset = s.at,
			                  .size = (uint32_t)look.size,
			                  .content = look.content };
		if (look.skippable)
			r = skippable_take(x, s.at, &look);
		else
			r = frame_take(x, &ref, have);
		s.at += look.size;
	}
	return r;
}

int trace_scan_table(struct trace_index *x)
{
	_cleanup_free_ uint8_t *table = NULL;
	uint8_t footer[SEEK_FOOTER];
	const uint8_t *entries;
	size_t count;
	uint64_t size, at = 0;
	int r;

	if (x->status.bytes < SEEK_OVERHEAD)
		return 1;
	if (trace_file_read(x->fd, x->status.bytes - SEEK_FOOTER, footer, SEEK_FOOTER) !=
	    SEEK_FOOTER)
		return -EIO;
	size = seek_table_size(footer);
	if (!size || size > x->status.bytes)
		return 1;
	r = table_read(x, x->status.bytes - size, size, &table, &entries, &count);
	for (size_t i = 0; i < count && !r; i++) {
		const uint8_t *entry = entries + i * SEEK_ENTRY;
		struct block_ref ref = { .offset = at, .size = load_le32(entry) };
		uint32_t content = load_le32(entry + 4);
		struct frame_look look = { 0 };
		const char *why = "seek table";
		ssize_t n = trace_file_read(x->fd, at, x->in,
		                            ref.size < PEEK_PIECE ? ref.size : PEEK_PIECE);

		if (n < 0)
			return (int)n;
		if (ref.size > frame_bound() || frame_look(&look, x->in, (size_t)n, &why) < 0 ||
		    look.content != content)
			r = trace_index_damage(x, at, ref.size, why);
		ref.content = look.content;
		if (!r)
			r = trace_index_frame(x, &ref, (size_t)n, false);
		at += ref.size;
	}
	return r;
}
