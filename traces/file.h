/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening and reading pieces of a trace that may change or end under us. Internal to traces/. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* A regular file, or the printed reason why not. */
int trace_file_open(const char *path, int *fd, uint64_t *size) _must_check_ _nonnull_;

/* Reads up to len bytes, fewer only at the end: how many, or -errno. */
ssize_t trace_file_read(int fd, uint64_t offset, uint8_t *out, size_t len) _must_check_ _nonnull_;
