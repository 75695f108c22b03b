/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of the kernel's counters: /proc/vmstat, per-size THP statistics. */
#pragma once

#include "traces/meta.h"

/*
 * Adds every field of /proc/vmstat under its own name, and each file of
 * /sys/kernel/mm/transparent_hugepage/hugepages-SIZE/stats as thp/SIZE/NAME.
 * A file that is missing on this kernel adds nothing.
 */
int counters_read(struct trace_meta *out) _must_check_ _nonnull_;

/* Lines "NAME VALUE" of a file of the kernel's, each as prefix (of at most 31 bytes) and NAME. */
int counters_read_pairs(const char *path, const char *prefix,
                        struct trace_meta *out) _must_check_ _nonnull_;
