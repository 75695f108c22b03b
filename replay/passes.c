/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warm-up, timing, latency and lock sources, each a pass of its own. */

#include <string.h>

#include "capture/counters.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/pass_units.h"
#include "replay/passes.h"

struct passes {
	const struct pass_options *options;
	const struct pass_work *work;
	struct result *result;
	struct pass_counters counters;
	struct pass_units units;
	bool observes; /* the observer's open sources count along */
	int error; /* of what was done at the start line or at the end */
	uint32_t done, all;
};

static int counters_renew(struct pass_counters *c)
{
	int r;

	c->before = trace_meta_free(c->before);
	c->after = trace_meta_free(c->after);
	r = trace_meta_new(&c->before);
	return r < 0 ? r : trace_meta_new(&c->after);
}

static void note_counters(struct passes *p, struct trace_meta *to)
{
	const struct cgroups *groups = p->options->groups;
	int r = counters_read(to);

	if (r >= 0)
		r = groups ? cgroups_counters(groups, to) : cgroup_machine_pressure(to);
	if (r >= 0)
		return;
	p->error = r;
	log_error("cannot read the kernel's counters: %s", strerror(-r));
}

static void note_source(struct passes *p, int r)
{
	if (r < 0)
		p->error = r;
}

/* Sources are started last and stopped first: reading the counters is not in what they see. */
static void at_line(void *arg, bool end)
{
	struct passes *p = arg;

	if (end && p->observes)
		note_source(p, observer_stop(p->options->observer));
	note_counters(p, end ? p->counters.after : p->counters.before);
	if (!end && p->observes)
		note_source(p, observer_start(p->options->observer));
}

static int run_once(struct passes *p, bool latency, bool counted)
{
	int r = counted ? counters_renew(&p->counters) : 0;

	if (r == -ENOMEM)
		log_error("not enough memory for the result");
	if (r < 0)
		return r;
	p->error = 0;
	p->done++;
	if (!p->work->prints)
		log_progress("repetition %u of %u", p->done, p->all);
	r = p->work->run(p->work->arg, latency, counted ? at_line : NULL, p);
	log_progress_end();
	return r < 0 ? r : p->error;
}

/* The folio order of the size whose turn it is, 0 if none is swept. */
static unsigned order_at(const struct passes *p, size_t size)
{
	const struct sweep *sweep = p->options->sweep;

	return sweep && sweep->count ? sweep->orders[size] : 0;
}

static int begin_row(struct passes *p, unsigned round, size_t size, const char *pass)
{
	unsigned order = order_at(p, size);
	int r = result_row(p->result, 0, round, pass);

	return r >= 0 && order ? result_row_order(p->result, order) : r;
}

static int do_warmup(struct passes *p, unsigned round, size_t size)
{
	return run_once(p, false, false);
}

static int do_time(struct passes *p, unsigned round, size_t size)
{
	int r = run_once(p, false, true);

	if (r < 0)
		return r;
	pass_units_add(&p->units, p->counters.before, p->counters.after, order_at(p, size));
	r = begin_row(p, round, size, RESULT_PASS_TIME);
	return r < 0 ? r : p->work->time_values(p->work->arg, p->result, &p->counters);
}

static int do_latency(struct passes *p, unsigned round, size_t size)
{
	int r = run_once(p, true, false);

	if (r >= 0)
		r = begin_row(p, round, size, "latency");
	return r < 0 ? r : p->work->latency_values(p->work->arg, p->result);
}

static int do_source(struct passes *p, unsigned round, size_t size)
{
	const struct pass_work *work = p->work;
	struct observe_units units;
	int r;

	p->observes = true;
	r = run_once(p, false, true);
	p->observes = false;
	if (r < 0)
		return r;
	pass_units_add(&p->units, p->counters.before, p->counters.after, order_at(p, size));
	units = observe_units(p->counters.before, p->counters.after, order_at(p, size),
	                      work->operations ? work->operations(work->arg) : 0);
	return observer_rows(p->options->observer, p->result, round, order_at(p, size), &units);
}

static size_t size_count(const struct pass_options *o)
{
	return o->sweep && o->sweep->count ? o->sweep->count : 1;
}

/* Sizes take turns, so that what drifts with time meets all of them alike. */
static int do_rounds(struct passes *p, uint32_t rounds,
                     int (*once)(struct passes *p, unsigned round, size_t size))
{
	const struct pass_options *o = p->options;
	int r = 0;

	for (uint32_t round = 0; round < rounds && r >= 0; round++)
		for (size_t size = 0; size < size_count(o) && r >= 0; size++) {
			if (o->sweep && o->sweep->count)
				r = sweep_apply(o->sweep, size, o->change);
			if (r >= 0)
				r = once(p, round, size);
		}
	return r;
}

static int do_all(struct passes *p)
{
	const struct pass_options *o = p->options;
	int r = do_rounds(p, o->warmup, do_warmup);

	if (r >= 0 && !o->no_time)
		r = do_rounds(p, o->repeat, do_time);
	if (r >= 0 && !o->no_latency && p->work->latency_values)
		r = do_rounds(p, o->repeat, do_latency);
	for (size_t i = 0; i < observer_passes(o->observer) && r >= 0; i++) {
		r = observer_open(o->observer, i);
		if (r >= 0)
			r = do_rounds(p, o->repeat, do_source);
		observer_close(o->observer);
	}
	return r;
}

int passes_run(const struct pass_options *o, const struct pass_work *work, struct result *result)
{
	struct passes p = { .options = o, .work = work, .result = result };
	bool latency = !o->no_latency && work->latency_values;
	int r;

	p.all = (uint32_t)size_count(o) *
	        (o->warmup +
	         o->repeat * (!o->no_time + latency + (uint32_t)observer_passes(o->observer)));
	r = do_all(&p);
	if (r >= 0) {
		r = pass_units_put(&p.units, result_denominators(result));
		if (r < 0)
			log_error("not enough memory for the result");
	}
	trace_meta_free(p.counters.before);
	trace_meta_free(p.counters.after);
	return r;
}
