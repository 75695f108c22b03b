/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads a trace: indexes its frames, loads the small records, and merges the
 * CPUs' events by time with one open block per CPU. A hostile file can make
 * calls fail but not crash, hang or use more than 2 MiB per CPU and 64 MiB of
 * records.
 */
#pragma once

#include "traces/event.h"
#include "traces/records.h"

struct trace_reader;

/* What is wrong with a file, in reading order; counted beyond the first 16. */
struct trace_damage {
	uint64_t offset; /* in the file */
	uint64_t bytes; /* skipped */
	const char *what; /* a constant string: "checksum", "cut short", … */
};

struct trace_status {
	bool complete; /* has its TAIL, no damage and no loss */
	bool has_tail;
	uint64_t bytes; /* of the file */
	uint64_t blocks;
	uint64_t events; /* in readable blocks */
	uint64_t lost; /* recorded losses and what damage cost, unknown ones counting 1 */
	uint64_t damage_count;
	struct trace_damage damage[16];
};

enum trace_reader_flags {
	/* Go on behind damaged frames, counting them; without it damage is -EBADMSG. */
	TRACE_TOLERATE_DAMAGE = 1 << 0,
	/* Ignore the seek table and walk the file. */
	TRACE_SCAN = 1 << 1,
};

/*
 * Prints the one line that names the file and the offset, then returns:
 * -EBADMSG not a trace or damaged, -EPROTONOSUPPORT a newer version or an
 * unknown required block, -ENODATA no whole block, or what open() said.
 */
int trace_reader_new(struct trace_reader **out, const char *path,
                     unsigned flags) _must_check_ _nonnull_;
struct trace_reader *trace_reader_free(struct trace_reader *r);

/* All of these are owned by the reader and live as long as it. */
const char *trace_reader_path(const struct trace_reader *r) _nonnull_;
const struct trace_meta *trace_reader_meta(const struct trace_reader *r) _nonnull_;
const struct trace_status *trace_reader_status(const struct trace_reader *r) _nonnull_;
const struct trace_loss *trace_reader_losses(const struct trace_reader *r, size_t *count) _nonnull_;
const struct trace_name *trace_reader_names(const struct trace_reader *r, size_t *count) _nonnull_;
const struct trace_maps *trace_reader_maps(const struct trace_reader *r, size_t *count) _nonnull_;
const struct trace_stat *trace_reader_stats(const struct trace_reader *r, size_t *count) _nonnull_;
/* NULL when the file has none. */
const struct trace_tail *trace_reader_tail(const struct trace_reader *r) _nonnull_;

/*
 * The next event of all CPUs in time order (ties by CPU). *out is valid until
 * the next call. Returns 1, 0 at the end, or -EBADMSG after printing where.
 */
int trace_reader_next(struct trace_reader *r, const struct event **out) _must_check_ _nonnull_;

/* Starts again at the first event. */
int trace_reader_rewind(struct trace_reader *r) _must_check_ _nonnull_;
