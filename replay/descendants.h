/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All processes that came from one, by the parents that /proc says. Complete as
 * long as that one is their subreaper and lives: nobody leaves such a tree.
 */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "common/error.h"

struct descendant {
	pid_t pid, parent;
};

/* A line of /proc/PID/stat: its name may hold blanks, parentheses and digits. -EINVAL. */
int descendants_parse_stat(const char *line, struct descendant *out) _must_check_ _nonnull_;

/*
 * Moves those that come from root, which is not one of them, to the front; in
 * any order. Gives their number.
 */
size_t descendants_select(struct descendant *all, size_t count, pid_t root) _nonnull_;

/* Sends them all a signal. Gives how many were there, or -errno without /proc. */
int descendants_signal(pid_t root, int signal);
