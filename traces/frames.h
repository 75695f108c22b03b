/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frames of zstd: the only place that calls the library. A frame of ours has a
 * checksum, a content size of at most FORMAT_BLOCK_MAX, a window of at most
 * FORMAT_WINDOW_LOG_MAX and no dictionary; anything else is refused before a
 * byte of it is decoded. Internal to traces/.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "traces/codec.h"

#define FRAME_MAGIC 0xFD2FB528U
#define FRAME_SKIPPABLE_MAGIC 0x184D2A50U /* to …5F */
#define FRAME_HEADER_MAX 18

/* Room that the compressed form of the largest block needs. */
size_t frame_bound(void);

struct frame_writer;

/* level 0: the default. */
int frame_writer_new(struct frame_writer **out, int level) _must_check_ _nonnull_;
struct frame_writer *frame_writer_free(struct frame_writer *w);

/*
 * One frame of all parts, each part beginning a zstd block. The frame is owned by
 * the writer, valid until the next call.
 */
int frame_write(struct frame_writer *w, const struct evts_part *parts, int count,
                const uint8_t **frame, size_t *len) _must_check_ _nonnull_;

/* What a frame looks like from its first bytes. */
struct frame_look {
	uint64_t size; /* of the frame in the file; 0 if that cannot be told from `len` bytes */
	uint32_t content; /* bytes when decoded, 0 for a skippable frame */
	bool skippable;
	uint32_t magic; /* of a skippable frame */
};

/*
 * Looks at the frame at `data`. Returns 0, or -EBADMSG with *why a constant string.
 * A frame that does not end within `len` is no error: size is 0. That of a skippable
 * frame is told by its first 8 bytes.
 */
int frame_look(struct frame_look *out, const uint8_t *data, size_t len,
               const char **why) _must_check_ _nonnull_;

struct frame_reader;

int frame_reader_new(struct frame_reader **out) _must_check_ _nonnull_;
struct frame_reader *frame_reader_free(struct frame_reader *r);

/*
 * Decodes only as much as gives `want` bytes; `data` may end before the frame does.
 * Returns 0, or -EBADMSG if that many cannot be had.
 */
int frame_peek(struct frame_reader *r, const uint8_t *data, size_t len, uint8_t *out,
               size_t want) _must_check_ _nonnull_;

/* Decodes a whole frame of `content` bytes and checks its checksum: 0 or -EBADMSG. */
int frame_read(struct frame_reader *r, const uint8_t *data, size_t len, uint8_t *out,
               size_t content) _must_check_ _nonnull_;
