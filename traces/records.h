/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a trace holds beside events. Plain data; owners are said where they are handed out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/format.h"
#include "traces/meta.h"

struct trace_loss {
	uint64_t events; /* 0: unknown, at least one */
	uint64_t from, to; /* ns: the span the loss fell in */
	uint32_t cpu;
	uint32_t reason; /* enum format_loss_reason */
};

struct trace_name {
	uint64_t time;
	uint32_t task;
	char name[16]; /* NUL-terminated */
};

struct trace_map {
	uint64_t start, end, offset;
	uint64_t file; /* keyed hash of device and inode; 0 none or unknown */
	uint32_t prot; /* PROT_* and FORMAT_MAP_SHARED */
	uint32_t kind; /* enum format_map_kind */
};

/* The mappings of one process at one time. */
struct trace_maps {
	uint64_t time; /* of the exec they belong to, or of the snapshot */
	uint32_t process;
	uint32_t flags; /* enum format_maps_flags */
	size_t count;
	struct trace_map *maps;
};

struct trace_stat {
	uint64_t time;
	uint32_t when; /* enum format_stat_when */
	struct trace_meta
		*pairs; /* counter name (vmstat's, or thp/64kB/anon_fault_alloc) to value */
};

struct trace_tail {
	uint64_t time;
	uint64_t events; /* all that were written */
	uint64_t lost; /* sum of losses, an unknown one counting 1 */
	uint32_t status; /* wait status of the command */
	uint32_t flags; /* enum format_tail_flags */
};
