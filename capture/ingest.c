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
#include <sys/random.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/ingest.h"
#include "capture/maps.h"
#include "common/bytes.h"

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
	while (getrandom(&in->key, sizeof(in->key), 0) != sizeof(in->key))
		;
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

static void rebase_maps(struct ingest *in, uint32_t task, struct trace_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++) {
		struct trace_map *m = &maps->maps[i];
		uint64_t start = rebase_address(in->rebase, task, m->start);

		m->end = start + (m->end - m->start);
		m->start = start;
	}
}

/* As they were when the exec was seen, else as they are now. 1: the process is gone. */
static int find_maps(struct ingest *in, const struct event *e, const struct point_record *rec,
                     struct trace_maps *maps)
{
	int r = in->watch ? watch_find(in->watch, e->task, e->time, maps) : 1;

	if (r <= 0)
		return r;
	r = maps_read(maps, e->task, &in->key);
	if (r == 0 && !(rec->text && maps_process_runs(e->task, rec->text, rec->text_size)))
		r = 1;
	in->counts.maps_late += r == 0;
	return r;
}

static int write_maps(struct ingest *in, const struct event *e, const struct point_record *rec)
{
	struct trace_maps maps = { .time = e->time, .process = e->task, .flags = MAPS_READ_LATE };
	int r = find_maps(in, e, rec, &maps);

	in->counts.execs++;
	if (r == 0) {
		in->counts.programs_32_bit += maps_is_32_bit(&maps);
		rebase_maps(in, e->task, &maps);
		r = trace_writer_maps(in->writer, &maps);
	} else if (r > 0) {
		in->counts.maps_missed++;
		r = 0;
	}
	maps_clear(&maps);
	return r;
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
	if (prlimit(target, (enum __rlimit_resource)arg[0], NULL, &limit) < 0) {
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
		r = write_maps(in, e, &rec);
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
