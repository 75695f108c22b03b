/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recording from its start to its end. It goes in rounds: every tick all
 * CPUs are read, and what is old enough is written. The tick is so short that
 * a CPU that does nothing but fault cannot fill its buffer in between.
 */

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "capture/record_meta.h"
#include "capture/recording.h"
#include "common/log.h"

#define DEFAULT_BUFFER_BYTES (4u << 20)
#define FLUSH_NS 900000000ULL /* with the tick on top still within a second */
#define TICK_MIN_MS 2
#define TICK_MAX_MS 100
/* Bytes a CPU can produce per ms: 2.2 million faults a second, more than any takes. */
#define BYTES_PER_MS 80000

static int round_write(struct recording *rec, bool last)
{
	struct merge_item item;
	int r = buffers_fill(rec->buffers, last);

	while (r >= 0 && (r = buffers_next(rec->buffers, &item)) > 0) {
		r = ingest_item(&rec->ingest, (enum merge_kind)r, &item);
		if (r < 0)
			return recording_say_output(rec, r);
	}
	return r;
}

static int flush(struct recording *rec, uint64_t now)
{
	int r;

	if (now - rec->flushed < FLUSH_NS)
		return 0;
	rec->flushed = now;
	if (rec->flushed_events == trace_writer_events(rec->writer))
		return 0;
	rec->flushed_events = trace_writer_events(rec->writer);
	r = trace_writer_flush(rec->writer);
	return r < 0 ? recording_say_output(rec, r) : 0;
}

static void take_child_end(struct recording *rec, bool wait)
{
	int status;

	if (rec->summary->command_ended || child_collect(rec->child, wait, &status) <= 0)
		return;
	rec->summary->command_ended = true;
	rec->summary->command_status = status;
}

/*
 * A signal that somebody sent us alone goes on to the command; one of the
 * terminal has reached it already.
 */
static void take_signals(struct recording *rec)
{
	struct signalfd_siginfo info;

	while (read(rec->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD) {
			take_child_end(rec, false);
			if (rec->summary->command_ended && rec->stop == STOP_NOT)
				rec->stop = STOP_COMMAND;
			continue;
		}
		if (info.ssi_code <= 0 && !rec->summary->command_ended)
			kill(child_pid(rec->child), (int)info.ssi_signo);
		rec->stop = STOP_SIGNAL;
	}
}

static void check_limits(struct recording *rec, uint64_t now)
{
	const struct record_options *o = rec->options;

	if (rec->stop != STOP_NOT)
		return;
	if (o->max_duration && now - rec->begun >= o->max_duration) {
		log_info("%s: recording stopped at --max-duration; the command goes on", o->output);
		rec->stop = STOP_LIMIT;
	} else if (o->max_bytes && trace_writer_bytes(rec->writer) >= o->max_bytes) {
		log_info("%s: recording stopped at --max-size; the command goes on", o->output);
		rec->stop = STOP_LIMIT;
	}
}

static void show_progress(const struct recording *rec, uint64_t now)
{
	if (rec->options->progress)
		log_progress("recording: %.1f s, %llu events, %llu lost, %.1f MiB",
		             (double)(now - rec->begun) / 1e9,
		             (unsigned long long)trace_writer_events(rec->writer),
		             (unsigned long long)trace_writer_lost(rec->writer),
		             (double)trace_writer_bytes(rec->writer) / (1 << 20));
}

static int tick_ms(const struct recording *rec)
{
	uint64_t ms = rec->options->buffer_bytes / BYTES_PER_MS;

	return ms < TICK_MIN_MS ? TICK_MIN_MS : ms > TICK_MAX_MS ? TICK_MAX_MS : (int)ms;
}

static int record_rounds(struct recording *rec)
{
	struct pollfd wake = { .fd = rec->signal_fd, .events = POLLIN };
	int tick = tick_ms(rec);

	while (rec->stop == STOP_NOT) {
		uint64_t now;
		int r;

		if (poll(&wake, 1, buffers_more(rec->buffers) ? 0 : tick) < 0 && errno != EINTR)
			return error_errno();
		take_signals(rec);
		r = round_write(rec, false);
		if (r < 0)
			return r;
		now = recording_now();
		r = flush(rec, now);
		if (r < 0)
			return r;
		check_limits(rec, now);
		show_progress(rec, now);
	}
	return 0;
}

/* Enters first, so that calls under way still get their leaves: descendants may live on. */
static int stop_events(struct recording *rec)
{
	int r = points_disable(rec->points, rec->instance);

	return r < 0 ? r : instance_on(rec->instance, false);
}

static int write_remaining_losses(struct recording *rec)
{
	struct merge_item item;

	while (buffers_remaining_loss(rec->buffers, &item) > 0) {
		int r = ingest_item(&rec->ingest, MERGE_GAP, &item);

		if (r < 0)
			return recording_say_output(rec, r);
	}
	return 0;
}

static int finish_file(struct recording *rec)
{
	struct record_summary *s = rec->summary;
	struct trace_tail tail = { .time = recording_now() };
	int r;

	if (s->command_ended) {
		tail.status = (uint32_t)s->command_status;
		tail.flags |= TAIL_STATUS_KNOWN;
	}
	if (rec->stop != STOP_COMMAND) {
		tail.flags |= TAIL_INTERRUPTED;
		s->interrupted = true;
	}
	r = record_stat_write(rec->writer, STAT_END, tail.time, &rec->ingest);
	if (r >= 0)
		r = trace_writer_finish(rec->writer, &tail);
	return r;
}

static int record_end(struct recording *rec)
{
	int r = stop_events(rec);

	rec->summary->duration = recording_now() - rec->begun;
	do {
		if (r >= 0)
			r = round_write(rec, true);
	} while (r >= 0 && buffers_more(rec->buffers));
	if (r >= 0)
		r = write_remaining_losses(rec);
	if (r < 0)
		return r;
	r = ingest_end(&rec->ingest);
	if (r >= 0)
		r = finish_file(rec);
	return r < 0 ? recording_say_output(rec, r) : 0;
}

/* Unrecorded from here on; a second signal ends the waiting. */
static void wait_for_command(struct recording *rec)
{
	struct pollfd wake = { .fd = rec->signal_fd, .events = POLLIN };

	rec->stop = STOP_NOT;
	take_child_end(rec, false);
	while (!rec->summary->command_ended && rec->stop != STOP_SIGNAL) {
		if (poll(&wake, 1, -1) < 0 && errno != EINTR)
			return;
		take_signals(rec);
	}
}

static void sum_up(struct recording *rec, bool whole)
{
	struct record_summary *s = rec->summary;

	if (!rec->writer)
		return;
	s->events = trace_writer_events(rec->writer);
	s->lost = trace_writer_lost(rec->writer);
	s->bytes = trace_writer_bytes(rec->writer);
	log_progress_end();
	if (rec->ingest.snapshots.counts.programs_32_bit)
		log_warn("%llu 32-bit programs ran: their calls are not in the trace",
		         (unsigned long long)rec->ingest.snapshots.counts.programs_32_bit);
	if (rec->ingest.counts.kernel_workers)
		log_warn("%llu worker threads of io_uring were not followed",
		         (unsigned long long)rec->ingest.counts.kernel_workers);
	if (s->lost && whole)
		log_warn("%s: %llu events lost: --buffer-size makes the kernel's buffers larger",
		         rec->options->output, (unsigned long long)s->lost);
}

static int run(struct recording *rec)
{
	int r = recording_prepare(rec);

	rec->begun = recording_now();
	if (r >= 0) {
		r = child_start(rec->child);
		rec->summary->exec_error = r;
	}
	if (r < 0) {
		if (rec->writer)
			unlink(rec->options->output);
		return r;
	}
	r = record_rounds(rec);
	if (r >= 0)
		r = record_end(rec);
	/* What could not be written was taken back: an end, which is small, may still fit. */
	if (r < 0 && finish_file(rec) < 0)
		log_info("%s: has no end: `mmtape salvage` makes a whole trace of it",
		         rec->options->output);
	recording_release(rec);
	wait_for_command(rec);
	return r;
}

int record_run(const struct record_options *options, struct record_summary *out)
{
	struct record_options with_defaults = *options;
	struct recording rec = { .options = &with_defaults,
		                 .summary = out,
		                 .signal_fd = -1,
		                 .priority = PRIORITY_NONE };
	int r;

	*out = (struct record_summary){ 0 };
	if (!with_defaults.buffer_bytes)
		with_defaults.buffer_bytes = DEFAULT_BUFFER_BYTES;
	r = recording_take_signals(&rec);
	if (r < 0)
		return r;
	r = run(&rec);
	recording_release(&rec);
	sum_up(&rec, r >= 0);
	ingest_clear(&rec.ingest);
	child_free(rec.child);
	trace_writer_free(rec.writer);
	rebase_free(rec.rebase);
	points_free(rec.points);
	close(rec.signal_fd);
	sigprocmask(SIG_SETMASK, &rec.mask, NULL);
	return r;
}
