/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes and histograms of the source `entries`. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/entries.h"
#include "capture/hist.h"
#include "capture/instance.h"
#include "capture/kallsyms.h"
#include "capture/probes.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

/* Nothing is recorded: the buffers stay empty. */
#define BUFFER_BYTES 4096
/*
 * Entries of a histogram: one or two hundred places take locks, by flags some more. All are
 * allocated at once, each in pieces, which takes long on kernels with a simple allocator.
 */
#define KEY_CALLER "caller.sym,common_flags"
#define SIZE_MANY 2048
#define SIZE_FEW 512
#define SIZE_CHANGE 128
#define RANGES_MAX 40
#define FILTER_BYTES 3200
#define TRIGGER_BYTES 4096

/*
 * Functions that take a lock once each, as far as this kernel has them; *_nested only with
 * lockdep. Spinlocks that are only tried are left out: whether they got it is not seen.
 */
static const struct {
	const char *function;
	bool many; /* called from many places */
} lock_points[] = {
	{ "down_read", false },
	{ "down_read_killable", false },
	{ "down_read_interruptible", false },
	{ "down_read_trylock", false },
	{ "down_read_nested", false },
	{ "down_read_killable_nested", false },
	{ "down_write", false },
	{ "down_write_killable", false },
	{ "down_write_trylock", false },
	{ "down_write_nested", false },
	{ "down_write_killable_nested", false },
	{ "_down_write_nest_lock", false },
	{ "_raw_spin_lock_bh", false },
	{ "_raw_spin_lock_nested", false },
	{ "_raw_spin_lock_nest_lock", false },
	{ "_raw_spin_lock_irqsave_nested", false },
	{ "_raw_spin_lock_irq", true },
	{ "_raw_spin_lock", true },
	{ "_raw_spin_lock_irqsave", true },
};

struct point {
	const char *function;
	bool many;
	const struct role_function *row; /* without histograms: what a hit is */
	int trigger; /* its file, or -1 */
	struct probe_counts at_start, at_stop;
};

struct entries {
	struct probes *probes;
	struct instance *instance;
	uint16_t kernel;
	bool histograms;
	bool stacks;
	struct point *points;
	size_t count;
	const char *stack_key;
	char filter[FILTER_BYTES];
};

const char *entries_caller_argument(void)
{
#if defined(__x86_64__)
	return "caller=$stack0:x64";
#elif defined(__aarch64__)
	return "caller=%x30:x64";
#else
	return NULL;
#endif
}

/* README of tracefs lists what this kernel's histograms know. */
static bool readme_has(const char *word)
{
	static const char *const paths[] = { "/sys/kernel/tracing/README",
		                             "/sys/kernel/debug/tracing/README" };
	char line[512];

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_fclose_ FILE *f = sysfile_open(paths[i]);

		while (f && fgets(line, sizeof(line), f))
			if (strstr(line, word))
				return true;
	}
	return false;
}

static bool wanted(void *data, const char *name)
{
	const struct entries *e = data;

	return entries_wants_stack(name, e->kernel);
}

/* Without addresses, or with too many ranges, there are no stacks. */
static void make_filter(struct entries *e)
{
	struct kallsyms_range ranges[RANGES_MAX];
	size_t count, used = 0;

	if (kallsyms_ranges(wanted, e, ranges, RANGES_MAX, &count) < 0 || !count)
		return;
	for (size_t i = 0; i < count; i++)
		used += (size_t)snprintf(e->filter + used, sizeof(e->filter) - used,
		                         "%s(caller >= 0x%llx && caller < 0x%llx)", i ? " || " : "",
		                         (unsigned long long)ranges[i].start,
		                         (unsigned long long)ranges[i].end);
	e->stack_key = readme_has("common_stacktrace") ? "common_stacktrace" : "stacktrace";
	e->stacks = true;
}

static int add_point(struct entries *e, const char *function, bool many,
                     const struct role_function *row)
{
	const char *args = e->histograms ? entries_caller_argument() : "";
	struct point *points;
	int r = probes_add(e->probes, function, args);

	if (r != 0)
		return r;
	points = reallocarray(e->points, e->count + 1, sizeof(*points));
	if (!points)
		return -ENOMEM;
	e->points = points;
	points[e->count++] =
		(struct point){ .function = function, .many = many, .row = row, .trigger = -1 };
	return 0;
}

/*
 * "pause" makes it, then "clear", "cont" and "pause" change it. For a change the kernel
 * allocates a histogram all the same and frees it again, so that one is small: sizes are not
 * compared.
 */
static int write_trigger(struct entries *e, const struct point *point, bool stacks,
                         const char *command, bool make)
{
	int size = !make ? SIZE_CHANGE : point->many ? SIZE_MANY : SIZE_FEW;
	char text[TRIGGER_BYTES];
	int r;

	if (stacks)
		snprintf(text, sizeof(text), "hist:keys=caller.sym,%s:size=%d:%s if %s",
		         e->stack_key, size, command, e->filter);
	else
		snprintf(text, sizeof(text), "hist:keys=" KEY_CALLER ":size=%d:%s", size, command);
	/* The kernel takes a trigger whole or not at all. */
	r = write(point->trigger, text, strlen(text)) < 0 ? error_errno() : 0;
	if (r < 0)
		log_error("tracefs instances/%s: trigger of %s: writing '%s': %s",
		          instance_name(e->instance), point->function, text, strerror(-r));
	return r;
}

enum direction { FORWARDS, BACKWARDS };

/*
 * Stacks, then callers, the busiest last: spinlocks with interrupts off. At the stop from the
 * other end, so that little of this work is counted itself.
 */
static int write_all_triggers(struct entries *e, const char *command, bool make,
                              enum direction direction)
{
	size_t all = 2 * e->count;

	for (size_t i = 0; i < all; i++) {
		size_t at = direction == FORWARDS ? i : all - 1 - i;
		bool stacks = at < e->count;
		const struct point *point = &e->points[at % e->count];
		int r;

		/* All whose stacks are wanted are reached by these. */
		if (stacks && (!e->stacks || !point->many))
			continue;
		r = write_trigger(e, point, stacks, command, make);
		if (r < 0)
			return r;
	}
	return 0;
}

/* They stay open: opening one takes memory, and so locks that would be counted. */
static int open_triggers(struct entries *e)
{
	for (size_t i = 0; i < e->count; i++) {
		char event[64], file[192];

		probes_event_name(e->probes, e->points[i].function, event, sizeof(event));
		snprintf(file, sizeof(file), "events/%s/%s/trigger", probes_group(e->probes),
		         event);
		e->points[i].trigger = instance_open_append(e->instance, file);
		if (e->points[i].trigger < 0)
			return e->points[i].trigger;
	}
	return 0;
}

static int set_up_histograms(struct entries *e, struct journal *journal)
{
	int r;

	make_filter(e);
	for (size_t i = 0; i < ARRAY_SIZE(lock_points); i++) {
		r = add_point(e, lock_points[i].function, lock_points[i].many, NULL);
		if (r < 0)
			return r;
	}
	r = instance_new(&e->instance, journal, BUFFER_BYTES);
	if (r >= 0)
		r = open_triggers(e);
	return r < 0 ? r : write_all_triggers(e, "pause", true, FORWARDS);
}

/* Every function that always takes its lock. */
static int set_up_functions(struct entries *e)
{
	size_t count;
	const struct role_function *rows = role_functions(&count);

	for (size_t i = 0; i < count; i++) {
		const struct role_function *row = &rows[i];
		int r;

		if (row->use != ROLE_TAKES || row->from > e->kernel ||
		    (row->until && e->kernel > row->until))
			continue;
		r = add_point(e, row->name, false, row);
		if (r < 0)
			return r;
	}
	return 0;
}

int entries_new(struct entries **out, struct journal *journal, uint16_t kernel)
{
	struct entries *e = calloc(1, sizeof(*e));
	int r;

	if (!e)
		return -ENOMEM;
	e->kernel = kernel;
	e->histograms = readme_has("hist trigger");
	/* Journalled before the instance, so removed after it. */
	r = probes_new(&e->probes, journal);
	if (r >= 0)
		r = e->histograms ? set_up_histograms(e, journal) : set_up_functions(e);
	if (r >= 0 && !e->count) {
		log_error("entries: no function that takes locks can be probed on this kernel");
		r = -ENOENT;
	}
	if (r < 0) {
		entries_free(e);
		return r;
	}
	*out = e;
	return 0;
}

struct entries *entries_free(struct entries *e)
{
	if (!e)
		return NULL;
	for (size_t i = 0; i < e->count; i++)
		if (e->points[i].trigger >= 0)
			close(e->points[i].trigger);
	instance_free(e->instance);
	probes_free(e->probes);
	free(e->points);
	free(e);
	return NULL;
}

static int count_points(struct entries *e, bool stop)
{
	for (size_t i = 0; i < e->count; i++) {
		struct point *p = &e->points[i];
		int r = probes_count(e->probes, p->function, stop ? &p->at_stop : &p->at_start);

		if (r < 0) {
			log_error("tracefs kprobe_profile: '%s': %s", p->function, strerror(-r));
			return r;
		}
	}
	return 0;
}

int entries_start(struct entries *e)
{
	int r = 0;

	if (e->histograms)
		r = write_all_triggers(e, "clear", false, FORWARDS);
	if (r >= 0)
		r = count_points(e, false);
	return r >= 0 && e->histograms ? write_all_triggers(e, "cont", false, FORWARDS) : r;
}

int entries_stop(struct entries *e)
{
	int r = e->histograms ? write_all_triggers(e, "pause", false, BACKWARDS) : 0;

	return r < 0 ? r : count_points(e, true);
}

static int read_histogram(struct entries *e, const char *function, struct entries_sum *sum)
{
	char event[64], file[192];
	_cleanup_free_ char *text = NULL;
	struct hist_totals totals;
	int r;

	probes_event_name(e->probes, function, event, sizeof(event));
	snprintf(file, sizeof(file), "events/%s/%s/hist", probes_group(e->probes), event);
	text = instance_read(e->instance, file);
	if (!text)
		return error_errno();
	sum->point = function;
	r = hist_parse(text, &totals, entries_add, sum);
	sum->figures->dropped += totals.dropped;
	return r;
}

/* What is known of a function that always takes its lock. */
static int add_hits(struct lock_figures *out, const struct role_function *row, uint64_t hits)
{
	struct lock_figure *figure;

	for (int whole = row->side == ROLE_SIDE_NONE; whole < 2; whole++) {
		figure = lock_figures_at(out, row->role, whole ? ROLE_SIDE_NONE : row->side, NULL);
		if (!figure)
			return -ENOMEM;
		figure->acquisitions =
			(figure->acquisitions < 0 ? 0 : figure->acquisitions) + (double)hits;
	}
	return 0;
}

static bool has_role(const struct lock_figures *f, const char *role)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].role, role))
			return true;
	return false;
}

/* Without histograms: roles of which no function that always locks could be probed. */
static int note_unseen(const struct entries *e, struct lock_figures *out)
{
	size_t count;
	const struct role_function *rows = role_functions(&count);
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		if (rows[i].from <= e->kernel && (!rows[i].until || e->kernel <= rows[i].until) &&
		    !has_role(out, rows[i].role))
			r = lock_figures_unseen(out, rows[i].role);
	return r;
}

int entries_read(struct entries *e, struct lock_figures *out)
{
	struct entries_sum sum = { .kernel = e->kernel, .stacks = e->stacks, .figures = out };
	uint64_t missed = 0;

	for (size_t i = 0; i < e->count; i++) {
		struct point *p = &e->points[i];
		int r;

		missed += p->at_stop.missed - p->at_start.missed;
		r = e->histograms ? read_histogram(e, p->function, &sum)
		                  : add_hits(out, p->row, p->at_stop.hits - p->at_start.hits);
		if (r < 0) {
			lock_figures_clear(&sum.in_interrupts);
			log_error("entries: the counts of '%s' cannot be read: %s", p->function,
			          strerror(-r));
			return r;
		}
	}
	if (e->histograms) {
		entries_finish(&sum, missed);
	} else {
		out->dropped += missed;
		if (note_unseen(e, out) < 0)
			return -ENOMEM;
	}
	snprintf(out->note, sizeof(out->note), "%s%s; %llu probes missed, in interrupts",
	         e->histograms
	                 ? "kprobes on lock functions, histograms by caller"
	                 : "kprobes on functions that always lock; the others are not counted",
	         e->histograms && !e->stacks ? " (addresses hidden: no paths)" : "",
	         (unsigned long long)missed);
	return 0;
}
