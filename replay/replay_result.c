/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of a replay's result. docs/metrics.md says what each metric is. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "replay/replay_result.h"

#define MAX_NAME 200

int replay_result_values(struct result *r, const struct execute_figures *f,
                         const struct pass_counters *counters)
{
	const struct {
		const char *name;
		double value;
	} values[] = {
		{ "waits.slept", (double)f->slept },
		{ "overhead.system", (double)f->overhead_system / 1e9 },
		{ "overhead.user", (double)f->overhead_user / 1e9 },
		{ "overhead.faults", (double)f->overhead_minor + (double)f->overhead_major },
	};
	const struct pass_usage usage = { f->elapsed, f->user, f->system, f->faults_minor,
		                          f->faults_major };
	int error = pass_usage_values(r, &usage);

	for (size_t i = 0; i < ARRAY_SIZE(values) && error >= 0; i++)
		error = result_value(r, values[i].name, values[i].value);
	if (error >= 0)
		error = pass_counter_values(r, counters);
	return error;
}

static int add_latency(struct result *r, unsigned kind, const struct execute_latency *l)
{
	const struct {
		const char *name;
		double value;
	} values[] = {
		{ "mean", (double)l->sum / (double)l->count },
		{ "p50", (double)l->p50 },
		{ "p99", (double)l->p99 },
		{ "max", (double)l->max },
	};
	char name[MAX_NAME];
	int error = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values) && error >= 0; i++) {
		snprintf(name, sizeof(name), "latency.%s.%s", plan_kind_name((enum plan_kind)kind),
		         values[i].name);
		for (char *c = name; *c; c++)
			if (*c == ' ')
				*c = '_';
		error = result_value(r, name, values[i].value);
	}
	return error;
}

int replay_result_latencies(struct result *r, const struct execute_figures *f)
{
	int error = 0;

	for (unsigned kind = 0; kind < PLAN_KIND_COUNT && error >= 0; kind++)
		if (f->latency[kind].count)
			error = add_latency(r, kind, &f->latency[kind]);
	return error;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

void replay_totals_check(struct replay_totals *t, const struct execute_figures *f)
{
	t->mismatches = larger(t->mismatches, f->mismatches);
	if (f->mismatches || !t->last.mismatches)
		t->last = *f;
	t->peak_alive = larger(t->peak_alive, f->peak_alive);
}

double replay_units(const struct plan *plan, uint32_t copies, const struct execute_figures *f)
{
	uint64_t calls = 0;

	for (unsigned call = 0; call < CALL_COUNT; call++)
		calls += plan->header->counts.calls[call];
	return (double)calls * copies + (double)f->touches;
}

void replay_totals_add(struct replay_totals *t, const struct execute_figures *f, bool latency)
{
	if (latency) {
		t->peak_in_flight = larger(t->peak_in_flight, f->peak_in_flight);
		t->mappings = f->mappings;
		return;
	}
	t->elapsed[t->count++] = (double)f->elapsed / 1e9;
	t->user += ((double)f->user / 1e9 - t->user) / t->count;
	t->system += ((double)f->system / 1e9 - t->system) / t->count;
	t->faults += ((double)(f->faults_minor + f->faults_major) - t->faults) / t->count;
	t->drift_max = larger(t->drift_max, f->drift_max);
	t->drift_sum += f->drift_sum;
	t->streamed |= f->plan_streamed;
}

static void mean_and_spread(const struct replay_totals *t, double *mean, double *percent)
{
	double square = 0;

	*mean = *percent = 0;
	for (uint32_t i = 0; i < t->count; i++)
		*mean += t->elapsed[i] / t->count;
	for (uint32_t i = 0; i < t->count; i++)
		square += (t->elapsed[i] - *mean) * (t->elapsed[i] - *mean);
	if (t->count > 1 && *mean > 0)
		*percent = 100 * sqrt(square / (t->count - 1)) / *mean;
}

void replay_summary(FILE *to, const struct replay_setup *setup, const struct plan *plan,
                    const struct replay_totals *t)
{
	const struct plan_header *h = plan->header;
	char text[512];
	double mean, percent;

	mean_and_spread(t, &mean, &percent);
	fprintf(to,
	        "replayed     %llu operations of %u tasks, %u of them at the start, in %s "
	        "placement "
	        "and %s order\n",
	        (unsigned long long)h->counts.operations, h->task_count, h->root_count,
	        replay_place_names[setup->place], replay_order_names[setup->order]);
	if (t->count)
		fprintf(to,
		        "elapsed      %.6f s ± %.1f%%, mean of %u; user %.6f s, system %.6f s\n",
		        mean, percent, t->count, t->user, t->system);
	fprintf(to, "faults       %llu touches for %llu recorded",
	        (unsigned long long)t->last.touches, (unsigned long long)h->counts.recorded_faults);
	if (t->count)
		fprintf(to, "; %.0f counted, populated pages too", t->faults);
	fputc('\n', to);
	if (t->peak_in_flight)
		fprintf(to, "in flight    %llu calls at once, %llu recorded\n",
		        (unsigned long long)t->peak_in_flight,
		        (unsigned long long)h->counts.peak_calls);
	if (setup->execute.pace)
		fprintf(to, "drift        at most %.3f ms behind the pace\n",
		        (double)t->drift_max / 1e6);
	fprintf(to, "mismatches   %llu\n", (unsigned long long)t->mismatches);
	for (uint32_t i = 0; i < t->last.first_count && i < 8; i++) {
		replay_describe_mismatch(plan, &t->last.first[i], text, sizeof(text));
		fprintf(to, "             %s\n", text);
	}
}
