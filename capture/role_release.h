/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose lock a stack lets go. A profile by a timer that cannot fire with interrupts
 * off sees the time of a lock where interrupts come back on: in the unlock function. Its
 * caller need not be the function that took the lock (capture/roles.h), and in kernels that
 * unwind by frame pointers the caller itself is missing from the stack, so that the
 * caller's caller stands behind the unlock function. Pure.
 */
#pragma once

#include "capture/roles.h"

struct role_release {
	const char *function; /* the first one that is not lock code */
	const char *role;
	enum role_side side;
	bool caller; /* does not let it go itself: the only function it calls that does is missing
	              */
	bool unverified;
};

/* The row for a stack, innermost first, that begins in an unlock function; NULL: none. */
const struct role_release *role_of_release(const char *const *functions, size_t count) _nonnull_;

/*
 * The row for a stack that begins in any lock code, for one that no function of roles takes:
 * that function is missing, and what called it lets the lock go or calls what does.
 */
const struct role_release *role_of_lost_caller(const char *const *functions,
                                               size_t count) _nonnull_;
