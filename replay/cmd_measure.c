/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `measure`: the measurement of a replay around any command. */

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats.h"
#include "capture/child.h"
#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "replay/command_id.h"
#include "replay/measure_command.h"
#include "replay/measure_options.h"
#include "replay/measurement.h"

/* The conductor and the command before its exec are in the group too. */
#define LEAST_LIMIT (1u << 20)

struct measuring {
	struct pass_setup setup;
	struct measure_command command;
	struct measurement measured;
	sigset_t mask; /* that we were started with */
	bool strict;
	char id[COMMAND_ID_SIZE];
	struct measure_figures last; /* of the last repetition */
	uint32_t runs, unlike; /* those that ended otherwise than the first one */
	int first_status, status; /* of the first run; the first that is not 0 */
	int exec_error;
	double *elapsed; /* s, of the timed repetitions */
	double user, system, faults; /* means of them */
	uint32_t timed;
};

static int run_once(void *arg, bool latency, pass_line *line, void *line_arg)
{
	struct measuring *m = arg;
	int r = measure_command_run(&m->command, line, line_arg, &m->last);

	m->exec_error = m->last.exec_error;
	if (r < 0)
		return r;
	if (!m->runs++)
		m->first_status = m->last.status;
	if (m->last.status != m->first_status)
		m->unlike++;
	if (!m->status)
		m->status = m->last.status;
	return 0;
}

static int time_values(void *arg, struct result *r, const struct pass_counters *counters)
{
	struct measuring *m = arg;
	const struct measure_figures *f = &m->last;
	const struct pass_usage usage = { f->elapsed, f->user, f->system, f->faults_minor,
		                          f->faults_major };
	int error = pass_usage_values(r, &usage);

	m->elapsed[m->timed++] = (double)f->elapsed / 1e9;
	m->user += ((double)f->user / 1e9 - m->user) / m->timed;
	m->system += ((double)f->system / 1e9 - m->system) / m->timed;
	m->faults += ((double)(f->faults_minor + f->faults_major) - m->faults) / m->timed;
	return error < 0 ? error : pass_counter_values(r, counters);
}

/* Who cannot read the program can still run it; then its bytes are not in the hash. */
static int identify(struct measuring *m)
{
	_cleanup_free_ char *path = NULL;
	int r = child_find(m->command.argv[0], &path);

	if (r < 0)
		m->exec_error = r;
	else if (command_id(m->command.argv, path, m->id) < 0)
		r = command_id(m->command.argv, NULL, m->id);
	return r;
}

/* With one run only is there somebody to whom the input belongs. */
static uint64_t count_runs(const struct measuring *m)
{
	const struct pass_setup *s = &m->setup;
	uint64_t sizes = s->sweep.count ? s->sweep.count : 1;
	uint64_t passes = !s->no_time + observer_passes(m->measured.observer);

	return sizes * (s->warmup + s->repeat * passes);
}

static int measure(struct measuring *m)
{
	const struct pass_work work = {
		.arg = m,
		.run = run_once,
		.time_values = time_values,
		.prints = true,
	};
	int r = measurement_begin(&m->measured);

	if (r < 0)
		return r;
	m->elapsed = calloc((size_t)m->setup.repeat * SWEEP_MAX, sizeof(*m->elapsed));
	if (!m->elapsed) {
		log_error("not enough memory for the result");
		return -ENOMEM;
	}
	m->command.mask = &m->mask;
	m->command.groups = m->measured.groups;
	m->command.no_input = count_runs(m) > 1;
	return measurement_run(&m->measured, &work, true);
}

static int put(json_t *object, const char *key, json_t *value)
{
	return value && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

/* Runs that end differently did different things: diff withholds its verdict then. */
static int describe(struct measuring *m)
{
	json_t *to = result_provenance(m->measured.result);
	json_t *fidelity = result_fidelity(m->measured.result);
	int r = measurement_provenance(&m->measured);

	if (r >= 0)
		r = put(to, "trace_id", json_string(m->id));
	if (r >= 0)
		r = put(to, "options", measurement_options(&m->setup));
	if (r >= 0)
		r = put(fidelity, "plan", json_pack("{s:i}", "status", m->first_status));
	return r < 0 ? r : put(fidelity, "mismatches", json_integer(m->unlike));
}

static int write_result(struct measuring *m)
{
	const char *file = measurement_file(&m->measured);
	int r;

	if (!file)
		return 0;
	r = describe(m);
	if (r < 0) {
		log_error("%s: cannot make the result: %s", file, strerror(-r));
		return r;
	}
	return measurement_write(&m->measured);
}

static void summarize(const struct measuring *m)
{
	struct stats elapsed = stats_of(m->elapsed, m->timed);

	if (m->timed)
		log_info("elapsed %.6f s ± %.1f%%, mean of %u; user %.6f s, system %.6f s, %.0f "
		         "faults",
		         elapsed.mean, stats_percent(&elapsed), m->timed, m->user, m->system,
		         m->faults);
	if (m->unlike)
		log_warn("%u of %u runs ended with another status than the first one, %d",
		         m->unlike, m->runs, m->first_status);
	if (observer_dropped(m->measured.observer))
		log_warn("%llu events or samples of lock sources were dropped: no verdict on them",
		         (unsigned long long)observer_dropped(m->measured.observer));
}

static int failure_status(const struct measuring *m)
{
	if (!m->exec_error)
		return STATUS_OWN_FAILURE;
	return m->exec_error == -ENOENT ? 127 : 126;
}

static int run_all(struct measuring *m)
{
	int r;

	sigprocmask(SIG_BLOCK, NULL, &m->mask);
	r = measurement_open(&m->measured, &m->setup);
	if (r >= 0)
		r = identify(m);
	if (r >= 0)
		r = measure(m);
	measurement_restore(&m->measured);
	if (r >= 0)
		r = write_result(m);
	if (r < 0)
		return failure_status(m);
	summarize(m);
	if (m->strict && observer_dropped(m->measured.observer))
		return STATUS_INCOMPLETE;
	return m->status;
}

/* As replay_options_parse(). */
static int parse(struct measuring *m, bool elsewhere, int argc, char **argv)
{
	const struct option options[] = {
		{ 0, "strict", OPTION_FLAG, &m->strict, NULL,
		  "exit with 3 if a source dropped events" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape measure [options] -- COMMAND [arguments]",
		"Measures a command with all its descendants: times, faults, counters of the "
		"kernel, locks. Its exit status is passed on, the first that is not 0; 125 is a "
		"failure of the measurement, 126 and 127 a command that cannot be run.",
		options,
		true,
	};
	int operands, r;

	pass_setup_defaults(&m->setup);
	m->setup.elsewhere = elsewhere;
	r = pass_setup_parse(&m->setup, &spec, argc, argv, &operands);
	if (r)
		return r;
	if (!operands) {
		log_error("no command to measure: mmtape measure -o FILE -- COMMAND");
		return -EINVAL;
	}
	if (m->setup.output && !strcmp(m->setup.output, "-")) {
		log_error("--output: standard output is the command's: give the name of a file");
		return -EINVAL;
	}
	if (m->setup.no_time && !strcmp(m->setup.sources, "none")) {
		log_error("--no-time and no --sources: nothing is left to measure");
		return -EINVAL;
	}
	if (m->setup.memory_max && m->setup.memory_max < LEAST_LIMIT) {
		log_error("--memory-max: the processes around a command alone need 1M");
		return -EINVAL;
	}
	m->command.argv = argv + 1;
	return 0;
}

int measure_options_check(struct pass_setup *setup, int argc, char **argv)
{
	struct measuring m = { 0 };
	int r = parse(&m, true, argc, argv);

	*setup = m.setup;
	return r;
}

static int run_measure(int argc, char **argv)
{
	struct measuring m = { 0 };
	int status = parse(&m, false, argc, argv);

	if (status)
		status = status == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	else
		status = run_all(&m);
	measurement_clear(&m.measured);
	free(m.elapsed);
	pass_setup_clear(&m.setup);
	return status;
}

const struct command command_measure = {
	.name = "measure",
	.summary = "measure a command as a replay is measured",
	.run = run_measure,
};
