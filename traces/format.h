/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The trace file, as docs/format.md specifies it. Everything is little-endian
 * and written field by field.
 *
 *   file     = frame+ seek-table          (zstd frames; the table is a skippable frame)
 *   frame    = zstd frame with content size and checksum, holding one block
 *   block    = header payload
 *   header   = magic:u32 type:u8[4] flags:u16 zero:u16 length:u32 zero:u32 sequence:u64
 *   HEAD     = version:u16 zero:u16 count:u32 pair{count}          first block
 *   pair     = key-length:u16 value-length:u16 key value           UTF-8, no NUL
 *   EVTS     = head directory column+                              events of one CPU
 *   head     = cpu:u32 events:u32 index:u64 first:u64 last:u64
 *   directory = page-shift:u8 time-planes:u8 task-planes:u8 shapes:u8
 *              tasks:u32 near:u32 far:u32 shape{shapes} task:u32{tasks} length:u32{args}
 *   shape    = kind:u16 args:u8 flags:u8 code:u32
 *   column   = bytes, in this order: shape of each event, task planes, time
 *              planes, near, far, then per shape one column for each argument
 *   LOSS     = count:u32 loss{count}
 *   loss     = cpu:u32 reason:u32 events:u64 from:u64 to:u64
 *   NAME     = count:u32 name{count}
 *   name     = task:u32 length:u16 bytes time:u64                  task names
 *   MAPS     = process:u32 flags:u32 time:u64 count:u32 map{count}
 *   map      = start:u64 end:u64 offset:u64 file:u64 prot:u32 kind:u32
 *   STAT     = when:u32 count:u32 time:u64 pair{count}             counters as text
 *   TAIL     = status:u32 flags:u32 time:u64 events:u64 lost:u64   last block
 *
 * A block's header, and the head and directory of EVTS, are the first zstd
 * block of the frame, so a reader learns type, CPU and time of a frame without
 * decoding the rest; every column of EVTS begins a zstd block of its own.
 */
#pragma once

#include <stdint.h>

#define FORMAT_VERSION 1
#define FORMAT_BLOCK_MAGIC 0x42544d4dU /* "MMTB" */
#define FORMAT_BLOCK_HEADER 28
#define FORMAT_BLOCK_MAX (1u << 20) /* header and payload, decompressed */
#define FORMAT_WINDOW_LOG_MAX 20

#define FORMAT_CPU_MAX 65535
#define FORMAT_CPU_UNKNOWN UINT32_MAX /* in a loss: not known which */
#define FORMAT_EVTS_HEAD 32
#define FORMAT_EVTS_DIRECTORY 16 /* its fixed part */
#define FORMAT_SHAPE 8
#define FORMAT_SHAPES_MAX 255
#define FORMAT_TASKS_MAX 4096
#define FORMAT_PAGE_SHIFT_MAX 30

/*
 * A fault's page is coded against the last two distinct places of its task
 * in the block. One byte of the near column:
 *   0…127    zigzag difference to the last page
 *   128…247  128 + zigzag difference to the page before, which then comes first
 *   248…255  247 + n: n bytes of far, little-endian, are the zigzag difference
 *            to the last page
 */
#define FORMAT_NEAR_SECOND 128
#define FORMAT_NEAR_FAR 248

#define FORMAT_BLOCK_REQUIRED (1u << 0) /* a reader that does not know the type must refuse */

/* The seekable format of zstd (contrib/seekable_format in its source). */
#define FORMAT_SEEK_FRAME_MAGIC 0x184D2A5EU
#define FORMAT_SEEK_FOOTER_MAGIC 0x8F92EAB1U

enum format_loss_reason {
	LOSS_RING = 1, /* the kernel's ring buffer was full */
	LOSS_RECORDER = 2, /* the recorder could not keep up, write or decode */
	LOSS_IMPORT = 3,
	LOSS_DAMAGE = 4, /* found by a reader or by salvage: blocks missing from the file */
};

enum format_map_kind {
	MAP_KIND_ANON = 0,
	MAP_KIND_FILE = 1,
	MAP_KIND_HEAP = 2,
	MAP_KIND_STACK = 3,
	MAP_KIND_SPECIAL = 4, /* vdso, vvar, vsyscall */
};

#define FORMAT_MAP_SHARED (1u << 31) /* in map.prot beside PROT_* */

enum format_maps_flags {
	MAPS_READ_LATE = 1u << 0, /* read from /proc after the exec, the program already ran */
	MAPS_FROM_HEADERS = 1u << 1, /* the process was gone: from its program headers */
	MAPS_START = 1u << 2, /* a snapshot at the start of recording, not after an exec */
};

enum format_stat_when {
	STAT_START = 0,
	STAT_END = 1,
};

enum format_tail_flags {
	TAIL_STATUS_KNOWN = 1u << 0, /* status is the command's wait status */
	TAIL_INTERRUPTED = 1u << 1, /* stopped by a signal or a limit */
};
