/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that a command writes: 0600, never through a link, never over something else. */
#pragma once

#include <stdbool.h>

#include "common/error.h"

/*
 * Creates path for reading and writing and gives it to the user who called
 * sudo. With force an existing regular file is unlinked first. Returns a
 * descriptor or -errno; prints its line. SIGXFSZ is ignored from then on.
 */
int output_file_open(const char *path, bool force) _must_check_ _nonnull_;

/*
 * Before long work: 0 if path could be created now, else -errno and its line.
 * Changes nothing.
 */
int output_file_check(const char *path, bool force) _must_check_ _nonnull_;

/* The line for an error that opening or writing path gave. Returns the error. */
int output_file_say(const char *path, int error) _nonnull_;
