/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fuzz target defines, and fuzz_main.c or a fuzzer calls. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Messages are not what fuzzing is about: away with them, once, unless LOUD is set. */
static inline void fuzz_quiet(void)
{
	static bool done;

	if (!done && !getenv("LOUD") && !freopen("/dev/null", "w", stderr))
		abort();
	done = true;
}

/* The input as a file: its path is written to `path`; the caller closes the descriptor. */
static inline int fuzz_file(const uint8_t *data, size_t size, char path[static 40])
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, 40, "/proc/self/fd/%d", fd);
	return fd;
}
