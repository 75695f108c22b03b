/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest sends to the lab over its second serial port: frames, so that a cut or
 * garbled transfer is noticed.
 *
 *   "mmtL" | kind, 1 byte | length, le32 | CRC-32 of kind, length and body, le32 | body | "Lend"
 *
 * Pure: bytes in, frames out. A line may carry anything; what belongs to no whole
 * frame is skipped and counted.
 */
#pragma once

#include "common/buffer.h"

#define LAB_FRAME_MAX (40u << 20) /* bytes of a body: a result and some room */

enum lab_frame_kind {
	LAB_FRAME_HELLO = 'H', /* key=value lines: what the guest is */
	LAB_FRAME_MESSAGE = 'M', /* a line that the command printed */
	LAB_FRAME_RESULT = 'R', /* a result file */
	LAB_FRAME_END = 'E', /* "exit N" or "signal N" of the command, or "error TEXT" */
};

/* Appends one frame. -ENOMEM; -E2BIG for a body beyond the maximum. */
int lab_frame_encode(struct buffer *to, enum lab_frame_kind kind, const void *body,
                     size_t length) _must_check_ _nonnull_args_(1);

struct lab_frame {
	enum lab_frame_kind kind;
	const char *body; /* with a NUL behind it, which length does not count */
	size_t length;
};

/* Zeroed is new. */
struct lab_frames {
	struct buffer held;
	size_t used; /* bytes of held that are done with */
	uint64_t skipped; /* bytes that belonged to no frame */
};

void lab_frames_clear(struct lab_frames *f) _nonnull_;
int lab_frames_feed(struct lab_frames *f, const void *bytes, size_t length) _must_check_ _nonnull_;
/* The next whole frame, valid until the next call with f: 1; 0: more bytes are needed. */
int lab_frames_next(struct lab_frames *f, struct lab_frame *out) _must_check_ _nonnull_;
/* A frame has begun and its end has not come. */
bool lab_frames_cut(const struct lab_frames *f) _nonnull_;
