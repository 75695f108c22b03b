/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory cgroups (v2) for what is measured: a folder mmtape-PID, in it one group
 * for each part of the work, each with its limit. All of it is journalled before it
 * is made and removed afterwards, also after a kill by the next start of mmtape
 * (Documentation/admin-guide/cgroup-v2.rst).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"
#include "traces/meta.h"

struct cgroups;

/*
 * Makes `count` groups. The folder is made in the nearest group around this
 * process that hands the memory controller on; where none does, the controller is
 * switched on for the top one's children. memory_max: bytes for each group, 0: no limit.
 * Prints its one line: -ENOENT (no cgroup v2 is mounted), -EOPNOTSUPP (no memory controller in it),
 * -EACCES or -EPERM, -EBUSY.
 */
int cgroups_new(struct cgroups **out, uint32_t count, uint64_t memory_max) _must_check_ _nonnull_;
/* Kills what is still in the groups, and removes them. A child made by fork only frees. */
struct cgroups *cgroups_free(struct cgroups *g);

uint32_t cgroups_count(const struct cgroups *g) _nonnull_;

/* Descriptor by which a process enters a group, for cgroup_enter(); borrowed. */
int cgroups_fd(const struct cgroups *g, uint32_t group) _nonnull_;
/* Moves the calling process, with a single thread. Silent. */
int cgroup_enter(int fd) _must_check_;

/*
 * Of all groups together: memory.stat as memcg/NAME, memory.events as
 * memcg/events.NAME, memory.pressure (us) as pressure/memory.some and pressure/memory.full.
 */
int cgroups_counters(const struct cgroups *g, struct trace_meta *out) _must_check_ _nonnull_;
/* /proc/pressure/memory, of the whole machine, in the same way. Nothing without it. */
int cgroup_machine_pressure(struct trace_meta *out) _must_check_ _nonnull_;

/*
 * For recovery; silent. Kills all processes in a group and the groups in it,
 * waits for their end and removes them. 1: removed, 0: there was none; -EINVAL if it is no cgroup.
 */
int cgroup_remove(const char *path) _must_check_ _nonnull_;
/* Takes the memory controller back from a group's children: 1, or 0 if that was done. */
int cgroup_controller_off(const char *path) _must_check_ _nonnull_;
