/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a command writes: 0600, never through a link, never over something else. */
#pragma once

#include <stdbool.h>

#include "common/error.h"

/*
 * Creates path for reading and writing and gives it to the user who called
 * sudo. With force an existing regular file is unlinked first. Returns a
 * descriptor or -errno (-EEXIST); prints nothing.
 */
int output_file_open(const char *path, bool force) _must_check_ _nonnull_;
