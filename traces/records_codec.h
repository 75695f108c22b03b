/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Payloads of the blocks beside EVTS. Pure. Decoders check every length and
 * return -EBADMSG, or -ENOMEM; trailing bytes are an error. Internal to traces/.
 */
#pragma once

#include "common/buffer.h"
#include "traces/records.h"

int meta_encode(const struct trace_meta *meta, struct buffer *out) _must_check_ _nonnull_;
/* Appends `count` pairs. */
int meta_decode(struct trace_meta *meta, struct bytes_reader *in,
                uint32_t count) _must_check_ _nonnull_;

int head_encode(const struct trace_meta *meta, struct buffer *out) _must_check_ _nonnull_;
/* -EPROTONOSUPPORT, with *version set, for a version this code does not know. */
int head_decode(struct trace_meta *meta, const uint8_t *data, size_t len,
                unsigned *version) _must_check_ _nonnull_;

int loss_encode(const struct trace_loss *loss, struct buffer *out) _must_check_ _nonnull_;
int name_encode(const struct trace_name *name, struct buffer *out) _must_check_ _nonnull_;
int maps_encode(const struct trace_maps *maps, struct buffer *out) _must_check_ _nonnull_;
int stat_encode(const struct trace_stat *stat, struct buffer *out) _must_check_ _nonnull_;
int tail_encode(const struct trace_tail *tail, struct buffer *out) _must_check_ _nonnull_;

/* What a reader holds beside events; `memory` is a generous estimate of its size. */
struct records {
	struct trace_loss *losses;
	struct trace_name *names;
	struct trace_maps *maps;
	struct trace_stat *stats;
	struct trace_tail tail;
	size_t loss_count, name_count, maps_count, stat_count;
	bool has_tail;
	size_t memory;
};

#define RECORDS_MEMORY_MAX (64u << 20)

void records_clear(struct records *r) _nonnull_;

/*
 * Adds what the block holds. 1 if the type is none of LOSS, NAME, MAPS, STAT,
 * TAIL; -E2BIG beyond RECORDS_MEMORY_MAX.
 */
int records_decode(struct records *r, uint32_t type, const uint8_t *data,
                   size_t len) _must_check_ _nonnull_;
int records_add_loss(struct records *r, const struct trace_loss *loss) _must_check_ _nonnull_;
