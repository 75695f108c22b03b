/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the mappings of an exec come from. */

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "capture/maps.h"
#include "capture/snapshots.h"

void snapshots_init(struct snapshots *s, struct trace_writer *writer, struct rebase *rebase,
                    bool have_prepare_exec)
{
	*s = (struct snapshots){ .writer = writer,
		                 .rebase = rebase,
		                 .have_prepare_exec = have_prepare_exec };
	while (getrandom(&s->key, sizeof(s->key), 0) != sizeof(s->key))
		;
}

void snapshots_clear(struct snapshots *s)
{
	while (s->guess_count)
		free(s->guesses[--s->guess_count]);
}

/* Writes and frees the maps. */
static int write_maps(struct snapshots *s, struct trace_maps *maps)
{
	int r;

	for (size_t i = 0; i < maps->count; i++) {
		struct trace_map *m = &maps->maps[i];
		uint64_t start = rebase_address(s->rebase, maps->process, m->start);

		m->end = start + (m->end - m->start);
		m->start = start;
	}
	r = trace_writer_maps(s->writer, maps);
	maps_clear(maps);
	return r;
}

static int guess_find(const struct snapshots *s, uint32_t task)
{
	for (unsigned i = 0; i < s->guess_count; i++)
		if (s->guesses[i]->task == task)
			return (int)i;
	return -1;
}

static void guess_drop(struct snapshots *s, unsigned i)
{
	free(s->guesses[i]);
	s->guesses[i] = s->guesses[--s->guess_count];
}

static int guess_decide(struct snapshots *s, unsigned i)
{
	struct guess *g = s->guesses[i];
	struct trace_maps maps = { 0 };
	int r = 0;

	if (g->wanted) {
		r = guess_finish(g, &s->key, &maps);
		if (r == 0) {
			s->counts.guessed++;
			r = write_maps(s, &maps);
		} else if (r > 0) {
			s->counts.missed++;
			s->counts.programs_32_bit += r == 3;
			r = 0;
		}
	}
	maps_clear(&maps);
	guess_drop(s, i);
	return r;
}

static int guess_add(struct snapshots *s, uint32_t task)
{
	int r = 0;

	/* Room by deciding one now, with the faults it has. */
	if (s->guess_count == SNAPSHOTS_GUESSES)
		r = guess_decide(s, 0);
	if (r < 0)
		return r;
	s->guesses[s->guess_count] = malloc(sizeof(struct guess));
	if (!s->guesses[s->guess_count])
		return -ENOMEM;
	guess_begin(s->guesses[s->guess_count++], task);
	return 0;
}

int snapshots_event(struct snapshots *s, const struct event *e)
{
	bool prepare = e->kind == EVENT_PREPARE_EXEC;
	int i, r = 0;

	if (!s->guess_count && !prepare)
		return 0;
	i = guess_find(s, e->task);
	if (i >= 0 && event_is_fault(e->kind)) {
		struct guess *g = s->guesses[i];

		if (guess_fault(g, e) && g->wanted)
			r = guess_decide(s, (unsigned)i);
	} else if (i >= 0 && (prepare || e->kind == EVENT_EXIT)) {
		r = guess_decide(s, (unsigned)i);
	}
	return r >= 0 && prepare ? guess_add(s, e->task) : r;
}

/* As they were when the exec was seen, else as they are now. 1: the process is gone. */
static int read_maps(struct snapshots *s, const struct point_record *rec, struct trace_maps *maps)
{
	const struct event *e = &rec->event;
	int r = s->watch ? watch_find(s->watch, e->task, e->time, maps) : 1;

	if (r <= 0 || s->no_proc)
		return r;
	r = maps_read(maps, e->task, &s->key);
	if (r == 0 && !(rec->text && maps_process_runs(e->task, rec->text, rec->text_size))) {
		maps_clear(maps);
		r = 1;
	}
	s->counts.late += r == 0;
	return r;
}

int snapshots_exec(struct snapshots *s, const struct point_record *rec)
{
	const struct event *e = &rec->event;
	struct trace_maps maps = { .time = e->time, .process = e->task, .flags = MAPS_READ_LATE };
	/* A thread that execs takes over the id of its process. */
	int i = guess_find(s, (uint32_t)e->arg[0]);
	int r;

	s->counts.execs++;
	r = read_maps(s, rec, &maps);
	if (r == 0) {
		s->counts.programs_32_bit += maps_is_32_bit(&maps);
		if (i >= 0)
			guess_drop(s, (unsigned)i);
		return write_maps(s, &maps);
	}
	if (r < 0 || !rec->text) {
		s->counts.missed += r > 0;
		return r < 0 ? r : 0;
	}
	if (i < 0) {
		r = guess_add(s, e->task);
		if (r < 0)
			return r;
		i = (int)s->guess_count - 1;
	}
	s->guesses[i]->task = e->task;
	guess_want(s->guesses[i], e->time, rec->text, rec->text_size);
	return 0;
}

int snapshots_end(struct snapshots *s)
{
	int r = 0;

	while (r >= 0 && s->guess_count)
		r = guess_decide(s, s->guess_count - 1);
	return r;
}
