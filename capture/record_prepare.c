/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets a recording up and takes it down. */

#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "capture/record_meta.h"
#include "capture/recording.h"
#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/output_file.h"

#define HELD_BYTES (32u << 20) /* of raw pages, in our own memory */

uint64_t recording_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

int recording_say_output(const struct recording *rec, int error)
{
	const char *path = rec->options->output;

	if (error != -ENOSPC && error != -EDQUOT && error != -EFBIG)
		return output_file_say(path, error);
	log_error("%s: no room left (%s): recording stopped, what was written is readable", path,
	          strerror(-error));
	return error;
}

/* Those that were ignored stay so (nohup, background). */
int recording_take_signals(struct recording *rec)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	struct sigaction old;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++)
		if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
			sigaddset(&set, ends[i]);
	if (sigprocmask(SIG_BLOCK, &set, &rec->mask) < 0)
		return error_errno();
	rec->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return rec->signal_fd < 0 ? error_errno() : 0;
}

static int open_output(struct recording *rec)
{
	struct trace_meta *meta;
	int fd, r;

	fd = output_file_open(rec->options->output, rec->options->force);
	if (fd < 0)
		return fd;
	r = trace_meta_new(&meta);
	if (r < 0) {
		close(fd);
		return r;
	}
	r = record_meta_fill(meta, rec->options, rec->root, rec->start);
	if (r < 0)
		close(fd);
	else
		r = trace_writer_new(&rec->writer, fd, meta, NULL);
	trace_meta_free(meta);
	if (r >= 0)
		r = record_stat_write(rec->writer, STAT_START, rec->start, NULL);
	if (r >= 0)
		r = trace_writer_flush(rec->writer);
	return r < 0 ? recording_say_output(rec, r) : 0;
}

static int set_up_ingest(struct recording *rec)
{
	bool foreign = rec->root != (uint32_t)child_pid(rec->child);
	int r = rebase_new(&rec->rebase, rec->options->raw_addresses);

	if (r < 0)
		return r;
	ingest_init(&rec->ingest, rec->points, rec->writer, rec->rebase, rec->root);
	rec->ingest.names = !rec->options->no_names;
	rec->ingest.no_proc = rec->ingest.snapshots.no_proc = foreign;
	if (foreign)
		log_info("in a PID namespace of its own: /proc cannot be asked about recorded "
		         "tasks, their mappings are guessed from program headers");
	if (foreign || rec->options->no_watch)
		return 0;
	r = watch_new(&rec->watch, rec->points, rec->journal, rec->root,
	              &rec->ingest.snapshots.key);
	rec->ingest.snapshots.watch = rec->watch;
	return r;
}

/*
 * Events and filters go by ids of the initial PID namespace, which may not be
 * ours: the marker that the child has written says what it is called there.
 */
static int identify(struct recording *rec)
{
	struct merge_item item;
	int r = buffers_fill(rec->buffers, true);

	rec->root = (uint32_t)child_pid(rec->child);
	while (r >= 0 && (r = buffers_next(rec->buffers, &item)) > 0) {
		uint32_t id;

		if (r != MERGE_RECORD)
			continue;
		id = points_task(rec->points, item.data, item.size);
		rec->root = id ? id : rec->root;
	}
	return r;
}

/* The child is forked before limits of ours are changed, and after the instance is there. */
static int hold_child(struct recording *rec)
{
	const struct record_options *o = rec->options;
	const struct buffers_options buffers = { .start = rec->start,
		                                 .held_bytes = HELD_BYTES,
		                                 .plain_reads = o->plain_reads };
	_cleanup_close_ int marker = instance_open_marker(rec->instance);
	int r = instance_on(rec->instance, true);

	if (r < 0)
		return r;
	r = child_new(&rec->child, o->command, &rec->mask, marker);
	rec->summary->exec_error = r;
	if (r < 0)
		return r;
	/* Little work, but waiting for many busy tasks would cost events. */
	rec->priority = getpriority(PRIO_PROCESS, 0);
	if (setpriority(PRIO_PROCESS, 0, -20) < 0)
		log_info("recording at usual priority (%s): events may be lost on a busy machine",
		         strerror(errno));
	if (o->plain_reads)
		log_info("--no-io-uring: draining with plain reads");
	r = buffers_new(&rec->buffers, rec->instance, &buffers);
	if (r < 0)
		return r;
	rec->summary->used_io_uring = buffers_use_io_uring(rec->buffers);
	return identify(rec);
}

static int set_up(struct recording *rec)
{
	int r = instance_follow_task(rec->instance, rec->root);

	if (r >= 0)
		r = set_up_ingest(rec);
	return r < 0 ? r : points_enable(rec->points, rec->instance);
}

int recording_prepare(struct recording *rec)
{
	int r;

	rec->start = rec->flushed = recording_now();
	r = instance_check();
	if (r < 0)
		return r;
	r = settings_recover();
	if (r >= 0)
		r = points_new(&rec->points, rec->options->futex);
	if (r >= 0)
		r = journal_new(&rec->journal);
	if (r >= 0)
		r = instance_new(&rec->instance, rec->journal, rec->options->buffer_bytes);
	if (r >= 0)
		r = hold_child(rec);
	if (r >= 0)
		r = open_output(rec);
	return r < 0 ? r : set_up(rec);
}

void recording_release(struct recording *rec)
{
	rec->watch = rec->ingest.snapshots.watch = watch_free(rec->watch);
	rec->buffers = buffers_free(rec->buffers);
	rec->instance = instance_free(rec->instance);
	if (rec->priority < PRIORITY_NONE && setpriority(PRIO_PROCESS, 0, rec->priority) == 0)
		rec->priority = PRIORITY_NONE;
	rec->journal = instance_any_left() ? journal_leave(rec->journal)
	                                   : journal_free(rec->journal);
}
