/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How every function of the project reports.
 *
 * Return value of an int function:
 *   < 0   fatal, a negative errno, passed up unchanged;
 *   0     done;
 *   > 0   a documented condition that the caller must handle.
 *
 * The layer that can name the file, offset, event or option prints one line
 * with log_error() and returns; the layers above it say nothing more.
 * Foreign conventions (-1 and errno, ZSTD_isError, -errno in a CQE) are turned
 * into ours where they arrive. Nothing below main() exits.
 */
#pragma once

#include <errno.h>

/* The status a command hands to main(), and main() to the caller. */
enum exit_status {
	STATUS_DONE = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
	STATUS_INCOMPLETE = 3, /* done, with loss, or with the verdict withheld */
	STATUS_OWN_FAILURE = 125, /* capture and measure: ours, not the command's */
};

#define _nonnull_ __attribute__((nonnull))
#define _nonnull_args_(...) __attribute__((nonnull(__VA_ARGS__)))
#define _must_check_ __attribute__((warn_unused_result))
#define _printf_(fmt, first) __attribute__((format(printf, fmt, first)))
#define _cleanup_(fn) __attribute__((cleanup(fn)))
#define _unused_ __attribute__((unused))

/* -errno of the last failed libc call, never 0. */
static inline int error_errno(void)
{
	return errno > 0 ? -errno : -EIO;
}
