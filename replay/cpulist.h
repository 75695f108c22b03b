/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of cpus as the kernel writes them: "0-3,6". */
#pragma once

#include <stdint.h>

#include "common/error.h"

#define CPULIST_MAX 1024 /* cpu numbers below */

/* *out is the caller's to free. -EINVAL: empty, not a list, or a number too large; -ENOMEM. */
int cpulist_parse(const char *text, uint32_t **out, uint32_t *count) _must_check_ _nonnull_;

/* -ENODEV: *missing is not there, or this process may not run on it. */
int cpulist_check_allowed(const uint32_t *cpus, uint32_t count,
                          uint32_t *missing) _must_check_ _nonnull_;
