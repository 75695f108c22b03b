/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Metadata of a trace: text pairs, in the order they were set. Keys that the
 * project itself uses are below; a reader keeps and shows those it does not know.
 * No host name, path, command line or page content unless asked for.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define META_CLOCK "clock" /* "mono" */
#define META_TIME_BASE "time_base" /* ns: start of the recording on that clock */
#define META_KERNEL "kernel" /* uname release */
#define META_KERNEL_VERSION "kernel_version" /* uname version */
#define META_ARCH "arch" /* uname machine */
#define META_PAGE_SIZE "page_size" /* bytes */
#define META_ADDRESS_BITS "address_bits" /* 47 or 56 user address bits */
#define META_CPUS "cpus" /* online at start */
#define META_NODES "numa_nodes"
#define META_MEMORY "memory" /* bytes */
#define META_SWAP "swap" /* bytes */
#define META_THP "thp" /* always, madvise, never */
#define META_THP_DEFRAG "thp_defrag"
#define META_THP_SHRINK_UNDERUSED "thp_shrink_underused"
#define META_THP_SIZE_PREFIX "thp_" /* thp_64kB = always, inherit, madvise, never */
#define META_HUGE_PAGE_SIZE "huge_page_size" /* bytes, of a PMD */
#define META_ZERO_PAGE "zero_page" /* 1: a read fault maps the zero page, 0: a fresh page */
#define META_LRU_GEN "lru_gen"
#define META_MAX_MAP_COUNT "max_map_count"
#define META_OVERCOMMIT "overcommit_memory"
#define META_ROOT_TASK "root_task" /* the first recorded task, its id after fork */
#define META_REBASED "rebased" /* 1: addresses were moved by a secret multiple of 1 GiB */
#define META_TOOL "tool" /* "mmtape 0.1" */
#define META_OPTIONS "options" /* of the recorder, without the command */
#define META_TRACE_ID "trace_id" /* 32 hexadecimal digits, random */
#define META_COMMAND "command" /* only when asked for: its words, spaces between */

#define META_KEY_MAX 64 /* bytes */
#define META_VALUE_MAX 4096

struct trace_meta;

int trace_meta_new(struct trace_meta **out) _must_check_ _nonnull_;
struct trace_meta *trace_meta_free(struct trace_meta *meta);

/* Replaces or adds. -E2BIG beyond the lengths above. */
int trace_meta_set(struct trace_meta *meta, const char *key,
                   const char *value) _must_check_ _nonnull_;
int trace_meta_set_u64(struct trace_meta *meta, const char *key,
                       uint64_t value) _must_check_ _nonnull_;

/* NULL when absent. */
const char *trace_meta_get(const struct trace_meta *meta, const char *key) _nonnull_;
uint64_t trace_meta_get_u64(const struct trace_meta *meta, const char *key,
                            uint64_t absent) _nonnull_;

size_t trace_meta_count(const struct trace_meta *meta) _nonnull_;
void trace_meta_at(const struct trace_meta *meta, size_t i, const char **key,
                   const char **value) _nonnull_;
