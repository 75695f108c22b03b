/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a replay may do to the machine: as little as it needs. */
#pragma once

#include <stdint.h>

#include "common/error.h"

/*
 * For the process that starts the replayed ones, before it starts them: drops
 * every capability but CAP_SYS_RESOURCE (placing heaps) and CAP_IPC_LOCK
 * (recorded mlocks), no new privileges, first to be killed when memory runs
 * out, no core files, a personality and limits that keep the kernel's own
 * choices of addresses out of the clusters, default signals, descriptors up to
 * `descriptors`. Prints its one line on failure.
 */
int sandbox_enter(uint64_t descriptors) _must_check_;

/*
 * Tasks that a replay may have alive at once: half of what the kernel, this
 * user and the process ids allow.
 */
uint64_t sandbox_max_tasks(void);
