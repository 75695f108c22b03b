/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command that is recorded: forked and held until recording is on, so that
 * not even its exec is missed. It stays in our process group: signals of the
 * terminal reach it as they would without us.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "common/error.h"

struct child;

/* The program's file, as execvp() would find it; the caller frees it. Prints its line: -ENOENT,
 * -EACCES. */
int child_find(const char *name, char **path) _must_check_ _nonnull_;

/*
 * Looks the program up, then forks. The command gets the signal mask given. The
 * child writes a marker to marker_fd (if not negative) before this returns.
 * Prints its line when the program cannot be found: -ENOENT or -EACCES.
 */
int child_new(struct child **out, char *const *command, const sigset_t *mask,
              int marker_fd) _must_check_ _nonnull_;

/* A child that still waits to begin ends; one that runs is left alone. */
struct child *child_free(struct child *c);

pid_t child_pid(const struct child *c) _nonnull_;

/*
 * Lets it exec. Returns once it has, or the exec's negative errno after
 * printing its line.
 */
int child_start(struct child *c) _must_check_ _nonnull_;

/*
 * Collects the child if it has ended. Returns 1 and its wait status, 0 while it
 * runs. With wait it waits, and returns 0 only if a signal came first.
 */
int child_collect(struct child *c, bool wait, int *status) _must_check_ _nonnull_;
