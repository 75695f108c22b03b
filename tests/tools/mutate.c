/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mutate HOW CALL N IN OUT: writes IN with its N-th CALL (from 0, of all tasks)
 * changed, so that a test can see `verify` find it. HOW is drop, lengthen,
 * reflag or swap (with the next call of the same kind by the same task).
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/reader.h"
#include "traces/writer.h"

struct mutation {
	const char *how;
	int call;
	uint64_t wanted, seen;
	uint32_t task; /* of the call being changed; 0: none yet */
	unsigned left; /* leaves still to be dropped */
	bool done, swapping;
	uint64_t held[EVENT_MAX_ARGS]; /* of the second call, when swapping */
};

/* For swap: the arguments of the call after the wanted one, found before writing. */
static int find_second(struct mutation *m, struct trace_reader *reader)
{
	const struct event *e;
	uint64_t seen = 0;
	uint32_t task = 0;
	int r;

	while ((r = trace_reader_next(reader, &e)) > 0) {
		if (e->kind != EVENT_ENTER(m->call))
			continue;
		if (task && e->task == task) {
			memcpy(m->held, e->arg, sizeof(m->held));
			return trace_reader_rewind(reader);
		}
		if (seen++ == m->wanted)
			task = e->task;
	}
	return r < 0 ? r : -ENODATA;
}

static void change(struct mutation *m, struct event *e)
{
	if (!strcmp(m->how, "lengthen")) {
		e->arg[m->call == CALL_BRK ? 0 : 1] += 4096;
	} else if (!strcmp(m->how, "reflag")) {
		if (m->call == CALL_MMAP)
			e->arg[3] ^= MAP_NORESERVE;
		else if (m->call == CALL_MADVISE)
			e->arg[2] = e->arg[2] == MADV_DONTNEED ? MADV_FREE : MADV_DONTNEED;
		else
			e->arg[2] ^= PROT_READ;
	} else {
		uint64_t first[EVENT_MAX_ARGS];

		memcpy(first, e->arg, sizeof(first));
		memcpy(e->arg, m->held, sizeof(first));
		memcpy(m->held, first, sizeof(first));
		m->swapping = !m->swapping;
	}
}

/* false: the event is left out. */
static bool mutate(struct mutation *m, struct event *e)
{
	if (m->left && e->kind == EVENT_LEAVE(m->call) && e->task == m->task)
		return --m->left, false;
	if (e->kind != EVENT_ENTER(m->call))
		return true;
	if (m->swapping && e->task == m->task) {
		change(m, e);
		return true;
	}
	if (m->done || m->seen++ != m->wanted)
		return true;
	m->done = true;
	m->task = e->task;
	if (!strcmp(m->how, "drop"))
		return m->left = 1, false;
	change(m, e);
	return true;
}

static int copy_records(struct trace_writer *w, const struct trace_reader *reader)
{
	size_t count;
	const struct trace_maps *maps = trace_reader_maps(reader, &count);
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		r = trace_writer_maps(w, &maps[i]);
	return r;
}

static int copy(struct mutation *m, struct trace_reader *reader, const char *to)
{
	struct trace_tail tail = { 0 };
	struct trace_writer *w = NULL;
	const struct event *e;
	int fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), r;

	if (fd < 0)
		return error_errno();
	if (trace_reader_tail(reader))
		tail = *trace_reader_tail(reader);
	r = trace_writer_new(&w, fd, trace_reader_meta(reader), NULL);
	if (r >= 0)
		r = copy_records(w, reader);
	while (r >= 0 && (r = trace_reader_next(reader, &e)) > 0) {
		struct event changed = *e;

		if (mutate(m, &changed))
			r = trace_writer_event(w, &changed);
	}
	if (r >= 0)
		r = trace_writer_finish(w, &tail);
	trace_writer_free(w);
	return r < 0 ? r : m->done ? 0 : -ENODATA;
}

int main(int argc, char **argv)
{
	struct mutation m = { 0 };
	struct trace_reader *reader = NULL;
	int r;

	if (argc != 6) {
		log_error("usage: mutate drop|lengthen|reflag|swap CALL N IN OUT");
		return STATUS_USAGE;
	}
	m.how = argv[1];
	m.call = call_by_name(argv[2]);
	m.wanted = strtoull(argv[3], NULL, 10);
	if (m.call < 0) {
		log_error("mutate: no call %s", argv[2]);
		return STATUS_USAGE;
	}
	r = trace_reader_new(&reader, argv[4], 0);
	if (r >= 0 && !strcmp(m.how, "swap"))
		r = find_second(&m, reader);
	if (r >= 0)
		r = copy(&m, reader, argv[5]);
	trace_reader_free(reader);
	if (r < 0)
		log_error("mutate: %s: %s", argv[4], strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}
