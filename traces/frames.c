/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The border to zstd. The layout of a frame is that of RFC 8878; headers and
 * block headers are read here, so that bounds hold before the library sees the
 * frame.
 */

#include <stdlib.h>
#include <zstd.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "traces/frames.h"

#define DEFAULT_LEVEL 3
#define BLOCK_BYTES_MAX (128u << 10) /* of zstd's own blocks */

struct frame_writer {
	ZSTD_CCtx *ctx;
	uint8_t *out;
	size_t room;
};

struct frame_reader {
	ZSTD_DCtx *ctx;
};

size_t frame_bound(void)
{
	/* Each part may end a zstd block early, which the library's bound does not count. */
	return ZSTD_compressBound(FORMAT_BLOCK_MAX) + EVTS_PARTS_MAX * 16;
}

struct frame_writer *frame_writer_free(struct frame_writer *w)
{
	if (!w)
		return NULL;
	ZSTD_freeCCtx(w->ctx);
	free(w->out);
	free(w);
	return NULL;
}

int frame_writer_new(struct frame_writer **out, int level)
{
	struct frame_writer *w = calloc(1, sizeof(*w));
	size_t z = 0;

	if (!w)
		return -ENOMEM;
	w->room = frame_bound();
	w->out = malloc(w->room);
	w->ctx = ZSTD_createCCtx();
	if (!w->out || !w->ctx) {
		frame_writer_free(w);
		return -ENOMEM;
	}
	if (!ZSTD_isError(z))
		z = ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_compressionLevel,
		                           level ? level : DEFAULT_LEVEL);
	if (!ZSTD_isError(z))
		z = ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_checksumFlag, 1);
	if (!ZSTD_isError(z))
		z = ZSTD_CCtx_setParameter(w->ctx, ZSTD_c_windowLog, FORMAT_WINDOW_LOG_MAX);
	if (ZSTD_isError(z)) {
		frame_writer_free(w);
		return -EINVAL;
	}
	*out = w;
	return 0;
}

/* Compresses one part to the end of its last zstd block. */
static int part_write(struct frame_writer *w, const struct evts_part *part, ZSTD_EndDirective end,
                      ZSTD_outBuffer *out)
{
	ZSTD_inBuffer in = { part->data, part->len, 0 };
	size_t left;

	do {
		left = ZSTD_compressStream2(w->ctx, out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		if (left && out->pos == out->size)
			return -EIO;
	} while (left || in.pos < in.size);
	return 0;
}

int frame_write(struct frame_writer *w, const struct evts_part *parts, int count,
                const uint8_t **frame, size_t *len)
{
	ZSTD_outBuffer out = { w->out, w->room, 0 };
	uint64_t total = 0;
	int r = 0;

	for (int i = 0; i < count; i++)
		total += parts[i].len;
	if (total > FORMAT_BLOCK_MAX)
		return -E2BIG;
	if (ZSTD_isError(ZSTD_CCtx_reset(w->ctx, ZSTD_reset_session_only)) ||
	    ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(w->ctx, total)))
		return -EIO;
	for (int i = 0; i < count && !r; i++)
		if (parts[i].len)
			r = part_write(w, &parts[i], ZSTD_e_flush, &out);
	if (!r)
		r = part_write(w, &(struct evts_part){ "", 0 }, ZSTD_e_end, &out);
	if (r < 0)
		return r;
	*frame = w->out;
	*len = out.pos;
	return 0;
}

static int skippable_look(struct frame_look *out, const uint8_t *data, size_t len)
{
	out->skippable = true;
	out->magic = load_le32(data);
	if (len >= 8)
		out->size = 8 + (uint64_t)load_le32(data + 4);
	return 0;
}

struct header {
	size_t len; /* of the frame header, magic included */
	uint64_t content, window;
	bool has_content, has_checksum, has_dictionary, has_unused;
};

/* 1 when the header does not end within `len`. */
static int header_read(struct header *out, const uint8_t *data, size_t len)
{
	static const uint8_t dictionary_bytes[] = { 0, 1, 2, 4 };
	struct bytes_reader in = { .at = data + 4, .end = data + len };
	uint8_t descriptor = bytes_u8(&in);
	bool single = descriptor >> 5 & 1;
	unsigned content_flag = descriptor >> 6;

	*out = (struct header){
		.has_checksum = descriptor >> 2 & 1,
		.has_dictionary = descriptor & 3,
		.has_unused = descriptor >> 3 & 3,
		.has_content = single || content_flag,
	};
	if (!single) {
		uint8_t w = bytes_u8(&in);

		out->window = 1ULL << (10 + (w >> 3));
		out->window += out->window / 8 * (w & 7);
	}
	(void)bytes_take(&in, dictionary_bytes[descriptor & 3]);
	if (content_flag == 1)
		out->content = bytes_u16(&in) + 256U;
	else if (content_flag == 2)
		out->content = bytes_u32(&in);
	else if (content_flag == 3)
		out->content = bytes_u64(&in);
	else if (single)
		out->content = bytes_u8(&in);
	if (single)
		out->window = out->content;
	if (in.bad)
		return 1;
	out->len = (size_t)(in.at - data);
	return 0;
}

/* Walks the zstd blocks to the end of the frame; leaves *size 0 if `len` ends before. */
static int blocks_walk(const uint8_t *data, size_t len, size_t at, uint64_t *size, const char **why)
{
	for (;;) {
		uint32_t header, bytes;
		unsigned type;

		if (len - at < 3)
			return 0;
		header = data[at] | (uint32_t)data[at + 1] << 8 | (uint32_t)data[at + 2] << 16;
		type = header >> 1 & 3;
		bytes = header >> 3;
		if (type == 3 || bytes > BLOCK_BYTES_MAX) {
			*why = "broken zstd frame";
			return -EBADMSG;
		}
		at += 3;
		bytes = type == 1 ? 1 : bytes;
		if (len - at < bytes)
			return 0;
		at += bytes;
		if (header & 1)
			break;
	}
	if (len - at >= 4)
		*size = at + 4;
	return 0;
}

int frame_look(struct frame_look *out, const uint8_t *data, size_t len, const char **why)
{
	struct header h;

	*out = (struct frame_look){ 0 };
	if (len < 4)
		return 0;
	if ((load_le32(data) & ~0xfU) == FRAME_SKIPPABLE_MAGIC)
		return skippable_look(out, data, len);
	*why = "not a zstd frame";
	if (load_le32(data) != FRAME_MAGIC)
		return -EBADMSG;
	if (header_read(&h, data, len))
		return 0;
	*why = "frame without checksum or content size";
	if (!h.has_content || !h.has_checksum || h.has_dictionary || h.has_unused)
		return -EBADMSG;
	*why = "block larger than 1 MiB when decompressed";
	if (h.content > FORMAT_BLOCK_MAX)
		return -EBADMSG;
	*why = "zstd window larger than 1 MiB";
	if (h.window > 1U << FORMAT_WINDOW_LOG_MAX)
		return -EBADMSG;
	*why = "block too short for its header";
	if (h.content < FORMAT_BLOCK_HEADER)
		return -EBADMSG;
	out->content = (uint32_t)h.content;
	return blocks_walk(data, len, h.len, &out->size, why);
}

int frame_reader_new(struct frame_reader **out)
{
	struct frame_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->ctx = ZSTD_createDCtx();
	if (!r->ctx || ZSTD_isError(ZSTD_DCtx_setParameter(r->ctx, ZSTD_d_windowLogMax,
	                                                   FORMAT_WINDOW_LOG_MAX))) {
		frame_reader_free(r);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

struct frame_reader *frame_reader_free(struct frame_reader *r)
{
	if (r)
		ZSTD_freeDCtx(r->ctx);
	free(r);
	return NULL;
}

int frame_peek(struct frame_reader *r, const uint8_t *data, size_t len, uint8_t *out, size_t want)
{
	ZSTD_inBuffer in = { data, len, 0 };
	ZSTD_outBuffer got = { out, want, 0 };
	size_t left;

	if (ZSTD_isError(ZSTD_DCtx_reset(r->ctx, ZSTD_reset_session_only)))
		return -EIO;
	while (got.pos < want) {
		size_t before = got.pos + in.pos;

		left = ZSTD_decompressStream(r->ctx, &got, &in);
		if (ZSTD_isError(left) || (got.pos < want && got.pos + in.pos == before))
			return -EBADMSG;
		if (!left)
			break;
	}
	return got.pos == want ? 0 : -EBADMSG;
}

int frame_read(struct frame_reader *r, const uint8_t *data, size_t len, uint8_t *out,
               size_t content)
{
	size_t got;

	if (ZSTD_isError(ZSTD_DCtx_reset(r->ctx, ZSTD_reset_session_only)))
		return -EIO;
	got = ZSTD_decompressDCtx(r->ctx, out, content, data, len);
	return ZSTD_isError(got) || got != content ? -EBADMSG : 0;
}
