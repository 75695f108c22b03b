/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `replay`: compile a trace, run it under measurement, write the result. */

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/output_file.h"
#include "replay/memory.h"
#include "replay/replay_passes.h"
#include "replay/sandbox.h"
#include "replay/space.h"

/* Beside its pages a task takes a stack slot, and a kernel's stack and structures. */
#define TASK_BYTES (64u << 10)

struct replay {
	struct replay_setup setup;
	struct trace_reader *reader;
	struct plan plan;
	struct settings_change *change;
	struct observer *observer;
	struct trace_meta *before, *after;
	struct result *result;
	struct replay_totals totals;
};

/* From here on a signal waits until it can be handled: settings are put back first. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

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

/* Said before the work, not after it. */
static int check_output(const struct replay_setup *s)
{
	if (!s->output || !strcmp(s->output, "-"))
		return 0;
	return output_file_check(s->output, s->force);
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

static int check_memory(const struct replay *r)
{
	const struct plan_header *h = r->plan.header;
	uint64_t available = memory_available(), need;

	if (__builtin_add_overflow(h->counts.peak_bytes, (uint64_t)h->task_count * TASK_BYTES,
	                           &need) ||
	    __builtin_mul_overflow(need, (uint64_t)r->setup.execute.copies, &need))
		need = UINT64_MAX;
	if (need <= available)
		return 0;
	if (r->setup.force) {
		log_warn("%s: a replay needs %.2f GiB, and %.2f GiB are available", r->setup.trace,
		         gib(need), gib(available));
		return 0;
	}
	log_error("%s: a replay needs %.2f GiB, and %.2f GiB are available: fewer --copies, a "
	          "cut trace, or --force",
	          r->setup.trace, gib(need), gib(available));
	return -ENOMEM;
}

static int change_settings(struct replay *r)
{
	const struct replay_setup *s = &r->setup;
	int error = settings_change_new(&r->change);

	if (error >= 0 && s->thp)
		error = settings_change_thp(r->change, s->thp);
	for (size_t i = 0; i < s->mthp.count && error >= 0; i++)
		error = settings_change_mthp(r->change, s->mthp.items[i]);
	if (error < 0)
		return error;
	/* Without root they stay as they are; the result says how they were. */
	if (geteuid() == 0 && settings_change_quiet(r->change) < 0)
		log_warn("khugepaged or NUMA balancing may run during the replay");
	return 0;
}

static int describe(struct trace_meta **out)
{
	int error = trace_meta_new(out);

	if (error >= 0)
		error = settings_describe(*out);
	if (error < 0)
		log_error("cannot read this kernel's settings: %s", strerror(-error));
	return error;
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
		have = trace_meta_get(r->before, key);
		if (have && strcmp(want, have))
			log_warn("%s is '%s' here and was '%s' when the trace was recorded", key,
			         have, want);
	}
}

static int measure(struct replay *r)
{
	const struct replay_setup *s = &r->setup;
	const struct pass_options options = {
		.repeat = s->repeat,
		.warmup = s->warmup,
		.no_time = s->no_time,
		.no_latency = s->no_latency,
		.observer = r->observer,
		.sweep = s->sweep_text ? &s->sweep : NULL,
		.change = r->change,
	};
	int error = describe(&r->before);

	if (error < 0)
		return error;
	warn_of_settings(r);
	error = result_new(&r->result);
	if (error >= 0)
		error = replay_passes_run(&r->setup, &r->plan, &options, r->result, &r->totals);
	if (error >= 0)
		error = describe(&r->after);
	return error;
}

static int write_result(struct replay *r)
{
	const struct replay_setup *s = &r->setup;
	int error;

	if (!s->output)
		return 0;
	error = replay_result_provenance(r->result, s, r->reader, r->before, r->after, r->observer);
	if (error >= 0)
		error = replay_result_fidelity(r->result, s, r->reader, &r->plan, &r->totals);
	if (error < 0) {
		log_error("%s: cannot make the result: %s", s->output, strerror(-error));
		return error;
	}
	return result_write(r->result, s->output, s->force);
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
	if (observer_dropped(r->observer))
		log_warn("%llu events or samples of lock sources were dropped: no verdict on them",
		         (unsigned long long)observer_dropped(r->observer));
	return r->totals.mismatches || undone(r) || !status->complete || r->totals.streamed ||
	                       observer_dropped(r->observer)
	               ? STATUS_INCOMPLETE
	               : STATUS_DONE;
}

static int run_all(struct replay *r)
{
	const struct replay_setup *s = &r->setup;
	int error, written;

	hold_signals();
	error = check_output(s);
	if (error >= 0)
		error = settings_recover();
	if (error >= 0)
		error = observer_new(&r->observer, s->sources, s->exclusive);
	if (error >= 0)
		error = compile(r);
	if (error >= 0)
		error = check_tasks(r);
	if (error >= 0)
		error = check_memory(r);
	if (error >= 0)
		error = change_settings(r);
	if (error >= 0)
		error = measure(r);
	r->change = settings_change_free(r->change);
	if (error < 0) {
		r->observer = observer_free(r->observer);
		return STATUS_FAILED;
	}
	written = write_result(r);
	if (!s->output || !log_is_quiet())
		replay_summary(s->output ? stderr : stdout, s, &r->plan, &r->totals);
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
	result_free(r.result);
	observer_free(r.observer);
	trace_meta_free(r.before);
	trace_meta_free(r.after);
	free(r.totals.elapsed);
	if (r.plan.header)
		plan_release(&r.plan);
	trace_reader_free(r.reader);
	option_list_clear(&r.setup.mthp);
	return status;
}

const struct command command_replay = {
	.name = "replay",
	.summary = "replay a trace under measurement",
	.run = run,
};
