/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of a process, as records of a trace. Files are known by a keyed
 * hash of device and inode; a path is looked at to tell kinds and then dropped.
 */
#pragma once

#include <stdbool.h>

#include "capture/siphash.h"
#include "traces/records.h"

#define MAPS_MAX 16384

/*
 * Reads /proc/PROCESS/maps; addresses as they are. Fills in count, maps and
 * flags. Returns 0, 1 when the process or its memory is gone, -ENOMEM.
 */
int maps_read(struct trace_maps *out, uint32_t process,
              const struct siphash_key *key) _must_check_ _nonnull_;
void maps_clear(struct trace_maps *maps) _nonnull_;

/* Parses one line of a maps file. Returns 0, 1 for a line to be left out, -EINVAL. */
int maps_parse_line(struct trace_map *out, const char *line,
                    const struct siphash_key *key) _must_check_ _nonnull_;

/* The process runs a 32-bit program: its stack lies below 4 GiB. */
bool maps_is_32_bit(const struct trace_maps *maps) _nonnull_;

/*
 * The process still runs the program it was started with by this name: compares
 * with what exec left on its stack (AT_EXECFN). False when that cannot be read.
 */
bool maps_process_runs(uint32_t process, const char *name, size_t size) _nonnull_;
