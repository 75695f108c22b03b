/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What becomes of each event on its way to the file. The root's events before
 * its exec are ours (the forked recorder), so they are dropped; the enter of
 * that exec is held back until the exec is past failing.
 */

#include <linux/mman.h>
#include <linux/prctl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/ingest.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif
/* linux/fcntl.h's, which does not go together with glibc's. */
#define DUPFD 0
#define SETFD 2
#define DUPFD_CLOEXEC 1030
/* A thread that the kernel makes for itself in a process (kernel/fork.c). */
#define KERNEL_WORKER (CLONE_UNTRACED | CLONE_THREAD)

void ingest_init(struct ingest *in, const struct points *points, struct trace_writer *writer,
                 struct rebase *rebase, uint32_t root)
{
	*in = (struct ingest){
		.points = points,
		.writer = writer,
		.rebase = rebase,
		.root = root,
		.page_mask = ~((uint64_t)sysconf(_SC_PAGESIZE) - 1),
		.names = true,
		.have_prepare_exec = points_have(points, EVENT_PREPARE_EXEC),
	};
	snapshots_init(&in->snapshots, writer, rebase, in->have_prepare_exec);
}

static int write_name(struct ingest *in, const struct event *e, uint32_t task,
                      const struct point_record *rec)
{
	struct trace_name name = { .time = e->time, .task = task };
	const char *text = rec->text;
	size_t size = rec->text_size;
	const char *slash = text ? memrchr(text, '/', size) : NULL;

	if (!in->names || !text)
		return 0;
	if (slash && e->kind == EVENT_EXEC) {
		size -= (size_t)(slash + 1 - text);
		text = slash + 1;
	}
	if (size > sizeof(name.name) - 1)
		size = sizeof(name.name) - 1;
	memcpy(name.name, text, size);
	return trace_writer_name(in->writer, &name);
}

/* Limits come as a pointer: the values are read from the process, after the call. */
static void read_limits(struct ingest *in, struct event *e)
{
	bool prlimit_call = e->kind == EVENT_ENTER(CALL_PRLIMIT64);
	uint64_t *arg = e->arg + (prlimit_call ? 1 : 0); /* resource, soft, hard */
	pid_t target = (pid_t)(prlimit_call && e->arg[0] ? e->arg[0] : e->task);
	bool sets = arg[1];
	struct rlimit limit;

	arg[1] = arg[2] = 0;
	if (!sets)
		return;
	if (in->no_proc || prlimit(target, (enum __rlimit_resource)arg[0], NULL, &limit) < 0) {
		in->counts.limits_unread++;
		return;
	}
	arg[1] = limit.rlim_cur;
	arg[2] = limit.rlim_max;
	e->flags |= EVENT_POINTER_READ | EVENT_POINTER_LATE;
}

/* Arguments that the kernel ignores or that are addresses in disguise are not kept. */
static void clean_arguments(struct ingest *in, struct event *e)
{
	switch (e->kind) {
	case EVENT_ENTER(CALL_MREMAP):
		if (!(e->arg[3] & (MREMAP_FIXED | MREMAP_DONTUNMAP)))
			e->arg[4] = 0;
		break;
	case EVENT_ENTER(CALL_PRCTL):
		if (e->arg[0] != PR_SET_THP_DISABLE && e->arg[0] != PR_SET_VMA &&
		    e->arg[0] != PR_SET_MEMORY_MERGE)
			memset(e->arg + 1, 0, 4 * sizeof(e->arg[0]));
		break;
	case EVENT_ENTER(CALL_FCNTL):
		if (e->arg[1] != DUPFD && e->arg[1] != DUPFD_CLOEXEC && e->arg[1] != SETFD)
			e->arg[2] = 0;
		break;
	case EVENT_ENTER(CALL_SETRLIMIT):
	case EVENT_ENTER(CALL_PRLIMIT64):
		read_limits(in, e);
		break;
	case EVENT_FAULT_USER:
	case EVENT_FAULT_KERNEL:
		e->arg[0] &= in->page_mask;
		break;
	}
}

/* Events that do not belong into a trace. */
static bool left_out(struct ingest *in, const struct event *e)
{
	if (event_is_fault(e->kind) && e->arg[0] >= REBASE_TO) {
		in->counts.kernel_faults++;
		return true;
	}
	if (e->kind == EVENT_NEWTASK && (e->arg[1] & KERNEL_WORKER) == KERNEL_WORKER) {
		in->counts.kernel_workers++;
		return true;
	}
	return false;
}

static int emit(struct ingest *in, struct event *e)
{
	int r;

	clean_arguments(in, e);
	r = snapshots_event(&in->snapshots, e);
	if (r < 0)
		return r;
	r = rebase_event(in->rebase, e, in->have_prepare_exec);
	return r < 0 ? r : trace_writer_event(in->writer, e);
}

static bool is_exec_enter(const struct event *e)
{
	return e->kind == EVENT_ENTER(CALL_EXECVE) || e->kind == EVENT_ENTER(CALL_EXECVEAT);
}

/* Before the root's exec. Gives true when e is the first event to be kept. */
static int begin(struct ingest *in, const struct event *e, bool *begun)
{
	*begun = false;
	if (e->task != in->root)
		return 0;
	if (is_exec_enter(e)) {
		in->held = *e;
		in->held_valid = true;
		/* Without prepare_exec the new space begins here. */
		*begun = !in->have_prepare_exec;
		in->begun = *begun;
		return 0;
	}
	if (e->kind != EVENT_PREPARE_EXEC && e->kind != EVENT_EXEC)
		return 0;
	*begun = in->begun = true;
	return in->held_valid ? emit(in, &in->held) : 0;
}

static int ingest_record(struct ingest *in, const struct merge_item *item)
{
	struct point_record rec;
	struct event *e = &rec.event;
	bool begun;
	int r;

	if (points_decode(in->points, item->data, item->size, &rec)) {
		in->counts.unknown_records++;
		return 0;
	}
	e->time = item->time;
	e->cpu = item->cpu;
	if (!in->begun) {
		r = begin(in, e, &begun);
		if (r < 0 || !begun)
			return r;
	}
	if (left_out(in, e))
		return 0;
	r = emit(in, e);
	if (r >= 0 && e->kind == EVENT_NEWTASK)
		r = write_name(in, e, (uint32_t)e->arg[0], &rec);
	if (r >= 0 && e->kind == EVENT_EXEC)
		r = write_name(in, e, e->task, &rec);
	if (r >= 0 && e->kind == EVENT_EXEC)
		r = snapshots_exec(&in->snapshots, &rec);
	return r;
}

int ingest_item(struct ingest *in, enum merge_kind kind, const struct merge_item *item)
{
	struct trace_loss loss = { .events = item->missed,
		                   .from = item->since,
		                   .to = item->time,
		                   .cpu = item->cpu,
		                   .reason = LOSS_RING };

	if (kind == MERGE_RECORD)
		return ingest_record(in, item);
	return trace_writer_loss(in->writer, &loss);
}

int ingest_end(struct ingest *in)
{
	return snapshots_end(&in->snapshots);
}

void ingest_clear(struct ingest *in)
{
	snapshots_clear(&in->snapshots);
}
