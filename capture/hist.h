/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of a histogram file of tracefs (Documentation/trace/histogram.rst), for the
 * two kinds of key that lock entries are counted by:
 *
 *   { caller: [ffffffff811e2498] __pte_offset_map_lock     , common_flags:   9 } hitcount:   33725
 *   { caller: [ffffffff8107f55d] swake_up_one  , stacktrace:   (common_stacktrace since 6.3)
 *            kprobe_ftrace_handler+0x147/0x187
 *            …
 *   } hitcount:          5
 *   Totals:
 *       Hits: 16896
 *       Entries: 3
 *       Dropped: 0
 *
 * A file holds one such block for every trigger of its event. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define HIST_FRAMES 16 /* HIST_STACKTRACE_DEPTH */

struct hist_entry {
	const char *caller;
	bool by_flags; /* the key has flags; otherwise it has a stack */
	unsigned flags; /* common_flags */
	const char *frames[HIST_FRAMES]; /* innermost first, without offsets */
	size_t count;
	uint64_t hits;
};

struct hist_totals {
	uint64_t hits, dropped;
};

/*
 * Cuts text up and gives each entry to add(); names are valid as long as text is. A
 * negative value of add() ends it. -EBADMSG: not a histogram, or an entry of another kind.
 */
int hist_parse(char *text, struct hist_totals *totals,
               int (*add)(void *data, const struct hist_entry *entry), void *data) _must_check_
	_nonnull_args_(1, 2, 3);
