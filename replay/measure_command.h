/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One run of a command between two lines: held before its exec until
 * the caller has read counters and started what observes; ended when the last process
 * that came from it is gone, also those that left its session.
 *
 *   the caller     keeps signals blocked; watches, ends the others
 *   the conductor  a fork of it, subreaper of the command; takes the time
 *   the command    in our process group, as without us
 */
#pragma once

#include <signal.h>

#include "replay/passes.h"

struct measure_command {
	char *const *argv;
	const sigset_t *mask; /* that the command starts with */
	bool no_input; /* standard input is /dev/null */
	const struct cgroups *groups; /* it runs in the first one; NULL: in ours */
};

/*
 * Times and faults of all processes that were waited for: by their parents or,
 * where those were gone, by us. Missing are those whose parent lets the kernel
 * reap its children (SIGCHLD ignored).
 */
struct measure_figures {
	uint64_t elapsed, user, system; /* ns; elapsed from before the exec to the last exit */
	uint64_t faults_minor, faults_major;
	int status; /* of the command itself, as a shell gives it: 128 and the signal */
	int exec_error; /* of a command that could not be run, else 0 */
};

/*
 * 0, or -errno after printing its one line: -EINTR when a signal asked to stop, -ENOENT and
 * others with exec_error set. No process is left behind, unless the conductor is killed.
 */
int measure_command_run(const struct measure_command *command, pass_line *line, void *line_arg,
                        struct measure_figures *out) _must_check_ _nonnull_args_(1, 4);
