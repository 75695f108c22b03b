/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the kernel's functions, one after another; modules are left out. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/*
 * Calls each() for every function in the order of their addresses, which are all 0 where
 * they are hidden. A negative value of each() ends it and is returned. -ENOENT: no table.
 */
int kallsyms_each(int (*each)(void *data, const char *name, uint64_t address),
                  void *data) _must_check_ _nonnull_args_(1);

/* Addresses from start to end - 1. */
struct kallsyms_range {
	uint64_t start, end;
};

/*
 * Where the functions that wanted() names lie, neighbours joined. -EPERM: addresses are
 * hidden, -E2BIG: more than room ranges.
 */
int kallsyms_ranges(bool (*wanted)(void *data, const char *name), void *data,
                    struct kallsyms_range *out, size_t room, size_t *count) _must_check_
	_nonnull_args_(1, 3, 5);
