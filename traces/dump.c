/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape dump`: everything in a trace in time order. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"
#include "traces/dump.h"

/* In the order of --format's choices. */
static const struct dump_format *const formats[] = { &dump_text, &dump_jsonl, &dump_csv };

const char *dump_loss_reason(uint32_t reason)
{
	static const char *const names[] = { "other", "ring", "recorder", "import", "damage" };

	return names[reason < ARRAY_SIZE(names) ? reason : 0];
}

const char *dump_map_kind(uint32_t kind)
{
	static const char *const names[] = { "anon", "file", "heap", "stack", "special" };

	return kind < ARRAY_SIZE(names) ? names[kind] : "other";
}

void dump_map_prot(char out[5], uint32_t prot)
{
	out[0] = prot & 1 ? 'r' : '-';
	out[1] = prot & 2 ? 'w' : '-';
	out[2] = prot & 4 ? 'x' : '-';
	out[3] = prot & FORMAT_MAP_SHARED ? 's' : 'p';
	out[4] = 0;
}

int64_t dump_time(const struct dump *d, uint64_t time)
{
	return (int64_t)(time - d->base);
}

/* The records beside events, by time. */
enum record_type {
	RECORD_STAT,
	RECORD_MAPS,
	RECORD_NAME,
	RECORD_LOSS,
};

struct record {
	uint64_t time;
	enum record_type type;
	const void *data;
};

struct record_list {
	struct record *items;
	size_t count, next;
};

static int record_compare(const void *a, const void *b)
{
	const struct record *ra = a, *rb = b;

	if (ra->time != rb->time)
		return ra->time < rb->time ? -1 : 1;
	if (ra->type != rb->type)
		return ra->type < rb->type ? -1 : 1;
	/* Of one type: in the order of the file. */
	return ra->data < rb->data ? -1 : ra->data > rb->data;
}

static int records_collect(struct record_list *list, const struct trace_reader *r)
{
	size_t stat_count, maps_count, name_count, loss_count;
	const struct trace_stat *stats = trace_reader_stats(r, &stat_count);
	const struct trace_maps *maps = trace_reader_maps(r, &maps_count);
	const struct trace_name *names = trace_reader_names(r, &name_count);
	const struct trace_loss *losses = trace_reader_losses(r, &loss_count);
	struct record *to;

	list->count = stat_count + maps_count + name_count + loss_count;
	list->items = to = calloc(list->count + 1, sizeof(*to));
	if (!to)
		return -ENOMEM;
	for (size_t i = 0; i < stat_count; i++)
		*to++ = (struct record){ stats[i].time, RECORD_STAT, &stats[i] };
	for (size_t i = 0; i < maps_count; i++)
		*to++ = (struct record){ maps[i].time, RECORD_MAPS, &maps[i] };
	for (size_t i = 0; i < name_count; i++)
		*to++ = (struct record){ names[i].time, RECORD_NAME, &names[i] };
	for (size_t i = 0; i < loss_count; i++)
		*to++ = (struct record){ losses[i].from, RECORD_LOSS, &losses[i] };
	qsort(list->items, list->count, sizeof(*list->items), record_compare);
	return 0;
}

static void record_put(const struct dump_format *f, struct dump *d, const struct record *r)
{
	switch (r->type) {
	case RECORD_STAT:
		f->stat(d, r->data);
		break;
	case RECORD_MAPS:
		f->maps(d, r->data);
		break;
	case RECORD_NAME:
		f->task_name(d, r->data);
		break;
	case RECORD_LOSS:
		f->loss(d, r->data);
		break;
	}
}

/* Stops early when nobody takes the output any more. */
static int dump_all(const struct dump_format *f, struct dump *d, struct trace_reader *r,
                    struct record_list *records)
{
	const struct event *e;
	int more = 1;

	if (f->begin)
		f->begin(d);
	while (more > 0 && !ferror(d->out)) {
		more = trace_reader_next(r, &e);
		while (records->next < records->count &&
		       (more <= 0 || records->items[records->next].time <= e->time))
			record_put(f, d, &records->items[records->next++]);
		if (more > 0)
			f->event(d, e);
	}
	return more < 0 ? more : 0;
}

/* A reader that went away is no failure worth a message. */
static int output_end(FILE *out)
{
	int error = ferror(out) ? errno : 0;

	if (fflush(out) && !error)
		error = errno;
	if (!error || error == EPIPE)
		return 0;
	log_error("standard output: %s", strerror(error));
	return -error;
}

static int dump_file(const char *path, const struct dump_format *format)
{
	struct dump d = { .out = stdout };
	struct record_list records = { 0 };
	const struct trace_status *status;
	struct trace_reader *r = NULL;
	int status_out = STATUS_FAILED, error;

	error = trace_reader_new(&r, path, 0);
	if (error < 0)
		return STATUS_FAILED;
	d.base = trace_meta_get_u64(trace_reader_meta(r), META_TIME_BASE, 0);
	error = records_collect(&records, r);
	if (error < 0)
		log_error("%s: %s", path, strerror(-error));
	error = error ? error : dump_all(format, &d, r, &records);
	if (output_end(d.out) < 0)
		error = -EIO;
	status = trace_reader_status(r);
	if (!error && !status->complete)
		log_info("%s: incomplete; events missing: at least %" PRIu64, path, status->lost);
	if (!error)
		status_out = status->complete ? STATUS_DONE : STATUS_INCOMPLETE;
	free(records.items);
	trace_reader_free(r);
	return status_out;
}

static int run(int argc, char **argv)
{
	unsigned format = 0;
	int operands, r;
	const struct option options[] = {
		{ 0, "format", OPTION_CHOICE, &format, "FORMAT",
		  "text (default), jsonl or csv. Text is a line per event: seconds since the "
		  "start, CPU, task, name, arguments.",
		  "text,jsonl,csv" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape dump [options] FILE",
		"Prints everything in a trace in time order: events, losses, task names, "
		"mappings and counters.",
		options,
	};

	r = options_parse(&spec, argc, argv, &operands);
	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands != 1) {
		log_error("dump needs one trace: `mmtape dump FILE`");
		return STATUS_USAGE;
	}
	return dump_file(argv[1], formats[format]);
}

const struct command command_dump = { "dump", "print the events of a trace in time order", run };
