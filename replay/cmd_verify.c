/* SPDX-License-Identifier: GPL-2.0-or-later */
/* mmtape verify: replay a trace (or run a program), capture that, compare. */

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "capture/record.h"
#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"
#include "replay/replay_options.h"
#include "replay/verify_report.h"

#define MAX_REPLAY_ARGS 32

struct verify_setup {
	unsigned place, order, format;
	const char *pace, *keep;
	bool incomplete, force;
	const char *trace;
	char *const *program; /* NULL: replay */
	char directory[PATH_MAX]; /* of the capture, removed at the end unless kept */
	char capture[PATH_MAX], result[PATH_MAX];
};

static void reader_cleanup(struct trace_reader **reader)
{
	trace_reader_free(*reader);
}

static int scratch_make(struct verify_setup *s)
{
	const char *base = getenv("TMPDIR");

	snprintf(s->directory, sizeof(s->directory), "%s/mmtape-verify-XXXXXX",
	         base && *base ? base : "/tmp");
	if (!mkdtemp(s->directory)) {
		int r = error_errno();

		log_error("%s: cannot make a directory: %s", s->directory, strerror(-r));
		s->directory[0] = 0;
		return r;
	}
	snprintf(s->result, sizeof(s->result), "%.*s/run.json", PATH_MAX - 32, s->directory);
	if (s->keep)
		snprintf(s->capture, sizeof(s->capture), "%s", s->keep);
	else
		snprintf(s->capture, sizeof(s->capture), "%.*s/run.mmt.zst", PATH_MAX - 32,
		         s->directory);
	return 0;
}

static void scratch_remove(struct verify_setup *s)
{
	if (!s->directory[0])
		return;
	if (!s->keep)
		unlink(s->capture);
	unlink(s->result);
	rmdir(s->directory);
}

/* The THP setting of the recording, when this kernel has another one. A file may say anything. */
static const char *thp_needed(const struct trace_meta *trace, struct trace_meta *here)
{
	const char *want = trace_meta_get(trace, META_THP), *have = trace_meta_get(here, META_THP);

	return want && have && strcmp(want, have) && settings_thp_is_mode(want) ? want : NULL;
}

static void replay_args(const struct verify_setup *s, const char *thp, char *args[])
{
	size_t n = 0;

	args[n++] = (char *)"/proc/self/exe";
	args[n++] = (char *)"replay";
	args[n++] = (char *)"--quiet";
	args[n++] = (char *)"--marks";
	args[n++] = (char *)"--no-latency";
	args[n++] = (char *)"--repeat=1";
	args[n++] = (char *)"--warmup=0";
	args[n++] = (char *)"--place";
	args[n++] = (char *)replay_place_names[s->place];
	args[n++] = (char *)"--order";
	args[n++] = (char *)replay_order_names[s->order];
	if (s->pace) {
		args[n++] = (char *)"--pace";
		args[n++] = (char *)s->pace;
	}
	if (thp) {
		args[n++] = (char *)"--thp";
		args[n++] = (char *)thp;
	}
	if (s->incomplete)
		args[n++] = (char *)"--incomplete";
	if (s->force)
		args[n++] = (char *)"--force";
	args[n++] = (char *)"-o";
	args[n++] = (char *)s->result;
	args[n++] = (char *)"--";
	args[n++] = (char *)s->trace;
	args[n] = NULL;
}

/* Runs the replay or the program under the recorder. */
static int run_captured(struct verify_setup *s, const char *thp, struct verify_outcome *o)
{
	char *args[MAX_REPLAY_ARGS];
	struct record_options record = { .output = s->capture,
		                         .raw_addresses = true,
		                         .no_names = true };
	struct record_summary summary = { 0 };
	int r;

	replay_args(s, thp, args);
	record.command = s->program ? s->program : args;
	r = record_run(&record, &summary);
	if (r < 0)
		return r;
	o->lost = summary.lost;
	if (summary.interrupted) {
		/* A replay that lived to see the signal has said so itself. */
		if (s->program || !summary.command_ended || WIFSIGNALED(summary.command_status))
			log_error("%s: stopped by a signal, nothing was compared", s->trace);
		return -EINTR;
	}
	/* With mismatches a replay ends as incomplete: what they are shows below. */
	if (!s->program && summary.command_status &&
	    !(WIFEXITED(summary.command_status) &&
	      WEXITSTATUS(summary.command_status) == STATUS_INCOMPLETE)) {
		log_error("%s: the replay under the recorder failed: run `mmtape replay` on it to "
		          "see why",
		          s->trace);
		return -ECHILD;
	}
	return 0;
}

/*
 * Lists of the trace in the plan's numbering. Both number tasks by lineage, the
 * plan with roots first: the n-th task of an id is the same in both.
 */
static int match_tasks(struct verify_lists *trace, const struct verify_lists *plan)
{
	struct verify_list *tasks = calloc(plan->count ? plan->count : 1, sizeof(*tasks));

	if (!tasks)
		return -ENOMEM;
	for (size_t i = 0; i < plan->count; i++) {
		tasks[i].id = plan->tasks[i].id;
		for (size_t j = 0; j < trace->count; j++)
			if (trace->tasks[j].count && trace->tasks[j].id == plan->tasks[i].id) {
				tasks[i] = trace->tasks[j];
				trace->tasks[j] = (struct verify_list){ 0 };
				break;
			}
	}
	for (size_t j = 0; j < trace->count; j++)
		free(trace->tasks[j].ops);
	free(trace->tasks);
	trace->tasks = tasks;
	trace->count = plan->count;
	return 0;
}

static void compare_lists(struct verify_report *report, const struct verify_lists *want,
                          const struct verify_lists *got, unsigned rules)
{
	static const struct verify_list none;
	size_t count = want->count > got->count ? want->count : got->count;

	for (size_t i = 0; i < count; i++)
		verify_compare(report, i < want->count ? &want->tasks[i] : &none,
		               i < got->count ? &got->tasks[i] : &none, rules);
}

static uint64_t lists_seen(const struct verify_lists *lists)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < lists->count; i++)
		seen += !!lists->tasks[i].seen;
	return seen;
}

/* Against the windows that a replay marked in what was captured. */
static int compare_windows(struct verify_outcome *o, struct verify_lists *trace,
                           const struct plan *plan, const struct verify_lists *windows,
                           unsigned rules)
{
	struct verify_lists merged = { 0 }, engine = { 0 };
	int r = verify_from_plan(&merged, plan, true);

	if (r >= 0)
		r = verify_from_plan(&engine, plan, false);
	if (r >= 0)
		r = match_tasks(trace, &merged);
	if (r >= 0) {
		compare_lists(&o->plan, trace, &merged,
		              rules | VERIFY_PLAN |
		                      (rules & VERIFY_ALIGNMENT ? 0 : VERIFY_CLIPPED));
		compare_lists(&o->run, &engine, windows, rules);
		o->tasks = plan->header->task_count;
		o->tasks_missing = o->tasks - lists_seen(windows);
	}
	verify_lists_clear(&merged);
	verify_lists_clear(&engine);
	return r;
}

static int compare_capture(struct verify_setup *s, struct verify_outcome *o,
                           struct verify_lists *trace, const struct plan *plan)
{
	_cleanup_(reader_cleanup) struct trace_reader *run = NULL;
	struct verify_lists got = { 0 };
	unsigned rules = s->place == PLACE_TRACED ? VERIFY_ALIGNMENT : 0;
	int r = trace_reader_new(&run, s->capture, 0);

	if (r >= 0)
		r = verify_from_windows(&got, run, plan->header->task_count);
	if (r >= 0 && lists_seen(&got)) {
		o->faults_outside = got.faults_outside;
		o->faults_replayed = got.faults;
		r = compare_windows(o, trace, plan, &got, rules);
	} else if (r >= 0 && !s->program) {
		log_error("%s: the replay left no marks in its capture", s->trace);
		r = -ENODATA;
	} else if (r >= 0) {
		verify_lists_clear(&got);
		r = trace_reader_rewind(run);
		if (r >= 0)
			r = verify_from_trace(&got, run);
		o->faults_replayed = got.faults;
		o->tasks = trace->count;
		/* Where a program's memory lies is the kernel's choice. */
		compare_lists(&o->run, trace, &got, 0);
	}
	verify_lists_clear(&got);
	return r;
}

static int verify_with_plan(struct verify_setup *s, struct trace_reader *reader,
                            const struct plan *plan, struct verify_outcome *o)
{
	struct verify_lists trace = { 0 };
	struct trace_meta *here = NULL;
	const char *thp = NULL;
	int r = trace_reader_rewind(reader);

	if (r >= 0)
		r = verify_from_trace(&trace, reader);
	if (r >= 0)
		r = trace_meta_new(&here);
	if (r >= 0)
		r = settings_describe(here);
	if (r >= 0)
		thp = thp_needed(trace_reader_meta(reader), here);
	o->faults_recorded = trace.faults;
	o->faults_allowed = verify_faults_allowed(trace.faults);
	o->faults_compared = !thp || !s->program;
	o->faults_why = "the huge-page settings are not those of the recording";
	o->orphans = trace.orphans;
	if (r >= 0)
		r = run_captured(s, thp, o);
	if (r >= 0)
		r = compare_capture(s, o, &trace, plan);
	verify_lists_clear(&trace);
	trace_meta_free(here);
	return r;
}

static int verify_trace(struct verify_setup *s, struct verify_outcome *o)
{
	_cleanup_(reader_cleanup) struct trace_reader *reader = NULL;
	struct compile_options options = { .placement = s->place,
		                           .order = s->order,
		                           .incomplete = s->incomplete,
		                           .rules = RULE_ALL };
	struct plan plan = { .fd = -1 };
	int r = trace_reader_new(&reader, s->trace, 0);

	if (r < 0)
		return r;
	replay_compile_defaults(&options, trace_reader_meta(reader));
	r = plan_compile(&plan, reader, &options);
	if (r >= 0)
		r = verify_with_plan(s, reader, &plan, o);
	plan_release(&plan);
	return r;
}

static int run_verify(int argc, char **argv)
{
	static struct verify_setup s;
	static struct verify_outcome o;
	const struct option options[] = {
		{ 0, "place", OPTION_CHOICE, &s.place, "WHERE",
		  "where mappings go: traced (default), kernel or thp-aligned",
		  "traced,kernel,thp-aligned", NULL, false },
		{ 0, "order", OPTION_CHOICE, &s.order, "ORDER", "deps (default) or serial",
		  "deps,serial", NULL, false },
		{ 0, "pace", OPTION_STRING, &s.pace, "PACE", "asap (default), recorded or xN", NULL,
		  NULL, false },
		{ 0, "format", OPTION_CHOICE, &s.format, "FORMAT", "text (default) or json",
		  "text,json", NULL, false },
		{ 0, "keep", OPTION_STRING, &s.keep, "FILE", "keep the capture of the run", NULL,
		  NULL, false },
		{ 0, "incomplete", OPTION_FLAG, &s.incomplete, NULL,
		  "go on although the trace lost events", NULL, NULL, false },
		{ 0, "force", OPTION_FLAG, &s.force, NULL, "go on although memory may not suffice",
		  NULL, NULL, false },
		{ 0 },
	};
	const struct option_spec spec = {
		.usage = "mmtape verify [options] TRACE [-- PROGRAM [ARG…]]",
		.about = "Replays TRACE under the recorder, or runs PROGRAM, and compares what "
			 "happened with what TRACE recorded, operation by operation. Exits 0 only "
			 "when they are equal.",
		.options = options,
	};
	int operands, r = options_parse(&spec, argc, argv, &operands);

	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands < 1) {
		log_error("verify: no trace given: `mmtape verify --help` shows the usage");
		return STATUS_USAGE;
	}
	s.trace = argv[1];
	s.program = operands > 1 ? argv + 2 : NULL;
	r = scratch_make(&s);
	if (r >= 0)
		r = verify_trace(&s, &o);
	scratch_remove(&s);
	if (r < 0)
		return STATUS_FAILED;
	if (s.format)
		verify_outcome_json(&o);
	else
		verify_outcome_text(&o);
	if (o.lost) {
		log_error("%s: %llu events were lost while the run was captured: not verified",
		          s.trace, (unsigned long long)o.lost);
		return STATUS_INCOMPLETE;
	}
	return verify_outcome_equal(&o) ? STATUS_DONE : STATUS_FAILED;
}

const struct command command_verify = {
	.name = "verify",
	.summary = "replay a trace, capture that, and compare operation by operation",
	.run = run_verify,
};
