/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How many mappings a space has, the replayer's own left out. Read from /proc,
 * line by line as it comes, outside the window and in the latency pass only.
 */

#include <asm/unistd.h>
#include <fcntl.h>

#include "replay/engine.h"

#define CHUNK 4096

/* Where the reading of a line is. */
struct line {
	uint64_t start; /* its first number, done at the '-' */
	unsigned column; /* words so far */
	char prot[4];
	unsigned prot_count;
	bool dash, special; /* special: [vdso], [vvar], [vsyscall] */
	char before;
};

/* Plan, state, program, and what pads the area that the kernel chooses from. */
static _engine_ bool is_own(const struct line *l)
{
	extern const char __executable_start[], _end[];

	if (l->start >= PLAN_BASE && l->start < RESERVED_END)
		return true;
	if (l->start >= (uint64_t)__executable_start && l->start < (uint64_t)_end)
		return true;
	return l->prot[0] == '-' && l->prot[1] == '-' && l->prot[2] == '-' && l->prot[3] == 's';
}

static _engine_ void take_char(struct line *l, char c)
{
	unsigned digit = c >= 'a' ? (unsigned)(c - 'a') + 10 : (unsigned)(c - '0');

	if (c == ' ' && l->before != ' ')
		l->column++;
	if (c == '-' && !l->column)
		l->dash = true;
	else if (!l->dash)
		l->start = l->start << 4 | (digit & 15);
	if (l->column == 1 && c != ' ' && l->prot_count < sizeof(l->prot))
		l->prot[l->prot_count++] = c;
	if (c == 'v' && l->before == '[')
		l->special = true;
	l->before = c;
}

static _engine_ uint64_t take_chunk(struct line *l, const char *text, uint64_t length)
{
	static const struct line fresh;
	uint64_t count = 0;

	for (uint64_t i = 0; i < length; i++) {
		if (text[i] != '\n') {
			take_char(l, text[i]);
			continue;
		}
		count += !l->special && !is_own(l);
		*l = fresh;
	}
	return count;
}

_engine_ void engine_count_mappings(void)
{
	static const char path[] = "/proc/self/maps";
	struct line line = { 0 };
	char text[CHUNK];
	uint64_t count = 0, got;
	uint64_t fd =
		raw_call4(__NR_openat, (uint64_t)AT_FDCWD, (uint64_t)path, O_RDONLY | O_CLOEXEC, 0);

	if (fd >= (uint64_t)-4095)
		return;
	while ((got = raw_call3(__NR_read, fd, (uint64_t)text, sizeof(text))) - 1 < sizeof(text))
		count += take_chunk(&line, text, got);
	raw_call1(__NR_close, fd);
	engine_state()->mappings = count;
}
