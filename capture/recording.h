/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a recording, shared by record.c and record_prepare.c only. */
#pragma once

#include <signal.h>

#include "capture/buffers.h"
#include "capture/child.h"
#include "capture/ingest.h"
#include "capture/journal.h"
#include "capture/record.h"
#include "capture/watch.h"

enum stop_reason { STOP_NOT, STOP_COMMAND, STOP_SIGNAL, STOP_LIMIT };

#define PRIORITY_NONE 100 /* nothing to put back */

struct recording {
	const struct record_options *options;
	struct record_summary *summary;
	struct journal *journal;
	struct instance *instance;
	struct points *points;
	struct child *child;
	uint32_t root; /* the child's id in the initial PID namespace */
	struct buffers *buffers;
	struct watch *watch;
	struct rebase *rebase;
	struct trace_writer *writer;
	struct ingest ingest;
	sigset_t mask; /* of the command, and ours afterwards */
	int signal_fd;
	int priority; /* ours before and after */
	uint64_t start; /* before all records */
	uint64_t begun; /* the command */
	uint64_t flushed;
	uint64_t flushed_events;
	enum stop_reason stop;
};

/* ns on the clock of the recording. */
uint64_t recording_now(void);

/* Prints the line for an error of the output file and returns the error. */
int recording_say_output(const struct recording *rec, int error) _nonnull_;

/* Signals come through rec->signal_fd from now on. */
int recording_take_signals(struct recording *rec) _must_check_ _nonnull_;

/*
 * Everything up to the moment when the command may begin: it is held, the
 * output begun, events are on. Prints its line on failure; what was set up is
 * then undone by recording_release().
 */
int recording_prepare(struct recording *rec) _must_check_ _nonnull_;

/* Removes what we have in the kernel: before we wait for anything. May be called again. */
void recording_release(struct recording *rec) _nonnull_;
