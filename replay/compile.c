/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiler's frame: checks, the two passes over the trace, and what went wrong. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "replay/compile_core.h"

static bool kernel_at_least(const struct trace_meta *meta, unsigned major, unsigned minor)
{
	const char *release = trace_meta_get(meta, META_KERNEL);
	unsigned a, b;

	if (!release || sscanf(release, "%u.%u", &a, &b) != 2)
		return false;
	return a > major || (a == major && b >= minor);
}

static void read_settings(struct compile *c, const struct trace_meta *meta)
{
	const char *thp = trace_meta_get(meta, META_THP);

	c->thp_always = !thp || !strcmp(thp, "always");
	c->thp_madvise = thp && !strcmp(thp, "madvise");
	/* Since 6.7 MAP_STACK says no huge pages (mm/mmap.c, c4608d1bf7c6). */
	c->stack_is_small = kernel_at_least(meta, 6, 7) && !c->options->drop_map_stack;
}

/* Whether the trace can be replayed here at all. */
static int check_trace(struct compile *c)
{
	const struct trace_meta *meta = trace_reader_meta(c->reader);
	const struct trace_status *status = trace_reader_status(c->reader);
	const char *path = trace_reader_path(c->reader);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	c->page = trace_meta_get_u64(meta, META_PAGE_SIZE, 4096);
	if (c->page != page) {
		log_error("%s: recorded with pages of %" PRIu64 " bytes, here they have %" PRIu64
		          ": it cannot be replayed on this machine",
		          path, c->page, page);
		return -EINVAL;
	}
	c->counts.lost = status->lost;
	if ((status->lost || status->damage_count) && !c->options->incomplete) {
		log_error("%s: at least %" PRIu64
		          " events were lost: --incomplete replays what is left, and marks it",
		          path, status->lost);
		return -EINVAL;
	}
	read_settings(c, meta);
	return 0;
}

/* After the survey. */
static int check_bounds(struct compile *c)
{
	const char *path = trace_reader_path(c->reader);
	uint64_t bits = trace_meta_get_u64(trace_reader_meta(c->reader), META_ADDRESS_BITS, 47);

	if (c->counts.peak_tasks > c->options->max_tasks) {
		log_error("%s: %" PRIu64 " tasks at once, at most %" PRIu64
		          " are allowed here (half of kernel.pid_max, kernel.threads-max and "
		          "`ulimit -u`): raise the lowest of these",
		          path, c->counts.peak_tasks, c->options->max_tasks);
		return -E2BIG;
	}
	if (c->task_count >= 1u << 24) {
		log_error("%s: more than %u tasks", path, 1u << 24);
		return -E2BIG;
	}
	for (size_t i = 0; bits > 47 && i < c->group_count; i++) {
		const struct group *g = &c->groups[i];

		if (!g->cluster_count || g->clusters[g->cluster_count - 1].end <= 1ULL << 47)
			continue;
		log_error("%s: uses addresses of more than 47 bits, which are not replayed", path);
		return -EINVAL;
	}
	return 0;
}

static int task_begin(struct compile *c, struct ctask *t)
{
	struct cspace *sp;
	int r;

	if (t->born)
		return 0;
	t->born = true;
	t->space = t->first_space = lineage_task(c->lineage, t->number)->space;
	c->tasks[t->process].threads++;
	sp = space_get(c, t->space, &r);
	return sp ? space_join(sp, t->number) : r;
}

static int take_point(struct compile *c, struct ctask *t, const struct event *e)
{
	switch (e->kind) {
	case EVENT_FAULT_USER:
	case EVENT_FAULT_KERNEL:
		return compile_fault(c, t, e);
	case EVENT_NEWTASK:
		return task_spawn(c, t, e);
	case EVENT_EXEC:
		return task_exec(c, t, e);
	case EVENT_EXIT:
		return task_exit(c, t, e->time);
	default:
		return 0;
	}
}

static int take_item(struct compile *c, struct ctask *t, const struct item *item)
{
	const struct event *e = &item->event;
	int r = task_resume(c, t, e);

	if (r < 0)
		return r;
	if (!event_is_fault(e->kind))
		t->repeat_page = UINT64_MAX;
	if (t->exited || (t->exec_forced && item->kind != ITEM_POINT)) {
		c->counts.skipped += e->kind != EVENT_EXIT && item->kind != ITEM_LEAVE;
		return 0;
	}
	/* An exec that failed leaves its faults to the old space. */
	if (t->pending_count && !event_is_fault(e->kind) && !t->exec_forced &&
	    t->vfork_child == NONE && !lineage_task(c->lineage, t->number)->execing &&
	    e->kind != EVENT_EXEC)
		r = touch_pending(c, t);
	if (r < 0)
		return r;
	if (item->kind == ITEM_POINT)
		return take_point(c, t, e);
	if (!call_has_operation(item->call->call))
		return 0;
	if (item->kind == ITEM_ENTER)
		return flight_enter(c, t, item->call);
	return flight_leave(c, t, item->call);
}

static int read_all(struct compile *c, struct call_pairer *pairer)
{
	struct item item;
	uint32_t number;
	int r;

	while ((r = call_pairer_next(pairer, &item)) > 0) {
		struct ctask *t;

		r = lineage_event(c->lineage, &item.event, &number);
		if (r >= 0)
			r = files_item(c, &item, number);
		if (r < 0)
			return r;
		t = &c->tasks[number];
		r = task_begin(c, t);
		if (r >= 0)
			r = take_item(c, t, &item);
		if (r < 0)
			return r;
	}
	return r;
}

static void finish_tasks(struct compile *c)
{
	for (size_t i = 0; i < c->task_count; i++) {
		flight_end(c, &c->tasks[i]);
		task_finish(c, &c->tasks[i]);
	}
}

static int new_lineage(struct compile *c)
{
	int r;

	c->lineage = lineage_free(c->lineage);
	r = lineage_new(&c->lineage);
	if (r >= 0)
		lineage_set_kernel(c->lineage,
		                   trace_meta_get(trace_reader_meta(c->reader), META_KERNEL));
	return r;
}

static int second_pass(struct compile *c)
{
	struct call_pairer *pairer = NULL;
	int r = trace_reader_rewind(c->reader);

	if (r >= 0)
		r = new_lineage(c);
	if (r >= 0)
		r = descriptors_new(&c->descriptors);
	if (r >= 0)
		r = call_pairer_new(&pairer, c->reader);
	if (r >= 0)
		r = read_all(c, pairer);
	call_pairer_free(pairer);
	if (r >= 0)
		finish_tasks(c);
	return r;
}

static void finish_counts(struct compile *c)
{
	c->counts.words = c->words;
	c->counts.peak_bytes += c->window_count << 16;
	if (c->start_time != UINT64_MAX)
		c->counts.duration = c->end_time - c->start_time;
}

static int compile_all(struct compile *c, struct plan *out)
{
	int r = check_trace(c);

	if (r >= 0)
		r = trace_reader_rewind(c->reader);
	if (r >= 0)
		r = new_lineage(c);
	if (r >= 0)
		r = compile_survey(c);
	if (r >= 0)
		r = check_bounds(c);
	if (r >= 0)
		r = second_pass(c);
	if (r < 0)
		return r;
	finish_counts(c);
	if (!c->counts.operations) {
		log_error("%s: no operation in it: there is nothing to replay",
		          trace_reader_path(c->reader));
		return -ENODATA;
	}
	return compile_layout(c, out);
}

static void free_group(struct group *g)
{
	ranges_clear(&g->slots);
	ranges_clear(&g->ever);
	ranges_clear(&g->unseen);
	ranges_clear(&g->made);
	free(g->clusters);
	free(g->maps);
}

static void free_task(struct ctask *t)
{
	free(t->ended);
	free(t->words);
	free(t->notify);
	map_clear(&t->known);
	free(t->pending);
	free(t->free_anchors);
}

static void release(struct compile *c)
{
	for (size_t i = 0; i < c->space_count; i++)
		space_drop(c, (uint32_t)i);
	for (size_t i = 0; i < c->group_count; i++)
		free_group(&c->groups[i]);
	for (size_t i = 0; i < c->task_count; i++)
		free_task(&c->tasks[i]);
	for (size_t i = 0; i < c->file_count; i++)
		map_clear(&c->files[i].windows);
	map_clear(&c->process_groups);
	map_clear(&c->file_index);
	map_clear(&c->hash_index);
	map_clear(&c->shm_sizes);
	map_clear(&c->segments);
	descriptors_free(c->descriptors);
	lineage_free(c->lineage);
	free(c->spaces);
	free(c->groups);
	free(c->group_of);
	free(c->tasks);
	free(c->files);
	free(c->anchors);
}

int plan_compile(struct plan *out, struct trace_reader *reader,
                 const struct compile_options *options)
{
	struct compile c = {
		.options = options,
		.reader = reader,
		.anchor_ids = ANCHOR_SCRAP + 1,
		.start_time = UINT64_MAX,
		.last_task = NONE,
	};
	int r;

	*out = (struct plan){ .fd = -1 };
	r = compile_all(&c, out);
	if (r == -ENOMEM)
		log_error("%s: not enough memory to compile it", trace_reader_path(reader));
	else if (r == -E2BIG && c.words)
		log_error("%s: its plan is larger than %" PRIu64
		          " bytes, or its spaces than is plausible",
		          trace_reader_path(reader), options->max_plan_bytes);
	release(&c);
	return r;
}
