/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small text files of sysfs and procfs: one value each, read and written whole. */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

#define SYSFILE_MAX 4096 /* longest value, with its NUL */

/*
 * Puts prefix in front of every path below, so that tests can bring their own
 * /sys, /proc and /run. "" is the real root. The string is borrowed.
 */
void sysfile_set_root(const char *prefix) _nonnull_;

/* The path with the prefix; -ENAMETOOLONG. */
int sysfile_path(char *out, size_t size, const char *path) _must_check_ _nonnull_;

/* The file's text without the newline at its end. -errno; -EFBIG if it does not fit. */
int sysfile_read(const char *path, char *out, size_t size) _must_check_ _nonnull_;

/*
 * As sysfile_read(), but of "always [madvise] never" only the choice in force,
 * "madvise". A text without brackets is given whole.
 */
int sysfile_read_choice(const char *path, char *out, size_t size) _must_check_ _nonnull_;

/* A decimal number. -EINVAL if it is something else. */
int sysfile_read_u64(const char *path, uint64_t *out) _must_check_ _nonnull_;

/* 0 if sysfile_write() may write it, -EACCES, -EROFS, -ENOENT. */
int sysfile_may_write(const char *path) _must_check_ _nonnull_;

/* Never creates a file and never follows a link in the last component. */
int sysfile_write(const char *path, const char *value) _must_check_ _nonnull_;

/* NULL and errno, as libc's. The caller closes. */
FILE *sysfile_open(const char *path) _must_check_ _nonnull_;
DIR *sysfile_opendir(const char *path) _must_check_ _nonnull_;
