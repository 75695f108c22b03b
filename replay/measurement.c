/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Around the passes: from the options to the file. */

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/output_file.h"
#include "replay/measurement.h"
#include "replay/primaries.h"

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

/* A result that cannot be added to is found before the work, not after it. */
static int check_append(const char *path)
{
	struct result *there;
	int r;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return output_file_check(path, false);
	r = result_read(&there, path);
	if (r < 0)
		return r;
	result_free(there);
	return output_file_check(path, true);
}

static int check_output(const struct pass_setup *s)
{
	if (s->append)
		return check_append(s->append);
	if (!s->output || !strcmp(s->output, "-"))
		return 0;
	return output_file_check(s->output, s->force);
}

int measurement_open(struct measurement *m, const struct pass_setup *setup)
{
	int r;

	*m = (struct measurement){ .setup = setup };
	hold_signals();
	r = check_output(setup);
	if (r >= 0)
		r = settings_recover();
	return r < 0 ? r
	             : observer_new(&m->observer, setup->sources, setup->exclusive,
	                            setup->together);
}

static int change_settings(struct measurement *m)
{
	const struct pass_setup *s = m->setup;
	int r = settings_change_new(&m->change);

	if (r >= 0 && s->thp)
		r = settings_change_thp(m->change, s->thp);
	for (size_t i = 0; i < s->mthp.count && r >= 0; i++)
		r = settings_change_mthp(m->change, s->mthp.items[i]);
	if (r < 0)
		return r;
	/* Without root they stay as they are; the result says how they were. */
	if (geteuid() == 0 && settings_change_quiet(m->change) < 0)
		log_warn("khugepaged or NUMA balancing may run meanwhile");
	return 0;
}

static int describe(struct trace_meta **out)
{
	int r = trace_meta_new(out);

	if (r >= 0)
		r = settings_describe(*out);
	if (r < 0)
		log_error("cannot read this kernel's settings: %s", strerror(-r));
	return r;
}

int measurement_begin(struct measurement *m)
{
	int r = change_settings(m);

	if (r >= 0 && m->setup->groups)
		r = cgroups_new(&m->groups, m->setup->groups, m->setup->memory_max);
	if (r >= 0)
		r = describe(&m->before);
	if (r < 0)
		return r;
	r = result_new(&m->result);
	if (r < 0)
		log_error("not enough memory for the result");
	return r;
}

int measurement_run(struct measurement *m, const struct pass_work *work, bool no_latency)
{
	const struct pass_setup *s = m->setup;
	const struct pass_options options = {
		.repeat = s->repeat,
		.warmup = s->warmup,
		.no_time = s->no_time,
		.no_latency = no_latency,
		.observer = m->observer,
		.sweep = s->sweep_text ? &s->sweep : NULL,
		.change = m->change,
		.groups = m->groups,
	};
	int r = primaries_declare(m->result, m->observer, !s->no_time, work->operations != NULL);

	if (r < 0)
		log_error("not enough memory for the result");
	else
		r = passes_run(&options, work, m->result);
	return r < 0 ? r : describe(&m->after);
}

void measurement_restore(struct measurement *m)
{
	m->groups = cgroups_free(m->groups);
	m->change = settings_change_free(m->change);
}

const char *measurement_file(const struct measurement *m)
{
	return m->setup->append ? m->setup->append : m->setup->output;
}

/* Beside the file first: whoever reads it finds the old result or the new one. */
static int replace(const struct result *whole, const char *path)
{
	char beside[PATH_MAX];
	int r;

	if ((size_t)snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid()) >=
	    sizeof(beside))
		return output_file_say(path, -ENAMETOOLONG);
	r = result_write(whole, beside, true);
	if (r >= 0 && rename(beside, path) < 0) {
		r = output_file_say(path, error_errno());
		unlink(beside);
	}
	return r;
}

/* What was measured is not thrown away because it does not fit. */
static void keep_apart(const struct result *own, const char *path)
{
	char beside[PATH_MAX];

	snprintf(beside, sizeof(beside), "%s.%d", path, (int)getpid());
	if (result_write(own, beside, false) >= 0)
		log_warn("%s: left as it was; this run is in %s", path, beside);
}

static int append(const struct result *own, const char *path)
{
	struct result *whole;
	int r;

	if (access(path, F_OK) < 0 && errno == ENOENT)
		return result_write(own, path, false);
	r = result_read(&whole, path);
	if (r < 0)
		return r;
	r = result_append(whole, own, result_next_boot(whole));
	if (r >= 0)
		r = replace(whole, path);
	result_free(whole);
	if (r < 0)
		keep_apart(own, path);
	return r;
}

int measurement_write(const struct measurement *m)
{
	const struct pass_setup *s = m->setup;

	if (s->append)
		return append(m->result, s->append);
	return s->output ? result_write(m->result, s->output, s->force) : 0;
}

void measurement_clear(struct measurement *m)
{
	measurement_restore(m);
	m->observer = observer_free(m->observer);
	m->before = trace_meta_free(m->before);
	m->after = trace_meta_free(m->after);
	m->result = result_free(m->result);
}
