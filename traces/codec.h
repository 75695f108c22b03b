/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The EVTS block: events of one CPU as columns (layout in format.h). Pure: no
 * input or output, no compression. Internal to traces/.
 */
#pragma once

#include "common/buffer.h"
#include "traces/event.h"
#include "traces/format.h"

/* A block is closed before it gets larger than this; the hard limit is FORMAT_BLOCK_MAX. */
#define CODEC_BLOCK_EVENTS 65536
#define CODEC_BLOCK_BYTES (512u << 10)
#define CODEC_BLOCK_TASKS 2048

/* type is four letters as load_le32() sees them. */
#define BLOCK_TYPE(a, b, c, d)                                                                     \
	((uint32_t)(a) | (uint32_t)(b) << 8 | (uint32_t)(c) << 16 | (uint32_t)(d) << 24)
#define BLOCK_HEAD BLOCK_TYPE('H', 'E', 'A', 'D')
#define BLOCK_EVTS BLOCK_TYPE('E', 'V', 'T', 'S')
#define BLOCK_LOSS BLOCK_TYPE('L', 'O', 'S', 'S')
#define BLOCK_NAME BLOCK_TYPE('N', 'A', 'M', 'E')
#define BLOCK_MAPS BLOCK_TYPE('M', 'A', 'P', 'S')
#define BLOCK_STAT BLOCK_TYPE('S', 'T', 'A', 'T')
#define BLOCK_TAIL BLOCK_TYPE('T', 'A', 'I', 'L')

struct block_header {
	uint32_t type;
	uint16_t flags;
	uint32_t length; /* of the payload */
	uint64_t sequence;
};

void block_header_encode(uint8_t out[FORMAT_BLOCK_HEADER], const struct block_header *h) _nonnull_;
/* -EBADMSG if these bytes begin no block. */
int block_header_decode(struct block_header *out,
                        const uint8_t in[FORMAT_BLOCK_HEADER]) _must_check_ _nonnull_;

struct evts_head {
	uint64_t index; /* events of this CPU in the blocks before */
	uint64_t first, last; /* ns, of the first and last event */
	uint32_t cpu;
	uint32_t events;
};

/* -EBADMSG if a value is out of bounds. */
int evts_head_decode(struct evts_head *out,
                     const uint8_t in[FORMAT_EVTS_HEAD]) _must_check_ _nonnull_;

struct evts_encoder;

int evts_encoder_new(struct evts_encoder **out, uint32_t cpu,
                     unsigned page_shift) _must_check_ _nonnull_;
struct evts_encoder *evts_encoder_free(struct evts_encoder *e);

/*
 * Appends. Returns 0, or 1 when the block must be closed first and the event
 * given again; -ERANGE if it is older than the last one, -EINVAL if it cannot
 * be expressed (unknown kind, a fault code of more than 32 bits).
 */
int evts_encoder_add(struct evts_encoder *e, const struct event *event) _must_check_ _nonnull_;
uint32_t evts_encoder_events(const struct evts_encoder *e) _nonnull_;
uint64_t evts_encoder_first(const struct evts_encoder *e) _nonnull_;
uint64_t evts_encoder_last(const struct evts_encoder *e) _nonnull_;

/* The parts of a closed block, each of which is to begin a zstd block. */
struct evts_part {
	const void *data;
	size_t len;
};
#define EVTS_PARTS_MAX 16

/*
 * Closes the block: its parts, payload without the block header, borrowed until
 * the next call. Returns how many parts, or -ENOMEM. evts_encoder_reset() begins the
 * next block; the order of times is kept, and the running index moves on if the
 * block went into the file.
 */
int evts_encoder_parts(struct evts_encoder *e,
                       struct evts_part parts[EVTS_PARTS_MAX]) _must_check_ _nonnull_;
void evts_encoder_reset(struct evts_encoder *e, bool written) _nonnull_;

struct evts_decoder;

int evts_decoder_new(struct evts_decoder **out) _must_check_ _nonnull_;
struct evts_decoder *evts_decoder_free(struct evts_decoder *d);
/* Forgets its block: at the end of none, as after evts_decoder_new(). */
void evts_decoder_close(struct evts_decoder *d) _nonnull_;

/*
 * Begins a block; payload is borrowed until the next one. Every length is
 * checked here. -EBADMSG if it is no block, -EPROTONOSUPPORT if it holds a kind
 * of event that this version does not know.
 */
int evts_decoder_open(struct evts_decoder *d, const uint8_t *payload,
                      size_t len) _must_check_ _nonnull_;

/*
 * Decodes the next events, at most max. Returns how many, 0 at the end of the
 * block, or -EBADMSG: what was returned before is good.
 */
int evts_decoder_next(struct evts_decoder *d, struct event *out,
                      unsigned max) _must_check_ _nonnull_;
