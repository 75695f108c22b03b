/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kallsyms: the names of the kernel's functions, one after another. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct kallsyms_symbol {
	uint64_t address; /* 0 where they are hidden */
	const char *name; /* until each() returns */
	char type; /* one of tTwW: code; capital letters are global */
	bool module;
};

/*
 * Calls each() for every function, those of the kernel first and by address. What it returns
 * ends it if not 0, and is returned. -EBADMSG: a line is not understood; -errno: no such file.
 */
int kallsyms_each_code(int (*each)(void *data, const struct kallsyms_symbol *s),
                       void *data) _must_check_ _nonnull_args_(1);

/* The same without those of modules. */
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
