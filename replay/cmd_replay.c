/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `replay`: compile a trace, run it under measurement, write the result. */

#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "replay/memory.h"
#include "replay/replay_passes.h"
#include "replay/sandbox.h"
#include "replay/space.h"

/* Beside its pages a task takes a stack slot, and a kernel's stack and structures. */
#define TASK_BYTES (64u << 10)
/* A process fresh from exec: libraries' pages that it writes, page tables, the kernel's own. */
#define ROOT_BYTES (1u << 20)

struct replay {
	struct replay_setup setup;
	struct trace_reader *reader;
	struct plan plan;
	struct measurement measured;
	struct replay_totals totals;
};

static int compile(struct replay *r)
{
	struct compile_options *options = &r->setup.compile;
	int error = trace_reader_new(&r->reader, r->setup.trace,
	                             options->incomplete ? TRACE_TOLERATE_DAMAGE : 0);

	if (error < 0)
		return error;
	replay_compile_defaults(options, trace_reader_meta(r->reader));
	return plan_compile(&r->plan, r->reader, options);
}

static double gib(uint64_t bytes)
{
	return (double)bytes / (1 << 30);
}

static int check_tasks(const struct replay *r)
{
	uint64_t most = sandbox_max_tasks(), copies = r->setup.execute.copies;

	if (r->plan.header->counts.peak_tasks <= most / copies)
		return 0;
	log_error("%s: %llu copies of %llu tasks at once are more than the %llu allowed here",
	          r->setup.trace, (unsigned long long)copies,
	          (unsigned long long)r->plan.header->counts.peak_tasks, (unsigned long long)most);
	return -E2BIG;
}

/* That of all copies; what they were given and what their tasks take by themselves. */
static uint64_t memory_needed(const struct replay *r)
{
	const struct plan_header *h = r->plan.header;
	uint64_t need;

	if (__builtin_add_overflow(h->counts.peak_bytes, (uint64_t)h->task_count * TASK_BYTES,
	                           &need) ||
	    __builtin_mul_overflow(need, (uint64_t)r->setup.execute.copies, &need))
		return UINT64_MAX;
	return need;
}

/* Under a limit that the replaying processes themselves do not fit in, nothing would run. */
static int check_limit(const struct replay *r)
{
	const struct pass_setup *s = &r->setup.pass;
	uint64_t copies = r->setup.execute.copies / (s->groups ? s->groups : 1);
	uint64_t least = copies * (r->plan.header->root_count * ROOT_BYTES +
	                           r->plan.header->task_count * (uint64_t)TASK_BYTES);

	if (!s->memory_max || s->memory_max >= least)
		return 0;
	log_error("--memory-max: the replay's own processes need %.1f MiB in each cgroup",
	          (double)least / (1 << 20));
	return -EINVAL;
}

static int say_memory(const struct replay *r, uint64_t need, uint64_t have, const char *where)
{
	if (r->setup.pass.force) {
		log_warn("%s: a replay needs %.2f GiB, and %.2f GiB%s are available",
		         r->setup.trace, gib(need), gib(have), where);
		return 0;
	}
	log_error("%s: a replay needs %.2f GiB, and %.2f GiB%s are available: fewer --copies, a "
	          "cut trace, or --force",
	          r->setup.trace, gib(need), gib(have), where);
	return -ENOMEM;
}

/* What a limit keeps out of memory has to find room in swap. */
static int check_limited_memory(const struct replay *r, uint64_t need, uint64_t held)
{
	uint64_t available = memory_available(), swap = memory_swap_free();

	if (held > available)
		return say_memory(r, held, available, "");
	if (need - held > swap)
		return say_memory(r, need, held + swap, " with --memory-max and swap");
	return 0;
}

static int check_memory(const struct replay *r)
{
	const struct pass_setup *s = &r->setup.pass;
	uint64_t available = memory_available(), need = memory_needed(r), held;

	if (s->memory_max && !__builtin_mul_overflow(s->memory_max, (uint64_t)s->groups, &held) &&
	    held < need)
		return check_limited_memory(r, need, held);
	return need <= available ? 0 : say_memory(r, need, available, "");
}

/* Settings of huge pages decide how many faults there are. */
static void warn_of_settings(const struct replay *r)
{
	const struct trace_meta *trace = trace_reader_meta(r->reader);
	const char *key, *want, *have;

	for (size_t i = 0; i < trace_meta_count(trace); i++) {
		trace_meta_at(trace, i, &key, &want);
		if (strcmp(key, META_THP) && strcmp(key, META_THP_DEFRAG) &&
		    strncmp(key, META_THP_SIZE_PREFIX, strlen(META_THP_SIZE_PREFIX)))
			continue;
		have = trace_meta_get(r->measured.before, key);
		if (have && strcmp(want, have))
			log_warn("%s is '%s' here and was '%s' when the trace was recorded", key,
			         have, want);
	}
}

static int measure(struct replay *r)
{
	int error = measurement_begin(&r->measured);

	if (error < 0)
		return error;
	warn_of_settings(r);
	return replay_passes_run(&r->setup, &r->plan, &r->measured, &r->totals);
}

static int write_result(struct replay *r)
{
	const char *file = measurement_file(&r->measured);
	int error;

	if (!file)
		return 0;
	error = replay_result_provenance(&r->measured, &r->setup, r->reader);
	if (error >= 0)
		error = replay_result_fidelity(r->measured.result, &r->setup, r->reader, &r->plan,
		                               &r->totals);
	if (error < 0) {
		log_error("%s: cannot make the result: %s", file, strerror(-error));
		return error;
	}
	return measurement_write(&r->measured);
}

static uint64_t planned(const struct replay *r)
{
	return r->plan.header->counts.operations * r->setup.execute.copies;
}

/* Of tasks that another one's exec killed before their end. */
static uint64_t undone(const struct replay *r)
{
	return planned(r) > r->totals.last.operations ? planned(r) - r->totals.last.operations : 0;
}

/* Exit status of a replay that ran: what a verdict must not rest on is said in one line. */
static int judge(const struct replay *r)
{
	const struct trace_status *status = trace_reader_status(r->reader);

	if (r->totals.mismatches)
		log_warn("%s: %llu results differ from the recorded ones", r->setup.trace,
		         (unsigned long long)r->totals.mismatches);
	if (undone(r))
		log_warn("%s: %llu of %llu operations were not done", r->setup.trace,
		         (unsigned long long)undone(r), (unsigned long long)planned(r));
	if (!status->complete)
		log_warn("%s: the trace is incomplete (at least %llu events lost)", r->setup.trace,
		         (unsigned long long)status->lost);
	if (r->totals.streamed)
		log_warn("%s: the plan was too large to be held in memory: times mean little",
		         r->setup.trace);
	if (observer_dropped(r->measured.observer))
		log_warn("%llu events or samples of lock sources were dropped: no verdict on them",
		         (unsigned long long)observer_dropped(r->measured.observer));
	return r->totals.mismatches || undone(r) || !status->complete || r->totals.streamed ||
	                       observer_dropped(r->measured.observer)
	               ? STATUS_INCOMPLETE
	               : STATUS_DONE;
}

static int run_all(struct replay *r)
{
	const struct replay_setup *s = &r->setup;
	int error, written;

	error = measurement_open(&r->measured, &s->pass);
	if (error >= 0)
		error = compile(r);
	if (error >= 0)
		error = check_tasks(r);
	if (error >= 0)
		error = check_limit(r);
	if (error >= 0)
		error = check_memory(r);
	if (error >= 0)
		error = measure(r);
	measurement_restore(&r->measured);
	if (error < 0)
		return STATUS_FAILED;
	written = write_result(r);
	if (!measurement_file(&r->measured) || !log_is_quiet())
		replay_summary(measurement_file(&r->measured) ? stderr : stdout, s, &r->plan,
		               &r->totals);
	return written < 0 ? STATUS_FAILED : judge(r);
}

static int run(int argc, char **argv)
{
	struct replay r = { .plan = { .fd = -1 } };
	int status = replay_options_parse(&r.setup, argc, argv);

	if (status)
		status = status == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	else
		status = run_all(&r);
	measurement_clear(&r.measured);
	free(r.totals.elapsed);
	if (r.plan.header)
		plan_release(&r.plan);
	trace_reader_free(r.reader);
	pass_setup_clear(&r.setup.pass);
	return status;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "replay a trace under measurement",
	.run = run,
};
