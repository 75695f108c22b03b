/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The repetitions of a replay, each in processes of its own. */

#include <stdlib.h>
#include <string.h>

#include "capture/counters.h"
#include "common/log.h"
#include "replay/replay_passes.h"

struct passes {
	const struct replay_setup *setup;
	const struct plan *plan;
	struct result *result;
	struct replay_totals *totals;
	struct replay_counters counters;
	int error; /* of reading the counters */
	uint32_t done;
};

static int counters_renew(struct replay_counters *c)
{
	int r;

	c->before = trace_meta_free(c->before);
	c->after = trace_meta_free(c->after);
	r = trace_meta_new(&c->before);
	return r < 0 ? r : trace_meta_new(&c->after);
}

/* All tasks are at the start line, or gone: nothing of the set-up is counted. */
static void read_counters(void *arg, bool end)
{
	struct passes *p = arg;
	int r = counters_read(end ? p->counters.after : p->counters.before);

	if (r < 0)
		p->error = r;
}

static int run_once(struct passes *p, const struct execute_options *options,
                    struct execute_figures *out)
{
	const struct replay_setup *s = p->setup;
	uint32_t all = s->warmup + (s->no_latency ? 1 : 2) * s->repeat;
	int r;

	log_progress("repetition %u of %u", ++p->done, all);
	r = execute_run(p->plan, options, out);
	log_progress_end();
	return r;
}

static int run_timed(struct passes *p, unsigned round)
{
	struct execute_options options = p->setup->execute;
	struct execute_figures figures;
	int r = counters_renew(&p->counters);

	options.at_line = read_counters;
	options.at_line_arg = p;
	if (r >= 0)
		r = run_once(p, &options, &figures);
	if (r < 0)
		return r;
	if (p->error < 0) {
		log_error("cannot read the kernel's counters: %s", strerror(-p->error));
		return p->error;
	}
	replay_totals_add(p->totals, &figures, false);
	return replay_result_row(p->result, round, &figures, &p->counters);
}

static int run_latency(struct passes *p, unsigned round)
{
	struct execute_options options = p->setup->execute;
	struct execute_figures figures;
	int r;

	options.latency = true;
	r = run_once(p, &options, &figures);
	if (r < 0)
		return r;
	replay_totals_add(p->totals, &figures, true);
	return replay_result_latencies(p->result, round, &figures);
}

static int run_all(struct passes *p)
{
	const struct replay_setup *s = p->setup;
	struct execute_figures figures;
	int r = 0;

	for (unsigned i = 0; i < s->warmup && r >= 0; i++)
		r = run_once(p, &s->execute, &figures);
	for (unsigned i = 0; i < s->repeat && r >= 0; i++)
		r = run_timed(p, i);
	for (unsigned i = 0; i < s->repeat && r >= 0 && !s->no_latency; i++)
		r = run_latency(p, i);
	return r;
}

int replay_passes_run(const struct replay_setup *setup, const struct plan *plan,
                      struct result *result, struct replay_totals *totals)
{
	struct passes p = { .setup = setup, .plan = plan, .result = result, .totals = totals };
	int r;

	memset(totals, 0, sizeof(*totals));
	totals->elapsed = calloc(setup->repeat, sizeof(*totals->elapsed));
	r = totals->elapsed ? run_all(&p) : -ENOMEM;
	if (r == -ENOMEM)
		log_error("not enough memory for the result");
	trace_meta_free(p.counters.before);
	trace_meta_free(p.counters.after);
	return r;
}
