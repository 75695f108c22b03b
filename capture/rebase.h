/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Moves recorded addresses, so that a trace does not reveal the layout of a
 * live process, and keeps the little per-task state that this needs.
 *
 * Each space has one secret number of GiB, 1 … 8192, which is subtracted from
 * every address from 32 TiB on; addresses below stay. Kernels put all that is
 * randomised by whole GiB above: position-independent programs from 85 TiB,
 * mappings, stacks and vdso below 128 TiB, the legacy layout from 42 TiB. What
 * lies below (fixed programs and their heap, MAP_32BIT, shadow memory of
 * sanitizers) is at well-known places. So order and distance are kept on
 * either side of 32 TiB, alignment up to 1 GiB everywhere, and nothing leaves
 * user space or meets something else.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/event.h"

#define REBASE_FROM 0x200000000000ULL /* 32 TiB */
#define REBASE_UNIT (1ULL << 30)
#define REBASE_UNITS_MAX 8192
#define REBASE_TO 0x0100000000000000ULL /* addresses from here on are not user's */

struct rebase;

/* off: the table is kept but nothing moves. */
int rebase_new(struct rebase **out, bool off) _must_check_ _nonnull_;
struct rebase *rebase_free(struct rebase *r);

/*
 * Takes a task event into account and moves the event's addresses, in time
 * order over all CPUs. Pointers whose target is not known become 0 or 1.
 * Without prepare_exec (before 6.10) a new space begins at the enter of execve.
 * Returns 0 or -ENOMEM.
 */
int rebase_event(struct rebase *r, struct event *e, bool have_prepare_exec) _must_check_ _nonnull_;

/* Moves an address of that task's space. */
uint64_t rebase_address(struct rebase *r, uint32_t task, uint64_t address) _nonnull_;

/* Tasks alive as far as was seen. */
size_t rebase_tasks_alive(const struct rebase *r) _nonnull_;
