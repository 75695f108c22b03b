/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a lock is for, whatever a kernel calls it: a role is a set of functions
 * and lock classes per kernel generation, in one table (capture/roles_table.h).
 * Pure: knows names, reads nothing of the running kernel.
 *
 * The first function of a call stack, innermost first, that is not lock code
 * decides the role; see docs/metrics.md.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define ROLE_KERNEL(major, minor) ((major) << 8 | (minor))

/* How a function that belongs to a role meets the lock. */
enum role_use {
	ROLE_TAKES, /* every call takes the lock once */
	ROLE_CHECKS, /* looks first and may not take it: an entry is not an acquisition */
};

/* What a function does with the lock's object; parts of a role that are told apart. */
enum role_side {
	ROLE_SIDE_NONE,
	ROLE_SIDE_ALLOC,
	ROLE_SIDE_FREE,
	ROLE_SIDE_UNMAP,
	ROLE_SIDE_COUNT
};

struct role_function {
	const char *name; /* as in kallsyms, without .part.0, .isra.0, .constprop.0, .cold */
	const char *role; /* "lru" */
	enum role_side side;
	enum role_use use;
	uint16_t from, until; /* ROLE_KERNEL, both inclusive; until 0: still there */
	const char *inlined_in; /* where it may have no symbol of its own, who has its code; else
	                           NULL */
	bool unverified; /* read from sources, never run */
};

struct role_class {
	const char *name; /* of /proc/lock_stat: an fnmatch pattern on the class name without
	                     #subclass, /N */
	const char *role; /* "lru"; "zone" is the sum of zone-alloc and zone-free, which share a
	                     class */
	uint16_t from, until;
	bool unverified;
};

/* ROLE_KERNEL of a release such as "6.12.117-cloud-amd64"; 0: not understood. */
uint16_t role_kernel(const char *release) _nonnull_;

/* Functions that take or wait for locks on behalf of others: passed over when a role is sought. */
bool role_is_lock_code(const char *function) _nonnull_;

/* The row of this function on this kernel, or NULL. Compiler suffixes are ignored. */
const struct role_function *role_of_function(const char *function, uint16_t kernel) _nonnull_;

/*
 * The row for a stack of names, innermost first: that of the first function which is
 * not lock code. NULL: unresolved.
 */
const struct role_function *role_of_stack(const char *const *functions, size_t count,
                                          uint16_t kernel) _nonnull_;

/* By whom a stack was entered: "madvise", "munmap", "fault", "exit", "reclaim", …; "other". */
const char *role_path_of_stack(const char *const *functions, size_t count) _nonnull_;

/* NULL: no role has that class. */
const char *role_of_class(const char *class_name, uint16_t kernel) _nonnull_;

/* All rows, for tests, doctor and documentation. */
const struct role_function *role_functions(size_t *count) _nonnull_;
const struct role_class *role_classes(size_t *count) _nonnull_;
const char *role_side_name(enum role_side side);
