/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a lock is for, whatever a kernel calls it: a role is a set of functions
 * and lock classes per kernel generation, in one table (capture/roles_table.h).
 * Pure: knows names, reads nothing of the running kernel.
 *
 * The first function of a call stack, innermost first, that is not lock code
 * decides the role, with the kind of lock where one function takes two; see
 * docs/locks.md.
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
	ROLE_CHECKS, /* may not take it, or more than once: an entry is not an acquisition */
};

/* What a function does with the lock's object; parts of a role that are told apart. */
enum role_side {
	ROLE_SIDE_NONE,
	ROLE_SIDE_ALLOC,
	ROLE_SIDE_FREE,
	ROLE_SIDE_UNMAP,
	ROLE_SIDE_COUNT
};

/* Which of the locks that a function takes is meant. */
enum role_lock {
	ROLE_LOCK_ANY, /* it takes no other, or the kind is not known */
	ROLE_LOCK_SPIN,
	ROLE_LOCK_RW, /* rwlock_t */
	ROLE_LOCK_SEM, /* struct rw_semaphore */
	ROLE_LOCK_MUTEX,
};

struct role_function {
	const char *name; /* as in kallsyms, without .part.0, .isra.0, .constprop.0, .cold */
	const char *role; /* "lru" */
	enum role_side side;
	enum role_use use;
	enum role_lock lock;
	uint16_t from, until; /* ROLE_KERNEL, both inclusive; from 0: always; until 0: still there
	                       */
	const char *caller; /* the row holds only with this next on the stack; else NULL */
	const char *needs; /* the option without which a kernel lacks it: "CONFIG_SLOB"; else NULL
	                    */
	const char *inlined_in; /* where it may have no symbol of its own, who has its code,
	                           separated by spaces; else NULL */
	bool unverified; /* read from sources, never run */
};

/* What is not memory management: a pattern of fnmatch() on function names. */
struct role_other {
	const char *pattern;
	const char *role; /* "sched" */
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

/* Lock code that is not a lock's own: it locks what its caller is the owner of, as list_lru_add().
 */
bool role_is_helper(const char *function) _nonnull_;

/* What a lock function such as down_read or _raw_spin_lock takes; ROLE_LOCK_ANY: unknown. */
enum role_lock role_lock_of(const char *function) _nonnull_;

/*
 * The row of this function on this kernel, or NULL; the first one where it takes locks of
 * several kinds. Compiler suffixes are ignored.
 */
const struct role_function *role_of_function(const char *function, uint16_t kernel) _nonnull_;

/*
 * The row for a stack of names, innermost first: that of the first function which is
 * not lock code, for the kind of lock that the lock code before it takes. NULL: not memory
 * management, or unresolved.
 */
const struct role_function *role_of_stack(const char *const *functions, size_t count,
                                          uint16_t kernel) _nonnull_;

/*
 * The role for a stack, also of what is not memory management: "lru", "sched".
 * NULL: unresolved. row, if not NULL, gets role_of_stack().
 */
const char *role_name_of_stack(const char *const *functions, size_t count, uint16_t kernel,
                               const struct role_function **row) _nonnull_args_(1);

/* A role of the table of functions, not one of role_others(). */
bool role_is_memory(const char *role) _nonnull_;

/* By whom a stack was entered: "madvise", "munmap", "fault", "exit", "reclaim", …; "other". */
const char *role_path_of_stack(const char *const *functions, size_t count) _nonnull_;

/* NULL: no role has that class. */
const char *role_of_class(const char *class_name, uint16_t kernel) _nonnull_;

/* All rows, for tests, doctor and documentation. */
const struct role_function *role_functions(size_t *count) _nonnull_;
const struct role_class *role_classes(size_t *count) _nonnull_;
const struct role_other *role_others(size_t *count) _nonnull_;
/* "alloc", "free", "unmap"; "" for ROLE_SIDE_NONE. */
const char *role_side_name(enum role_side side);
