/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Figures of a run, and what to say when one ended early. */

#include <string.h>
#include <sys/wait.h>

#include "common/log.h"
#include "replay/execute_run.h"

static uint64_t less(uint64_t from, uint64_t what)
{
	return from > what ? from - what : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void collect_task(const struct state_task *t, struct execute_figures *out)
{
	out->operations += t->operations;
	out->touches += t->touches;
	out->segv += t->segv;
	out->sigbus += t->sigbus;
	out->mismatches += t->mismatches;
	out->slept += t->slept;
	out->refused += t->refused;
	out->overhead_minor += t->minor_own;
	out->overhead_major += t->major_own;
	out->overhead_user += t->cpu_own; /* divided when all are summed */
	out->drift_max = larger(out->drift_max, t->drift_max);
	out->drift_sum += t->drift_sum;
	out->peak_in_flight = larger(out->peak_in_flight, t->peak_in_flight);
	out->peak_alive = larger(out->peak_alive, t->peak_alive);
}

/* The value below which so many of 100 lie: the floor of the bucket that holds it. */
static uint64_t percentile(const uint64_t *buckets, uint64_t count, unsigned percent)
{
	uint64_t rank = (count * percent + 99) / 100, seen = 0;

	for (unsigned b = 0; b < LATENCY_BUCKETS; b++) {
		seen += buckets[b];
		if (seen >= rank)
			return state_latency_floor(b);
	}
	return state_latency_floor(LATENCY_BUCKETS - 1);
}

static void collect_latency(const struct run *run, unsigned kind, struct execute_latency *out)
{
	uint64_t buckets[LATENCY_BUCKETS] = { 0 };
	uint32_t rows = run_state_rows(run->plan->header->task_count);

	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		for (uint32_t row = 0; row < rows; row++) {
			const struct state_latency *l =
				run_state_latency(&run->states[copy], row) + kind;

			out->count += l->count;
			out->sum += l->sum;
			out->max = larger(out->max, l->max);
			for (unsigned b = 0; b < LATENCY_BUCKETS; b++)
				buckets[b] += l->bucket[b];
		}
	if (!out->count)
		return;
	out->p50 = percentile(buckets, out->count, 50);
	out->p99 = percentile(buckets, out->count, 99);
}

static void collect_mismatches(const struct state_header *h, struct execute_figures *out)
{
	for (uint32_t i = 0; i < STATE_MISMATCHES && out->first_count < STATE_MISMATCHES; i++)
		if (h->mismatch[i].set)
			out->first[out->first_count++] = h->mismatch[i];
}

/* Without the kernel's choice it is known beforehand where a mapping comes to lie. */
static uint64_t count_aligned(const struct run *run)
{
	const struct plan_header *h = run->plan->header;
	uint64_t count = 0;

	if (h->placement == PLACE_TRACED)
		return h->counts.placed_aligned;
	if (h->placement == PLACE_THP_ALIGNED)
		return h->counts.placed_large;
	for (uint32_t t = 0; t < h->task_count; t++)
		count += run_state_task(&run->states[0], t)->placed_aligned;
	return count;
}

/* What the replayer took of user and system time, in the proportion of the whole. */
static void divide_overhead(const struct run_report *report, struct execute_figures *out)
{
	double own = (double)out->overhead_user, all = (double)(report->user + report->system);

	if (!report->user)
		out->overhead_user = 0;
	else
		out->overhead_user = (uint64_t)(own * (double)report->user / all);
	out->overhead_system = (uint64_t)own - out->overhead_user;
}

void run_collect(const struct run *run, struct execute_figures *out)
{
	const struct run_report *report = run->report;

	memset(out, 0, sizeof(*out));
	for (uint32_t copy = 0; copy < run->options->copies; copy++) {
		for (uint32_t t = 0; t < run->plan->header->task_count; t++)
			collect_task(run_state_task(&run->states[copy], t), out);
		collect_mismatches(run->states[copy].header, out);
	}
	if (run->options->latency)
		for (unsigned kind = 0; kind < PLAN_KIND_COUNT; kind++)
			collect_latency(run, kind, &out->latency[kind]);
	out->peak_alive = larger(out->peak_alive, run->plan->header->root_count);
	out->placed_aligned = count_aligned(run);
	out->mappings = run->states[0].header->mappings;
	out->elapsed = report->elapsed;
	divide_overhead(report, out);
	out->user = less(report->user, out->overhead_user);
	out->system = less(report->system, out->overhead_system);
	out->faults_minor = less(report->faults_minor, out->overhead_minor);
	out->faults_major = less(report->faults_major, out->overhead_major);
	out->plan_streamed = report->streamed;
}

uint64_t run_progress(const struct run *run, bool *asleep)
{
	uint64_t sum = 0;

	*asleep = false;
	for (uint32_t copy = 0; copy < run->options->copies; copy++) {
		sum += run->states[copy].header->ready;
		for (uint32_t t = 0; t < run->plan->header->task_count; t++) {
			const struct state_task *task = run_state_task(&run->states[copy], t);

			sum += task->operations + task->touches + task->phase + task->done;
			if (task->phase == PHASE_SLEEP)
				*asleep = true;
		}
	}
	return sum;
}

bool run_only_parked(const struct run *run)
{
	bool any = false;

	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		for (uint32_t t = 0; t < run->plan->header->task_count; t++) {
			const struct state_task *task = run_state_task(&run->states[copy], t);

			any |= task->phase == PHASE_PARKED;
			if (!task->done && task->phase != PHASE_NONE && task->phase != PHASE_PARKED)
				return false;
		}
	return any;
}

static const char *phase_name(uint32_t phase)
{
	static const char *const names[] = {
		[PHASE_NONE] = "not started",  [PHASE_RUN] = "running",
		[PHASE_WAIT] = "waiting",      [PHASE_SLEEP] = "asleep until its time",
		[PHASE_PARKED] = "at its end", [PHASE_EXEC] = "between two spaces",
		[PHASE_GONE] = "gone",
	};

	return phase < sizeof(names) / sizeof(names[0]) ? names[phase] : "in disorder";
}

/* One line for each of the first few tasks that are neither gone nor at their end. */
static void describe_stuck(const struct run *run)
{
	char text[256];
	unsigned said = 0;

	for (uint32_t t = 0; t < run->plan->header->task_count && said < 8; t++) {
		const struct state_task *task = run_state_task(&run->states[0], t);

		if (task->phase == PHASE_NONE || task->phase == PHASE_PARKED ||
		    task->phase == PHASE_GONE)
			continue;
		plan_describe(run->plan, t, task->operations, text, sizeof(text));
		if (task->phase == PHASE_WAIT)
			log_info("  %s: waiting for task %u to finish operation %llu", text,
			         task->wait_task, (unsigned long long)task->wait_ordinal);
		else
			log_info("  %s: %s", text, phase_name(task->phase));
		said++;
	}
}

static const struct state_header *failed_state(const struct run *run)
{
	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		if (run->states[copy].header->failed)
			return run->states[copy].header;
	return NULL;
}

static void explain_failure(const struct run *run, const struct state_header *h)
{
	const struct state_task *task = (const struct state_task *)((const char *)h + h->tasks);
	char text[256];

	if (h->failed == FAILURE_SETUP || h->failed_task >= h->task_count)
		return;
	plan_describe(run->plan, h->failed_task, task[h->failed_task].operations, text,
	              sizeof(text));
	switch (h->failed) {
	case FAILURE_SPAWN:
		log_error("%s: cannot make the task: %s", text, strerror(h->failed_error));
		break;
	case FAILURE_EXEC:
		log_error("%s: cannot exec: %s", text, strerror(h->failed_error));
		break;
	case FAILURE_LIMIT:
		log_error("%s: more than %u tasks alive at once", text, h->max_alive);
		break;
	case FAILURE_CHILD:
		if (WIFSIGNALED(h->failed_error))
			log_error("%s: killed by signal %d", text, WTERMSIG(h->failed_error));
		else
			log_error("%s: ended early", text);
		break;
	default:
		log_error("%s: the plan holds what is no operation", text);
	}
}

static void explain_lost(const struct run *run)
{
	const struct run_report *report = run->report;
	char text[256] = "a replaying process";

	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		for (uint32_t t = 0; t < run->plan->header->task_count; t++) {
			const struct state_task *task = run_state_task(&run->states[copy], t);

			if (task->pid == report->lost_pid)
				plan_describe(run->plan, t, task->operations, text, sizeof(text));
		}
	if (WIFSIGNALED(report->lost_status))
		log_error("%s: killed by signal %d%s", text, WTERMSIG(report->lost_status),
		          WTERMSIG(report->lost_status) == 9 ? " (out of memory?)" : "");
	else
		log_error("%s: ended early", text);
}

void run_explain(const struct run *run, int error, int conductor_status)
{
	const struct state_header *failed = failed_state(run);

	if (error == -EINTR) {
		log_error("replay stopped by a signal");
	} else if (failed) {
		explain_failure(run, failed);
	} else if (error == -ETIMEDOUT) {
		log_error("no progress for %.1f s: the replay is stuck and was ended",
		          (double)run->options->timeout / 1e9);
		describe_stuck(run);
	} else if (run->report->said) {
		return;
	} else if (run->report->lost_pid) {
		explain_lost(run);
	} else if (WIFSIGNALED(conductor_status)) {
		log_error("the replay's conductor was killed by signal %d",
		          WTERMSIG(conductor_status));
	} else {
		log_error("the replay ended early: %s", strerror(-error));
	}
}
