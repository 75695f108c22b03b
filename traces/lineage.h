/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is who in a trace: tasks, processes, spaces and descriptor tables, from
 * newtask, exec and exit events in time order. A task id can be used again;
 * the numbers given here are unique within the trace and start at 0.
 *
 * CLONE_VM decides the space, CLONE_FILES the descriptor table, CLONE_THREAD
 * the process. Every exec starts a space. Faults between prepare_exec (or,
 * before 6.10, the enter of execve) and exec belong to the new space.
 */
#pragma once

#include "traces/event.h"

#define LINEAGE_NONE UINT32_MAX

struct lineage_task {
	uint32_t id; /* thread id in the trace */
	uint32_t parent; /* task number of the creator, LINEAGE_NONE for a root */
	uint32_t process; /* task number of the leader */
	uint32_t space; /* space number now */
	uint32_t files; /* descriptor table number now */
	uint64_t clone_flags; /* 0 for a root */
	uint64_t born, died; /* ns; died UINT64_MAX while alive */
	bool assumed; /* events came from it before any newtask: a root or a gap */
	bool execing; /* between prepare_exec and exec: faults belong to the next space */
};

struct lineage;

int lineage_new(struct lineage **out) _must_check_ _nonnull_;
struct lineage *lineage_free(struct lineage *l);

/*
 * Takes an event into account before the consumer handles it, and gives the
 * number of the task it belongs to. An event of an unknown task makes an
 * assumed root. -ENOMEM, or -E2BIG beyond LINEAGE_MAX_TASKS.
 */
#define LINEAGE_MAX_TASKS (1u << 22)
int lineage_event(struct lineage *l, const struct event *e, uint32_t *task) _must_check_ _nonnull_;

const struct lineage_task *lineage_task(const struct lineage *l, uint32_t number) _nonnull_;
size_t lineage_tasks(const struct lineage *l) _nonnull_;
size_t lineage_spaces(const struct lineage *l) _nonnull_;
size_t lineage_file_tables(const struct lineage *l) _nonnull_;
/* The living task with that id, or LINEAGE_NONE. */
uint32_t lineage_find(const struct lineage *l, uint32_t id) _nonnull_;
