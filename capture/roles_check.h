/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether the running kernel has the functions that the table of roles names for it. */
#pragma once

#include <stddef.h>

#include "capture/roles.h"
#include "common/error.h"

/*
 * Calls report() for every row that should hold here although there is neither the
 * function nor one that has its code. Rows that need an option or are unverified are
 * reported with certain = false. Negative: /proc/kallsyms cannot be read.
 */
int roles_check_each(uint16_t kernel,
                     void (*report)(void *data, const struct role_function *row, bool certain),
                     void *data) _must_check_ _nonnull_args_(2);

/*
 * One line about the first certain one, with the kernel and how many more; how many. For
 * kernels of the table only: what is newer or older is silent.
 */
int roles_check_warn(const char *release) _nonnull_;
