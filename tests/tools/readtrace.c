/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints a trace for tests, a record per line, all of it and nothing made
 * readable: what `dump` and `info` show can change, this does not.
 *
 *   meta KEY VALUE            stat WHEN KEY VALUE
 *   name TASK NAME            loss CPU EVENTS FROM TO
 *   maps PROCESS FLAGS TIME   map START END OFFSET FILE PROT KIND
 *   event TIME CPU TASK point|enter|leave NAME FLAGS ARGUMENTS…
 *   tail STATUS FLAGS EVENTS LOST
 *   status COMPLETE DAMAGE EVENTS LOST
 */

#include <inttypes.h>
#include <stdio.h>

#include "common/error.h"
#include "traces/reader.h"

static void print_pairs(const char *head, const struct trace_meta *pairs)
{
	for (size_t i = 0; i < trace_meta_count(pairs); i++) {
		const char *key, *value;

		trace_meta_at(pairs, i, &key, &value);
		printf("%s %s %s\n", head, key, value);
	}
}

static void print_maps(const struct trace_maps *m)
{
	printf("maps %u %u %" PRIu64 "\n", m->process, m->flags, m->time);
	for (size_t i = 0; i < m->count; i++)
		printf("map %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %x %u\n",
		       m->maps[i].start, m->maps[i].end, m->maps[i].offset, m->maps[i].file,
		       m->maps[i].prot, m->maps[i].kind);
}

static void print_records(const struct trace_reader *r)
{
	size_t names, losses, maps, stats;
	const struct trace_name *name = trace_reader_names(r, &names);
	const struct trace_loss *loss = trace_reader_losses(r, &losses);
	const struct trace_maps *map = trace_reader_maps(r, &maps);
	const struct trace_stat *stat = trace_reader_stats(r, &stats);

	print_pairs("meta", trace_reader_meta(r));
	for (size_t i = 0; i < stats; i++)
		print_pairs(stat[i].when == STAT_START ? "stat start" : "stat end", stat[i].pairs);
	for (size_t i = 0; i < names; i++)
		printf("name %u %s\n", name[i].task, name[i].name);
	for (size_t i = 0; i < losses; i++)
		printf("loss %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", loss[i].cpu, loss[i].events,
		       loss[i].from, loss[i].to);
	for (size_t i = 0; i < maps; i++)
		print_maps(&map[i]);
}

static void print_event(const struct event *e)
{
	const struct event_row *row = event_row(e->kind);
	const char *side = !event_is_call(e->kind)   ? "point"
	                   : event_is_leave(e->kind) ? "leave"
	                                             : "enter";

	printf("event %" PRIu64 " %u %u %s %s %u", e->time, e->cpu, e->task, side,
	       event_name(e->kind), e->flags);
	for (unsigned i = 0; i < row->args; i++)
		printf(" %" PRIx64, e->arg[i]);
	putchar('\n');
}

int main(int argc, char **argv)
{
	const struct trace_status *status;
	const struct trace_tail *tail;
	const struct event *e;
	struct trace_reader *r;
	int more;

	if (argc != 2)
		return STATUS_USAGE;
	if (trace_reader_new(&r, argv[1], TRACE_TOLERATE_DAMAGE) < 0)
		return STATUS_FAILED;
	print_records(r);
	while ((more = trace_reader_next(r, &e)) > 0)
		print_event(e);
	tail = trace_reader_tail(r);
	if (tail)
		printf("tail %u %u %" PRIu64 " %" PRIu64 "\n", tail->status, tail->flags,
		       tail->events, tail->lost);
	status = trace_reader_status(r);
	printf("status %d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", status->complete,
	       status->damage_count, status->events, status->lost);
	trace_reader_free(r);
	return more < 0 ? STATUS_FAILED : STATUS_DONE;
}
