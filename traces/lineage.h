/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who is who in a trace: tasks, processes, spaces and descriptor tables, from
 * newtask, exec and exit events in time order. A task id can be used again;
 * the numbers given here are unique within the trace and start at 0.
 *
 * CLONE_VM decides the space, CLONE_FILES the descriptor table, CLONE_THREAD
 * the process. Every exec starts a space. Faults between prepare_exec (or,
 * before 6.10, the enter of execve) and exec belong to the new space. An exec
 * by a thread takes over the leader's id and ends the other threads; the thread
 * keeps its number and becomes the leader.
 */
#pragma once

#include "traces/event.h"

#define LINEAGE_NONE UINT32_MAX

struct lineage_task {
	uint32_t id; /* thread id in the trace */
	uint32_t parent; /* task number of the creator, LINEAGE_NONE for a root */
	uint32_t process; /* task number of the leader */
	uint32_t space; /* space number now; stays after the task died */
	uint32_t files; /* descriptor table number now; stays after the task died */
	uint32_t next_space; /* of the exec that is under way, LINEAGE_NONE until something needs it
	                      */
	uint64_t clone_flags; /* 0 for a root */
	uint64_t born, died; /* ns; died UINT64_MAX while alive */
	bool assumed; /* events came from it before any newtask: a root or a gap */
	bool execing; /* an exec is under way: faults belong to the next space */
};

enum lineage_origin {
	SPACE_OF_ROOT, /* an assumed task's: what is in it was never seen to be made */
	SPACE_OF_FORK, /* a copy of `from` */
	SPACE_OF_EXEC, /* empty; `from` is the space that the task left */
};

struct lineage_space {
	enum lineage_origin origin;
	uint32_t from; /* space number, LINEAGE_NONE for a root's */
	uint32_t task; /* number of the first task in it */
	uint32_t users; /* living tasks in it; 0: gone, or made by an exec that is not over */
};

struct lineage_files {
	uint32_t from; /* the table it was copied from, LINEAGE_NONE for a root's */
	uint32_t users;
};

struct lineage_counts {
	size_t alive, alive_peak;
	uint64_t assumed; /* tasks without a newtask, the roots among them */
	uint64_t late; /* events of tasks that had died; they stay theirs */
	uint64_t reborn; /* ids used again by a newtask while the old task was not seen to exit */
	uint64_t execs, failed_execs;
};

struct lineage;

int lineage_new(struct lineage **out) _must_check_ _nonnull_;
struct lineage *lineage_free(struct lineage *l);

/*
 * The recording kernel's release ("6.12.3-…", META_KERNEL), which says whether
 * prepare_exec events are to be expected; NULL or unreadable: until the first
 * one is seen they are not.
 */
void lineage_set_kernel(struct lineage *l, const char *release) _nonnull_args_(1);

/*
 * Takes an event into account before the consumer handles it, and gives the
 * number of the task it belongs to: of newtask the parent, of exec the task
 * that goes on. An event of an unknown task makes an assumed root.
 * -ENOMEM, or -E2BIG beyond LINEAGE_MAX_TASKS.
 */
#define LINEAGE_MAX_TASKS (1u << 22)
int lineage_event(struct lineage *l, const struct event *e, uint32_t *task) _must_check_ _nonnull_;

/* Valid until the next event. */
const struct lineage_task *lineage_task(const struct lineage *l, uint32_t number) _nonnull_;
const struct lineage_space *lineage_space(const struct lineage *l, uint32_t number) _nonnull_;
const struct lineage_files *lineage_files(const struct lineage *l, uint32_t number) _nonnull_;

size_t lineage_tasks(const struct lineage *l) _nonnull_;
size_t lineage_spaces(const struct lineage *l) _nonnull_;
size_t lineage_file_tables(const struct lineage *l) _nonnull_;
const struct lineage_counts *lineage_counts(const struct lineage *l) _nonnull_;

/* The living task with that id, or LINEAGE_NONE. */
uint32_t lineage_find(const struct lineage *l, uint32_t id) _nonnull_;
/* The living task with that id, or else the last one that had it, e.g. to be waited for. */
uint32_t lineage_find_last(const struct lineage *l, uint32_t id) _nonnull_;

/*
 * The space that a fault of the task belongs to now. Faults have passed
 * lineage_event(), which sees to it that a task in an exec has its next space.
 */
uint32_t lineage_fault_space(const struct lineage *l, uint32_t number) _nonnull_;

/* close_range(CLOSE_RANGE_UNSHARE) succeeded: a shared table is copied. */
int lineage_unshare_files(struct lineage *l, uint32_t number) _must_check_ _nonnull_;
