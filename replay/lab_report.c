/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One line for what went wrong in a guest, then the end of its console. */

#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/escape.h"
#include "common/log.h"
#include "replay/lab_report.h"

#define LINES_SHOWN 15

/* The text from `from` on to the end of its line. */
static void line_of(const char *from, char *out, size_t size)
{
	size_t n = strcspn(from, "\r\n");

	snprintf(out, size, "%.*s", (int)(n < size ? n : size - 1), from);
}

static void show_console(const struct lab_outcome *o)
{
	const char *text = (const char *)o->console.data;
	size_t at = o->console.len, lines = 0;
	_cleanup_free_ char *tail = NULL;
	char *rest, *line;

	while (at && lines <= LINES_SHOWN)
		lines += text[--at] == '\n';
	tail = strndup(text + at + (at > 0), o->console.len - at - (at > 0));
	rest = tail;
	while (rest && (line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = 0;
		if (!*line)
			continue;
		fputs("  | ", stderr);
		escape_message(stderr, line);
		fputc('\n', stderr);
	}
}

static const char *find(const struct lab_outcome *o, const char *what)
{
	return memmem(o->console.data, o->console.len, what, strlen(what));
}

static void say_panic(const char *kernel, unsigned boot, const struct lab_outcome *o)
{
	const char *at = find(o, "Kernel panic");
	char line[200];

	line_of(at ? at : "Kernel panic", line, sizeof(line));
	if (find(o, "Unable to mount root fs") || find(o, "No working init found"))
		log_error("%s, boot %u: the kernel found no /init: it needs CONFIG_BLK_DEV_INITRD "
		          "(%s)",
		          kernel, boot, line);
	else if (find(o, "Out of memory") || find(o, "out of memory") || find(o, "oom-kill"))
		log_error("%s, boot %u: the guest ran out of memory: more --memory (%s)", kernel,
		          boot, line);
	else
		log_error("%s, boot %u: %s", kernel, boot, line);
}

static void say_end(const char *kernel, unsigned boot, const struct lab_machine *m,
                    const struct lab_outcome *o)
{
	double seconds = (double)m->timeout / 1e9;

	switch (o->end) {
	case LAB_END_PANIC:
		say_panic(kernel, boot, o);
		break;
	case LAB_END_QEMU:
		log_error("%s, boot %u: QEMU ended before the kernel spoke; it says why above",
		          kernel, boot);
		break;
	case LAB_END_SILENT:
		log_error("%s, boot %u: nothing came from the guest's console in %.0f s: the "
		          "kernel needs "
		          "CONFIG_SERIAL_8250_CONSOLE, or it hangs",
		          kernel, boot, seconds);
		break;
	case LAB_END_NO_INIT:
		log_error("%s, boot %u: the kernel did not start mmtape: it needs "
		          "CONFIG_BLK_DEV_INITRD, CONFIG_BINFMT_ELF and a second serial port",
		          kernel, boot);
		break;
	case LAB_END_TIMEOUT:
		log_error("%s, boot %u: no end within %.0f s (--timeout)", kernel, boot, seconds);
		break;
	case LAB_END_INTERRUPTED:
		log_error("%s, boot %u: interrupted", kernel, boot);
		break;
	default:
		log_error("%s, boot %u: the guest went off before it was done", kernel, boot);
		break;
	}
}

static bool oom_killed(const struct lab_outcome *o)
{
	return o->status > 128 && (find(o, "Out of memory") || find(o, "oom-kill"));
}

bool lab_report_boot(const char *kernel, unsigned boot, const struct lab_machine *m,
                     const struct lab_outcome *o)
{
	log_progress_end();
	if (o->end != LAB_END_DONE) {
		say_end(kernel, boot, m, o);
	} else if (o->error[0]) {
		log_error("%s, boot %u: %s", kernel, boot, o->error);
	} else if (o->status && o->status != STATUS_INCOMPLETE && !o->result.len) {
		log_error("%s, boot %u: %s (exit status %d)%s", kernel, boot,
		          oom_killed(o) ? "the guest ran out of memory: more --memory"
		                        : "mmtape failed in the guest",
		          o->status, o->tracing ? "" : "; its kernel has no tracing");
	} else if (!o->result.len) {
		log_error("%s, boot %u: no result came over the second serial port", kernel, boot);
	} else {
		return true;
	}
	if (o->end != LAB_END_INTERRUPTED)
		show_console(o);
	return false;
}
