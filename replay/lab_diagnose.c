/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads a console as a developer would. */

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "replay/lab_diagnose.h"

#define MEMORY "it ran out of memory: more --memory, or less at once"
#define NO_INIT                                                                                    \
	"its kernel started and did not start /init: it needs CONFIG_BLK_DEV_INITRD=y and "        \
	"CONFIG_BINFMT_ELF=y, and no rdinit= on its command line"

/* Texts of a console, the first that is found decides. */
static const struct {
	const char *text, *means;
	bool early; /* only before mmtape runs */
} known[] = {
	{ "System is deadlocked on memory", MEMORY },
	{ "Out of memory and no killable processes", MEMORY },
	{ "Initramfs unpacking failed", "its memory does not hold the initramfs: more --memory",
	  true },
	{ "Requested init /init failed (error -8)", NO_INIT, true },
	{ "Unable to mount root fs", NO_INIT, true },
	{ "No working init found", NO_INIT, true },
	{ "Cannot open root device", NO_INIT, true },
};

static const char *find_known(const struct lab_evidence *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if ((!known[i].early || !e->hello) && strstr(e->console, known[i].text))
			return known[i].means;
	return NULL;
}

/* The line with that text in it, from the text on: its length, or 0. */
static size_t find_line(const char *console, const char *text, const char **at)
{
	*at = strstr(console, text);
	return *at ? strcspn(*at, "\r\n") : 0;
}

/* What the guest's mmtape itself printed on the console when it could not send it. */
static bool say_own_line(const struct lab_evidence *e, char *out, size_t size)
{
	static const char tag[] = "mmtape: no ";
	const char *at;
	size_t length = find_line(e->console, tag, &at);

	if (length)
		snprintf(out, size, "%.*s", (int)length - 8, at + 8);
	return length;
}

static bool say_panic(const struct lab_evidence *e, char *out, size_t size)
{
	static const char tag[] = "Kernel panic - not syncing: ";
	const char *at;
	size_t length = find_line(e->console, tag, &at);

	if (length)
		snprintf(out, size, "its kernel panicked: %.*s", (int)(length - strlen(tag)),
		         at + strlen(tag));
	return length;
}

static void say_end(const struct lab_evidence *e, char *out, size_t size)
{
	int number;

	if (!strncmp(e->end, "error ", 6))
		snprintf(out, size, "%s", e->end + 6);
	else if (sscanf(e->end, "signal %d", &number) == 1)
		snprintf(out, size, "the command in it was killed by signal %d%s", number,
		         strstr(e->console, "Out of memory") ? ": " MEMORY : "");
	else if (e->cut && !strncmp(e->end, "exit", 4))
		snprintf(out, size, "its result was garbled on the way over the serial port");
	else if (sscanf(e->end, "exit %d", &number) == 1)
		snprintf(out, size, "the command in it failed with status %d and left no result",
		         number);
	else
		snprintf(out, size, "its command ended as '%.40s'", e->end);
}

static void say_timeout(const struct lab_evidence *e, char *out, size_t size)
{
	unsigned long long s = e->seconds;

	if (e->hello)
		snprintf(out, size, "no end after %llu s: more --timeout, or it hangs", s);
	else if (e->console_spoke)
		snprintf(out, size, "mmtape did not start in it within %llu s", s);
	else
		snprintf(out, size,
		         "not a word from its kernel in %llu s: it needs a serial console "
		         "(CONFIG_SERIAL_8250_CONSOLE=y, CONFIG_PRINTK=y), or it hangs at once",
		         s);
}

static void say_exit(const struct lab_evidence *e, char *out, size_t size)
{
	const char *line = lab_last_lines(e->errors, 1);

	if (*line)
		snprintf(out, size, "QEMU: %.*s", (int)strcspn(line, "\r\n"), line);
	else if (e->exit_status >= 0 && WIFSIGNALED(e->exit_status))
		snprintf(out, size, "QEMU was killed by signal %d", WTERMSIG(e->exit_status));
	else if (e->cut)
		snprintf(out, size, "its result was cut on the way over the serial port");
	else if (!e->console_spoke)
		snprintf(out, size,
		         "it went off without a word: its kernel needs a serial console "
		         "(CONFIG_SERIAL_8250_CONSOLE=y, CONFIG_PRINTK=y), or more --memory");
	else
		snprintf(out, size, "it went off without a result");
}

void lab_diagnose(const struct lab_evidence *e, char *out, size_t size)
{
	const char *means = e->end ? NULL : find_known(e);

	if (e->end)
		say_end(e, out, size);
	else if (means)
		snprintf(out, size, "%s", means);
	else if (say_panic(e, out, size) || say_own_line(e, out, size))
		return;
	else if (e->timed_out)
		say_timeout(e, out, size);
	else
		say_exit(e, out, size);
}

/* Texts of lines that tell more than the end; the first one that is found decides. */
static const char *const causes[] = {
	"Kernel panic - not syncing",
	"Out of memory: Killed process",
	"invoked oom-killer",
};

const char *lab_cause_line(const char *text)
{
	const char *at = NULL;

	for (size_t i = 0; !at && i < ARRAY_SIZE(causes); i++)
		at = strstr(text, causes[i]);
	while (at && at > text && at[-1] != '\n')
		at--;
	return at;
}

const char *lab_last_lines(const char *text, unsigned lines)
{
	const char *at = text + strlen(text);

	while (at > text && strchr("\r\n ", at[-1]))
		at--;
	for (; at > text; at--)
		if (at[-1] == '\n' && !--lines)
			return at;
	return text;
}
