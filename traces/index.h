/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the blocks of a trace are, and everything in it beside events. Finds
 * damage; scan.c finds frames, blocks.c understands them. Internal to traces/.
 */
#pragma once

#include "traces/frames.h"
#include "traces/reader.h"
#include "traces/records_codec.h"

/* Bounds on what a hostile file can make a reader hold. */
#define INDEX_BLOCKS_MAX (4u << 20)
#define INDEX_CPUS_MAX 4096

#define DAMAGE_CUT "cut short"

/* One EVTS block. */
struct block_ref {
	uint64_t offset;
	uint32_t size; /* in the file */
	uint32_t content; /* decompressed */
};

struct cpu_blocks {
	uint32_t cpu;
	struct block_ref *refs; /* in file order, which is time order */
	size_t count;
	uint64_t next_index; /* events before the next block, blocks that are missing included */
	uint64_t first_time, last_time; /* ns, of all its blocks */
	uint64_t damage_seen; /* status.damage_count at the last block */
};

struct trace_index {
	char *path;
	int fd;
	unsigned flags; /* enum trace_reader_flags */
	struct trace_status status;
	struct trace_meta *meta;
	struct records records;
	struct cpu_blocks *cpus; /* once opened: sorted by CPU number */
	size_t cpu_count;
	uint32_t *cpu_slot; /* until opened: place in cpus + 1, by CPU number */
	uint32_t cpu_slots;
	struct frame_reader *frames;
	struct evts_decoder *decoder; /* to check contents, with TRACE_TOLERATE_DAMAGE */
	uint8_t *in; /* a frame or its beginning, room for frame_bound() bytes */
	uint8_t *raw; /* a decompressed block or its beginning */
	struct buffer scanned; /* the frames so far, as the seek table should list them */
	uint64_t sequence; /* of the next block */
	uint64_t found; /* events in readable blocks and in gaps between them */
	uint64_t lost_here; /* losses that the file does not record but reading it shows */
	uint64_t damage_seen; /* status.damage_count at the last readable block */
	bool has_head;
};

/* Opens and indexes; prints its line. The index is cleared by trace_index_close() in every case. */
int trace_index_open(struct trace_index *x, const char *path,
                     unsigned flags) _must_check_ _nonnull_;
void trace_index_close(struct trace_index *x) _nonnull_;

/*
 * Counts damage, or without TRACE_TOLERATE_DAMAGE prints it and returns -EBADMSG.
 * what: a constant string.
 */
int trace_index_damage(struct trace_index *x, uint64_t offset, uint64_t bytes,
                       const char *what) _must_check_ _nonnull_;
int trace_index_lost(struct trace_index *x, const struct trace_loss *loss) _must_check_ _nonnull_;

/* Reads and decodes one block to out, of ref->content bytes: 0 or -EBADMSG, silent. */
int trace_index_read(struct trace_index *x, const struct block_ref *ref,
                     uint8_t *out) _must_check_ _nonnull_;

/* Prints that a bound was exceeded, and returns -E2BIG. */
int trace_index_too_much(const struct trace_index *x, uint64_t offset, const char *what) _nonnull_;

/* Prints the line for what evts_decoder_open() or _next() returned, unless it is -EBADMSG. */
int trace_index_events_error(const struct trace_index *x, uint64_t offset, int error) _nonnull_;

/*
 * Takes in the frame whose first `available` bytes are at x->in. With `verified`
 * it is decoded at x->raw already. Negative is fatal and printed.
 */
int trace_index_frame(struct trace_index *x, const struct block_ref *ref, size_t available,
                      bool verified) _must_check_ _nonnull_;

/* Finds the frames: by the seek table (1 if there is none to trust), or frame after frame. */
int trace_scan_table(struct trace_index *x) _must_check_ _nonnull_;
int trace_scan(struct trace_index *x) _must_check_ _nonnull_;
