/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a trace from lines on standard input, for traces that no kernel would
 * give. A line is a record as readtrace prints it; of those only
 *
 *   meta KEY VALUE
 *   name TASK NAME
 *   event TIME CPU TASK point|enter|leave NAME FLAGS ARGUMENTS…    arguments in hexadecimal
 *
 * are taken, meta first. Without -u the file gets an end.
 *
 *   writetrace [-u] FILE
 */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/output_file.h"
#include "traces/writer.h"

#define LINE_MAX_BYTES 8192

struct maker {
	struct trace_meta *meta;
	struct trace_writer *writer;
	const char *path;
	uint64_t last;
};

static int take_meta(struct maker *m, char *rest)
{
	char *value = strchr(rest, ' ');

	if (!value || m->writer)
		return -EINVAL;
	*value++ = 0;
	return trace_meta_set(m->meta, rest, value);
}

static int begin(struct maker *m)
{
	int fd;

	if (m->writer)
		return 0;
	fd = output_file_open(m->path, true);
	return fd < 0 ? fd : trace_writer_new(&m->writer, fd, m->meta, NULL);
}

static int take_name(struct maker *m, const char *rest)
{
	struct trace_name name = { 0 };
	int at = 0, r = begin(m);

	if (r < 0)
		return r;
	if (sscanf(rest, "%u %n", &name.task, &at) != 1 || strlen(rest + at) >= sizeof(name.name))
		return -EINVAL;
	strcpy(name.name, rest + at);
	return trace_writer_name(m->writer, &name);
}

static int kind_of(const char *side, const char *name)
{
	int call = call_by_name(name);

	if (call >= 0 && !strcmp(side, "enter"))
		return EVENT_ENTER(call);
	if (call >= 0 && !strcmp(side, "leave"))
		return EVENT_LEAVE(call);
	for (unsigned kind = 1; kind < EVENT_CALL_BASE; kind++)
		if (event_row(kind) && !strcmp(event_name(kind), name) && !strcmp(side, "point"))
			return (int)kind;
	return -EINVAL;
}

static int take_event(struct maker *m, const char *rest)
{
	struct event e = { 0 };
	unsigned flags, args = 0;
	char side[8], name[40];
	int at, kind, r = begin(m);

	if (r < 0)
		return r;
	if (sscanf(rest, "%" SCNu64 " %u %u %7s %39s %u%n", &e.time, &e.cpu, &e.task, side, name,
	           &flags, &at) != 6)
		return -EINVAL;
	kind = kind_of(side, name);
	if (kind < 0)
		return kind;
	for (rest += at;
	     args < EVENT_MAX_ARGS && sscanf(rest, "%" SCNx64 "%n", &e.arg[args], &at) == 1; args++)
		rest += at;
	e.kind = (uint16_t)kind;
	e.flags = (uint8_t)flags;
	m->last = e.time > m->last ? e.time : m->last;
	return trace_writer_event(m->writer, &e);
}

static int take_line(struct maker *m, char *line)
{
	char *rest = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	if (!rest)
		return -EINVAL;
	*rest++ = 0;
	if (!strcmp(line, "meta"))
		return take_meta(m, rest);
	if (!strcmp(line, "name"))
		return take_name(m, rest);
	return strcmp(line, "event") ? -EINVAL : take_event(m, rest);
}

static int make(struct maker *m, bool finish)
{
	struct trace_tail tail = { .flags = TAIL_STATUS_KNOWN };
	char line[LINE_MAX_BYTES];
	int r = trace_meta_new(&m->meta);

	for (unsigned number = 1; r >= 0 && fgets(line, sizeof(line), stdin); number++) {
		r = take_line(m, line);
		if (r < 0)
			log_error("line %u: %s", number, strerror(-r));
	}
	r = r < 0 ? r : begin(m);
	tail.time = m->last;
	if (r >= 0)
		r = finish ? trace_writer_finish(m->writer, &tail) : trace_writer_flush(m->writer);
	return r;
}

int main(int argc, char **argv)
{
	bool unfinished = argc == 3 && !strcmp(argv[1], "-u");
	struct maker m = { .path = argv[argc - 1] };
	int r;

	if (argc != 2 + unfinished)
		return STATUS_USAGE;
	r = make(&m, !unfinished);
	trace_writer_free(m.writer);
	trace_meta_free(m.meta);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}
