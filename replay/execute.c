/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs a plan: makes the states, forks the conductor, watches it, leaves nothing behind. */

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/cpulist.h"
#include "replay/execute_run.h"

#define LOOK_NS 100000000
#define RELEASE_NS 1000000000
#define TIMEOUT_DEFAULT 60000000000ULL

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static bool any_failed(const struct run *run)
{
	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		if (run->states[copy].header->failed)
			return true;
	return false;
}

static void answer_line(const struct run *run)
{
	uint32_t line = __atomic_load_n(&run->report->line, __ATOMIC_SEQ_CST);

	if (line == run->report->line_done)
		return;
	run->options->at_line(run->options->at_line_arg, line == 2);
	__atomic_store_n(&run->report->line_done, line, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &run->report->line_done, FUTEX_WAKE, INT_MAX);
}

/*
 * An exec can kill a thread between its last operation and its being counted;
 * then the tasks that stay until all are done have to be told.
 */
static void release(const struct run *run)
{
	for (uint32_t copy = 0; copy < run->options->copies; copy++) {
		uint32_t *finish = &run->states[copy].header->finish;

		__atomic_store_n(finish, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, finish, FUTEX_WAKE, INT_MAX);
	}
}

/* Until the conductor is gone: 0 and its status, or why to end it. */
static int watch(const struct run *run, const sigset_t *set, int *status)
{
	const struct timespec look = { 0, LOOK_NS };
	uint64_t timeout = run->options->timeout;
	uint64_t seen = 0, seen_at = now(), progress;
	bool asleep;

	for (;;) {
		int number = sigtimedwait(set, NULL, &look);

		if (waitpid(run->conductor, status, WNOHANG) == run->conductor)
			return 0;
		if (number > 0 && number != SIGCHLD)
			return -EINTR;
		answer_line(run);
		if (any_failed(run))
			return -ECHILD;
		progress = run_progress(run, &asleep);
		if (progress != seen || asleep) {
			seen = progress;
			seen_at = now();
		} else if (now() - seen_at > RELEASE_NS && run_only_parked(run)) {
			release(run);
		} else if (now() - seen_at > timeout) {
			return -ETIMEDOUT;
		}
	}
}

/* One kill reaches the whole group; orphans come to us, who reap them. */
static void end_group(const struct run *run, int *status)
{
	kill(-run->conductor, SIGKILL);
	waitpid(run->conductor, status, 0);
	while (waitpid(-run->conductor, NULL, 0) > 0)
		;
}

static int run_conductor(struct run *run, const sigset_t *set)
{
	int status = 0, reaper = 0, r;

	prctl(PR_GET_CHILD_SUBREAPER, &reaper, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	run->caller = getpid();
	run->conductor = fork();
	if (run->conductor < 0) {
		log_error("cannot fork the replay's conductor: %s", strerror(errno));
		return error_errno();
	}
	if (!run->conductor)
		_exit(run_conduct(run));
	setpgid(run->conductor, run->conductor);
	r = watch(run, set, &status);
	if (r < 0)
		end_group(run, &status);
	else if (status || !run->report->done || any_failed(run))
		r = -ECHILD;
	/* A conductor that failed may have left processes behind. */
	if (r == -ECHILD)
		end_group(run, &status);
	prctl(PR_SET_CHILD_SUBREAPER, reaper, 0, 0, 0);
	if (r < 0)
		run_explain(run, r, status);
	return r;
}

/* A cpu that is not there, or not ours, would leave its tasks where they are. */
static int check_pins(const uint32_t *pins, uint32_t count)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if (!CPU_ISSET(pins[i], &allowed)) {
			log_error("--pin: cpu %u is not one that this process may use", pins[i]);
			return -EINVAL;
		}
	return 0;
}

static int make_states(struct run *run)
{
	_cleanup_free_ uint32_t *pins = NULL;
	uint32_t pin_count = 0, copies = run->options->copies;
	uint64_t tick = run->options->latency ? run_measure_tick() : 0;
	int r = 0;

	if (run->options->pin) {
		r = cpulist_parse(run->options->pin, &pins, &pin_count);
		if (r < 0) {
			log_error("--pin: '%s' is not a list of cpus like 0-3,6",
			          run->options->pin);
			return r;
		}
		r = check_pins(pins, pin_count);
	}
	for (uint32_t copy = 0; copy < copies && r >= 0; copy++) {
		struct run_numbers numbers = run_numbers(run->plan, copy);

		r = run_state_make(&run->states[copy], run->plan, run->options, &numbers, pins,
		                   pin_count, copy, tick);
	}
	return r;
}

static int open_run(struct run *run)
{
	run->states = calloc(run->options->copies, sizeof(*run->states));
	run->report = mmap(NULL, sizeof(*run->report), PROT_READ | PROT_WRITE,
	                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	run->self_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (run->report == MAP_FAILED)
		run->report = NULL;
	if (!run->states || !run->report)
		return -ENOMEM;
	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		run->states[copy].fd = -1;
	if (run->self_fd < 0) {
		log_error("cannot open /proc/self/exe: %s", strerror(errno));
		return error_errno();
	}
	return make_states(run);
}

static void close_run(struct run *run)
{
	for (uint32_t copy = 0; run->states && copy < run->options->copies; copy++)
		run_state_release(&run->states[copy]);
	free(run->states);
	if (run->report)
		munmap(run->report, sizeof(*run->report));
	if (run->self_fd >= 0)
		close(run->self_fd);
}

int execute_run(const struct plan *plan, const struct execute_options *options,
                struct execute_figures *out)
{
	struct execute_options settled = *options;
	struct run run = { .plan = plan, .options = &settled, .self_fd = -1 };
	sigset_t set, before;
	int r;

	if (!settled.copies)
		settled.copies = 1;
	if (!settled.timeout)
		settled.timeout = TIMEOUT_DEFAULT;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, &before);
	r = open_run(&run);
	if (r >= 0)
		r = run_conductor(&run, &set);
	if (r >= 0)
		run_collect(&run, out);
	close_run(&run);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
