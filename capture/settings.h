/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel settings that matter to memory management: read for metadata, changed
 * for a replay and put back afterwards whatever happens. Before the first
 * change the old values go to a journal (capture/journal.h), one locked file per owner;
 * settings_recover() puts back what a killed owner left.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "traces/meta.h"

/* Fills in every setting key of meta.h that this kernel has, and machine facts. */
int settings_describe(struct trace_meta *meta) _must_check_ _nonnull_;

/* 1: a read fault on anonymous memory maps the shared zero page here, 0: a fresh page. */
int settings_probe_zero_page(void) _must_check_;

/* Whether this process could place a heap anywhere; otherwise brk has to be emulated. */
bool settings_probe_heap(void);

/*
 * The kind of spinlock this kernel runs with: "queued", "test-and-set",
 * "paravirtual", "rtmutex" or "unknown". Results of different kinds are not
 * compared. Told from the architecture, the hypervisor's CPUID leaves, the
 * kernel's symbols or its configuration, and its command line.
 */
const char *settings_spinlock_kind(void);

struct settings_change;

int settings_change_new(struct settings_change **out) _must_check_ _nonnull_;
/*
 * Restores everything, then frees. Several objects of one process that change
 * the same setting must be freed in the reverse order.
 */
struct settings_change *settings_change_free(struct settings_change *c);

/*
 * Writes value to a sysfs or procfs file, journalled first. Prints its line and
 * returns -EPERM, -ENOENT (this kernel has no such setting), -EINVAL (value
 * refused by the kernel, or a file outside journal_path_allowed()), -EBUSY
 * (another owner that lives has set it differently).
 */
int settings_change_file(struct settings_change *c, const char *path,
                         const char *value) _must_check_ _nonnull_;

/* The same for what only one may use at a time: -EBUSY if another living owner has it. */
int settings_change_alone(struct settings_change *c, const char *path,
                          const char *value) _must_check_ _nonnull_;

int settings_change_thp(struct settings_change *c, const char *mode) _must_check_ _nonnull_;
/* "16k=always": one size's `enabled`. */
int settings_change_mthp(struct settings_change *c,
                         const char *size_and_mode) _must_check_ _nonnull_;
/* Whether it is one that the kernel takes; silent. */
bool settings_thp_is_mode(const char *mode) _nonnull_;
/* Whether they are well formed: -EINVAL and the line. */
int settings_check_thp(const char *mode) _must_check_ _nonnull_;
int settings_check_mthp(const char *size_and_mode) _must_check_ _nonnull_;
/* khugepaged and NUMA balancing quiet during a run. Missing ones are no error. */
int settings_change_quiet(struct settings_change *c) _must_check_ _nonnull_;

/*
 * Undoes what owners that no longer live have left: settings and tracefs
 * instances. Returns how many owners, 0 for none. Says what it undid. Every
 * command that changes settings or makes an instance calls it first.
 */
int settings_recover(void) _must_check_;
