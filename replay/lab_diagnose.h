/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why a guest gave no result, from what arrived. Pure. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct lab_evidence {
	const char *console; /* its end, without NULs */
	bool console_spoke; /* anything came at all */
	bool hello; /* mmtape runs in the guest */
	bool cut; /* a frame began and did not end, or came garbled */
	bool timed_out;
	const char *end; /* body of the end frame, or NULL */
	int exit_status; /* of QEMU as wait() gives it, or -1 */
	const char *errors; /* what QEMU wrote to its standard error */
	uint64_t seconds; /* that it was given */
};

/* One sentence: what happened and, where it is known, what to do. */
void lab_diagnose(const struct lab_evidence *e, char *out, size_t size) _nonnull_;

/* Where the last `lines` lines of the text begin; blank lines at its end do not count. */
const char *lab_last_lines(const char *text, unsigned lines) _nonnull_;

/*
 * Where the line begins that says why the kernel panicked, or else why it ended a process:
 * reports of the tasks that are ended next often push it far above the end. NULL: none.
 */
const char *lab_cause_line(const char *text) _nonnull_;
