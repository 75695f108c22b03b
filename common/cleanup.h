/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single-owner locals: freed on every way out unless handed over with take_*(). */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/error.h"

static inline void cleanup_free(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_fclose(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

/* Hands a pointer over: the local forgets it. */
#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) _p = (p);                                                            \
		(p) = NULL;                                                                        \
		_p;                                                                                \
	})

/* Hands a file descriptor over: the local forgets it. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define _cleanup_free_ _cleanup_(cleanup_free)
#define _cleanup_fclose_ _cleanup_(cleanup_fclose)
#define _cleanup_close_ _cleanup_(cleanup_close)

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
