/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The repetitions of a replay, each in processes of its own. */

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "replay/replay_passes.h"

struct replaying {
	const struct replay_setup *setup;
	const struct plan *plan;
	struct replay_totals *totals;
	const struct measurement *measured;
	struct execute_figures figures; /* of the last repetition */
};

static int run(void *arg, bool latency, pass_line *line, void *line_arg)
{
	struct replaying *w = arg;
	struct execute_options options = w->setup->execute;
	int r;

	options.latency = latency;
	options.at_line = line;
	options.at_line_arg = line_arg;
	options.groups = w->measured->groups;
	r = execute_run(w->plan, &options, &w->figures);
	/* A warm-up has no line, unless it is the latency pass. */
	if (r >= 0 && (line || latency))
		replay_totals_check(w->totals, &w->figures);
	return r;
}

static int time_values(void *arg, struct result *r, const struct pass_counters *counters)
{
	struct replaying *w = arg;

	replay_totals_add(w->totals, &w->figures, false);
	return replay_result_values(r, &w->figures, counters);
}

static int latency_values(void *arg, struct result *r)
{
	struct replaying *w = arg;

	replay_totals_add(w->totals, &w->figures, true);
	return replay_result_latencies(r, &w->figures);
}

static double operations(void *arg)
{
	const struct replaying *w = arg;

	/* An operation that is a run of touches is as many as it has touches. */
	return replay_units(w->plan, w->setup->execute.copies, &w->figures);
}

int replay_passes_run(const struct replay_setup *setup, const struct plan *plan,
                      struct measurement *m, struct replay_totals *totals)
{
	struct replaying w = { .setup = setup, .plan = plan, .totals = totals, .measured = m };
	const struct pass_work work = {
		.arg = &w,
		.run = run,
		.time_values = time_values,
		.latency_values = latency_values,
		.operations = operations,
	};
	size_t most = (size_t)setup->pass.repeat * SWEEP_MAX;

	memset(totals, 0, sizeof(*totals));
	totals->elapsed = calloc(most, sizeof(*totals->elapsed));
	if (!totals->elapsed) {
		log_error("not enough memory for the result");
		return -ENOMEM;
	}
	return measurement_run(m, &work, setup->no_latency);
}
