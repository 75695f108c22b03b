/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages, on standard error only: results go to files or standard output.
 * Each message is one line, "mmtape: " in front; the caller gives no newline.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

/* Hides log_info() and progress; errors and warnings always show. */
void log_set_quiet(bool quiet);
bool log_is_quiet(void);

void log_error(const char *fmt, ...) _printf_(1, 2);
void log_warn(const char *fmt, ...) _printf_(1, 2);
void log_info(const char *fmt, ...) _printf_(1, 2);

/*
 * One line that overwrites itself, at most five times a second and only when
 * standard error is a terminal. log_progress_end() clears it; messages do so
 * on their own.
 */
void log_progress(const char *fmt, ...) _printf_(1, 2);
void log_progress_end(void);
