/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seek table: zstd's seekable format, version 0.1.0 (contrib/seekable_format in
 * its source), without per-frame checksums. Pure. Internal to traces/.
 *
 *   table = 0x184D2A5E:u32 size:u32 (compressed:u32 decompressed:u32){n} n:u32 0:u8 0x8F92EAB1:u32
 */
#pragma once

#include "common/buffer.h"

#define SEEK_ENTRY 8
#define SEEK_FOOTER 9
#define SEEK_OVERHEAD (8 + SEEK_FOOTER)

/* entries: SEEK_ENTRY bytes each, as seek_add() wrote them. */
int seek_add(struct buffer *entries, uint32_t compressed,
             uint32_t decompressed) _must_check_ _nonnull_;
int seek_table(const struct buffer *entries, struct buffer *out) _must_check_ _nonnull_;

/* Bytes of the whole table from the last SEEK_FOOTER bytes of a file, or 0 if there is none. */
uint64_t seek_table_size(const uint8_t footer[SEEK_FOOTER]) _nonnull_;

/*
 * Checks a whole table against the bytes of frames before it. Returns 0, with
 * *entries pointing into `table`, or -EBADMSG.
 */
int seek_table_check(const uint8_t *table, size_t len, uint64_t frames_bytes,
                     const uint8_t **entries, size_t *count) _must_check_ _nonnull_;
