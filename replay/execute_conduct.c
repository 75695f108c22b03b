/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The conductor: everything between the fork that makes it and the last exit. */

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/cgroup.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/execute_run.h"
#include "replay/sandbox.h"
#include "replay/scratch.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint32_t descriptors_of(const struct run *run)
{
	return 2 + run->options->copies * (run->plan->header->file_count + 1);
}

static uint32_t groups_of(const struct run *run)
{
	return run->options->groups ? cgroups_count(run->options->groups) : 0;
}

/* Behind the descriptors of the replay, and closed by the exec of a root. */
static int group_number(const struct run *run, uint32_t copy)
{
	uint32_t group = groups_of(run) > 1 ? copy : 0;

	return (int)(RUN_FD_SELF + descriptors_of(run) + group);
}

/* Moves fd above every number that will be given out, and closes it where it was. */
static int keep_high(int fd, int floor)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, floor);

	if (high < 0) {
		log_error("cannot keep a descriptor for the replay: %s", strerror(errno));
		return error_errno();
	}
	return high;
}

/* All descriptors of the replay, in the order of their numbers, somewhere above floor. */
static int open_descriptors(const struct run *run, int *high, int floor)
{
	const struct execute_options *options = run->options;
	uint32_t n = 0;

	if ((high[n++] = keep_high(run->self_fd, floor)) < 0 ||
	    (high[n++] = keep_high(run->plan->fd, floor)) < 0)
		return high[n - 1];
	for (uint32_t copy = 0; copy < options->copies; copy++) {
		if ((high[n++] = keep_high(run->states[copy].fd, floor)) < 0)
			return high[n - 1];
		for (uint32_t f = 0; f < run->plan->header->file_count; f++) {
			_cleanup_close_ int fd = scratch_open(run->plan, f, options->files_on_disk,
			                                      options->files_cold);

			if (fd < 0)
				return fd;
			if ((high[n++] = keep_high(fd, floor)) < 0)
				return high[n - 1];
		}
	}
	for (uint32_t i = 0; i < groups_of(run); i++)
		if ((high[n++] = keep_high(cgroups_fd(run->options->groups, i), floor)) < 0)
			return high[n - 1];
	return 0;
}

/* Afterwards 0 to 2 and the numbers of the replay and of groups are open, and nothing else. */
static int arrange_descriptors(const struct run *run)
{
	uint32_t own = descriptors_of(run), count = own + groups_of(run);
	int floor = (int)(RUN_FD_SELF + count), r;
	_cleanup_free_ int *high = calloc(count, sizeof(*high));

	if (!high)
		return -ENOMEM;
	r = open_descriptors(run, high, floor);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < count; i++)
		if (dup3(high[i], (int)(RUN_FD_SELF + i), i < own ? 0 : O_CLOEXEC) < 0)
			return error_errno();
	if (close_range((unsigned)floor, UINT_MAX, 0) < 0)
		for (int fd = floor; fd < floor + (int)count + 64; fd++)
			close(fd);
	return 0;
}

/* Locked where it fits in a quarter of memory; else it is streamed from what stays cached. */
static void lock_plan(const struct run *run)
{
	const struct plan_header *plan = run->plan->header;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	run->report->streamed = plan->bytes > memory / 4;
	if (run->report->streamed)
		return;
	if (mlock(plan, plan->bytes) < 0 &&
	    madvise((void *)plan, plan->bytes, MADV_POPULATE_READ) < 0)
		for (uint64_t at = 0; at < plan->bytes; at += 4096)
			(void)*((volatile const char *)plan + at);
}

static void exec_root(const struct run *run, uint32_t copy, uint32_t root)
{
	struct run_numbers numbers = run_numbers(run->plan, copy);
	char plan[12], state[12], task[12];
	const char *argv[] = { "mmtape", "replay-space", "--plan", plan, "--state",
		               state,    "--task",       task,     NULL };
	char *const environment[] = { NULL };
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (getppid() != run->conductor)
		_exit(1);
	/* Before the exec, so that all memory of the root is charged to its group. */
	r = groups_of(run) ? cgroup_enter(group_number(run, copy)) : 0;
	if (r < 0) {
		log_error("--cgroup: cannot move a replaying process into its group: %s",
		          strerror(-r));
		_exit(1);
	}
	snprintf(plan, sizeof(plan), "%u", numbers.plan);
	snprintf(state, sizeof(state), "%u", numbers.state);
	snprintf(task, sizeof(task), "%u", root);
	syscall(SYS_execveat, RUN_FD_SELF, "", argv, environment, AT_EMPTY_PATH);
	log_error("cannot start a replaying process: %s", strerror(errno));
	_exit(1);
}

static int start_roots(const struct run *run)
{
	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		for (uint32_t root = 0; root < run->plan->header->root_count; root++) {
			pid_t pid = fork();

			if (pid < 0) {
				log_error("cannot fork a replaying process: %s", strerror(errno));
				return error_errno();
			}
			if (!pid)
				exec_root(run, copy, root);
		}
	return 0;
}

/* A child that ends before the start has said why, or was killed. */
static int check_no_exit(const struct run *run)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);

	if (pid <= 0)
		return 0;
	run->report->said = WIFEXITED(status);
	run->report->lost_pid = (uint32_t)pid;
	run->report->lost_status = status;
	return -ECHILD;
}

static int wait_ready(const struct run *run)
{
	const struct timespec look = { 0, 50000000 };

	for (uint32_t copy = 0; copy < run->options->copies; copy++) {
		uint32_t *ready = &run->states[copy].header->ready, seen;

		while ((seen = __atomic_load_n(ready, __ATOMIC_ACQUIRE)) <
		       run->plan->header->root_count) {
			int r = check_no_exit(run);

			if (r < 0)
				return r;
			syscall(SYS_futex, ready, FUTEX_WAIT, seen, &look);
		}
	}
	return 0;
}

/* The caller sleeps until a child changes: the same signal wakes it. */
static void show_line(const struct run *run, uint32_t line)
{
	uint32_t *done = &run->report->line_done, seen;

	if (!run->options->at_line)
		return;
	__atomic_store_n(&run->report->line, line, __ATOMIC_SEQ_CST);
	kill(run->caller, SIGCHLD);
	while ((seen = __atomic_load_n(done, __ATOMIC_ACQUIRE)) != line)
		syscall(SYS_futex, done, FUTEX_WAIT, seen, NULL);
}

static uint64_t start(const struct run *run)
{
	uint64_t time = now();

	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		run->states[copy].header->start_time = time;
	run->report->started = true;
	for (uint32_t copy = 0; copy < run->options->copies; copy++) {
		uint32_t *word = &run->states[copy].header->start;

		__atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
		syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX);
	}
	return time;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* Roots, and what recorded parents left behind. A wait4 gives a child's waited-for children too. */
static int reap(const struct run *run, uint64_t from)
{
	struct run_report *report = run->report;
	struct rusage r;
	int status;
	pid_t pid;

	for (;;) {
		pid = wait4(-1, &status, 0, &r);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return 0;
		report->elapsed = now() - from;
		report->user += timeval_ns(&r.ru_utime);
		report->system += timeval_ns(&r.ru_stime);
		report->faults_minor += (uint64_t)r.ru_minflt;
		report->faults_major += (uint64_t)r.ru_majflt;
		if (status) {
			report->lost_pid = (uint32_t)pid;
			report->lost_status = status;
			return -ECHILD;
		}
	}
}

static int conduct(struct run *run)
{
	int r = sandbox_enter(2ULL * (descriptors_of(run) + groups_of(run)) + 64);

	if (r >= 0)
		r = arrange_descriptors(run);
	if (r < 0) {
		run->report->said = true;
		return r;
	}
	lock_plan(run);
	for (uint32_t copy = 0; copy < run->options->copies; copy++)
		run->states[copy].header->coordinator = (uint32_t)run->conductor;
	r = start_roots(run);
	if (r < 0)
		run->report->said = true;
	if (r >= 0)
		r = wait_ready(run);
	if (r < 0)
		return r;
	show_line(run, 1);
	r = reap(run, start(run));
	if (r >= 0)
		show_line(run, 2);
	return r;
}

int run_conduct(struct run *run)
{
	run->conductor = getpid();
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (getppid() != run->caller || conduct(run) < 0)
		return STATUS_FAILED;
	run->report->done = true;
	return STATUS_DONE;
}
