/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Records a command: a tracefs instance of our own, in-kernel filtering that
 * follows forks, per-CPU draining, and a trace file. The command `capture` and
 * `verify` are its users.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct record_options {
	const char *output; /* path; created exclusively */
	bool force; /* replace an existing file */
	char *const *command; /* NULL-terminated argv */
	uint64_t buffer_bytes; /* per CPU, 0: the default */
	bool raw_addresses; /* not rebased: verify needs the addresses as they are */
	bool no_names; /* leave task names out */
	bool with_command; /* the command line goes into the metadata */
	bool futex; /* record futex calls too */
	bool plain_reads; /* do not try io_uring */
	bool no_watch; /* for tests: mappings of short programs are then guessed */
	uint64_t max_duration, max_bytes; /* ns and bytes, 0: none */
	bool progress;
};

struct record_summary {
	uint64_t events, lost, bytes;
	uint64_t duration; /* ns */
	bool interrupted; /* a signal or a limit ended it, not the command */
	bool used_io_uring;
	int command_status; /* wait status */
	bool command_ended; /* command_status is known */
	int exec_error; /* -errno when the command could not be started */
};

/*
 * Prints its one line on failure. Negative: -EPERM, -ENOENT (no tracefs, no
 * such command …), -ENOSPC. Whatever ends it, the instance is gone and no
 * setting stays changed; what was recorded until then is readable. The summary
 * is filled in on failure too, as far as it goes.
 */
int record_run(const struct record_options *options,
               struct record_summary *out) _must_check_ _nonnull_;
