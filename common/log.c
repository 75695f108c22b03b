/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages on standard error. */

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "common/escape.h"
#include "common/log.h"

#define PROGRESS_INTERVAL_NS 200000000ULL

static bool log_quiet;
static bool progress_shown;

void log_set_quiet(bool quiet)
{
	log_quiet = quiet;
}

bool log_is_quiet(void)
{
	return log_quiet;
}

void log_progress_end(void)
{
	if (!progress_shown)
		return;
	progress_shown = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

/* Paths and names in it come from anywhere: they may not make lines or steer a terminal. */
static void log_line(const char *tag, const char *fmt, va_list ap)
{
	char *text = NULL;

	log_progress_end();
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	flockfile(stderr);
	fputs("mmtape: ", stderr);
	fputs(tag, stderr);
	escape_message(stderr, text ? text : fmt);
	fputc('\n', stderr);
	funlockfile(stderr);
	free(text);
}

void log_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line("", fmt, ap);
	va_end(ap);
}

void log_warn(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	log_line("warning: ", fmt, ap);
	va_end(ap);
}

void log_info(const char *fmt, ...)
{
	va_list ap;

	if (log_quiet)
		return;
	va_start(ap, fmt);
	log_line("", fmt, ap);
	va_end(ap);
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

void log_progress(const char *fmt, ...)
{
	static uint64_t last;
	uint64_t now = now_ns();
	va_list ap;

	if (log_quiet || !isatty(STDERR_FILENO) || now - last < PROGRESS_INTERVAL_NS)
		return;
	last = now;
	fputs("\r\033[K", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fflush(stderr);
	progress_shown = true;
}
