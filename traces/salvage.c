/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `mmtape salvage`: a new, valid trace of all blocks of a damaged one that are
 * whole. What is missing becomes loss records.
 */

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"
#include "common/output_file.h"
#include "traces/reader.h"
#include "traces/writer.h"

static int copy_records(struct trace_writer *w, const struct trace_reader *r)
{
	size_t loss_count, name_count, maps_count, stat_count;
	const struct trace_loss *losses = trace_reader_losses(r, &loss_count);
	const struct trace_name *names = trace_reader_names(r, &name_count);
	const struct trace_maps *maps = trace_reader_maps(r, &maps_count);
	const struct trace_stat *stats = trace_reader_stats(r, &stat_count);
	int error = 0;

	for (size_t i = 0; i < name_count && !error; i++)
		error = trace_writer_name(w, &names[i]);
	for (size_t i = 0; i < maps_count && !error; i++)
		error = trace_writer_maps(w, &maps[i]);
	for (size_t i = 0; i < stat_count && !error; i++)
		error = trace_writer_stat(w, &stats[i]);
	for (size_t i = 0; i < loss_count && !error; i++)
		error = trace_writer_loss(w, &losses[i]);
	return error;
}

/* What the recording did not get to say about its own end. */
static struct trace_tail tail_of(const struct trace_reader *r, uint64_t last)
{
	const struct trace_tail *tail = trace_reader_tail(r);

	return tail ? *tail : (struct trace_tail){ .time = last, .flags = TAIL_INTERRUPTED };
}

/* Negative and printed: the reader names its file, this the other. */
static int copy(struct trace_writer *w, struct trace_reader *r, const char *output)
{
	const struct event *e;
	struct trace_tail tail;
	uint64_t last = 0;
	int more = 0, error = copy_records(w, r);

	while (!error && (more = trace_reader_next(r, &e)) == 1) {
		error = trace_writer_event(w, e);
		last = e->time;
	}
	if (more < 0)
		return more;
	tail = tail_of(r, last);
	error = error ? error : trace_writer_finish(w, &tail);
	if (error < 0)
		output_file_say(output, error);
	return error;
}

static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return stat(a, &sa) == 0 && stat(b, &sb) == 0 && sa.st_dev == sb.st_dev &&
	       sa.st_ino == sb.st_ino;
}

static int output_open(struct trace_writer **w, const char *output, bool force,
                       const struct trace_reader *r)
{
	int fd = output_file_open(output, force);
	int error = fd < 0 ? fd : trace_writer_new(w, fd, trace_reader_meta(r), NULL);

	if (fd >= 0 && error < 0) {
		unlink(output);
		output_file_say(output, error);
	}
	return error;
}

static void report(const struct trace_reader *r, const char *output)
{
	const struct trace_status *s = trace_reader_status(r);
	uint64_t skipped = 0;

	for (size_t i = 0; i < s->damage_count && i < ARRAY_SIZE(s->damage); i++)
		skipped += s->damage[i].bytes;
	log_info("%s: saved %" PRIu64 " events of %" PRIu64 " blocks", output, s->events,
	         s->blocks);
	if (s->damage_count)
		log_info("%s: places damaged: %" PRIu64 ", bytes skipped: %s%" PRIu64,
		         trace_reader_path(r), s->damage_count,
		         s->damage_count > ARRAY_SIZE(s->damage) ? "more than " : "", skipped);
	if (s->lost)
		log_info("%s: events missing: at least %" PRIu64, output, s->lost);
	if (!trace_meta_count(trace_reader_meta(r)))
		log_warn("%s: the metadata could not be saved", output);
}

static int salvage(const char *path, const char *output, bool force)
{
	struct trace_reader *r = NULL;
	struct trace_writer *w = NULL;
	int error, status = STATUS_FAILED;

	if (same_file(path, output)) {
		log_error("%s: would overwrite the trace itself: give another file", output);
		return STATUS_FAILED;
	}
	error = trace_reader_new(&r, path, TRACE_TOLERATE_DAMAGE);
	if (error < 0)
		return STATUS_FAILED;
	error = output_open(&w, output, force, r);
	if (!error) {
		error = copy(w, r, output);
		trace_writer_free(w);
		if (error < 0)
			unlink(output);
	}
	if (!error) {
		report(r, output);
		status = trace_reader_status(r)->complete ? STATUS_DONE : STATUS_INCOMPLETE;
	}
	trace_reader_free(r);
	return status;
}

static int run(int argc, char **argv)
{
	const char *output = NULL;
	bool force = false;
	int operands, r;
	const struct option options[] = {
		{ 'o', "output", OPTION_STRING, &output, "FILE", "the trace to write" },
		{ 'f', "force", OPTION_FLAG, &force, NULL, "replace the output file if it exists" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape salvage -o OUTPUT [options] FILE",
		"Writes a new trace of every block of a damaged one that is whole, with loss "
		"records for what is missing. Exits with 0 if nothing was, 3 otherwise.",
		options,
	};

	r = options_parse(&spec, argc, argv, &operands);
	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands != 1 || !output) {
		log_error("salvage needs a trace and an output: `mmtape salvage FILE -o OUTPUT`");
		return STATUS_USAGE;
	}
	return salvage(argv[1], output, force);
}

const struct command command_salvage = { "salvage", "recover what is whole in a damaged trace",
	                                 run };
