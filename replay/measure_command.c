/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Caller and conductor talk over two pipes; what the conductor says fits one write. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "capture/child.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/descendants.h"
#include "replay/measure_command.h"

#define GRACE_MS 3000 /* for a command to end by the signal that we were sent */
#define KILL_LOOK_MS 20
#define KILL_LOOKS 500

enum word { WORD_READY = 1, WORD_DONE, WORD_FAILED };

struct message {
	enum word word;
	int error; /* of WORD_FAILED; its line is printed */
	struct measure_figures figures;
};

struct run {
	const struct measure_command *command;
	pid_t caller, conductor;
	int go[2], said[2];
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static int shell_status(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* ---- the conductor ---- */

static void say(const struct run *run, struct message *message, enum word word)
{
	message->word = word;
	if (write(run->said[1], message, sizeof(*message)) != sizeof(*message))
		_exit(STATUS_OWN_FAILURE);
}

/* The command, and all that came from it and lost their parents. */
static void reap_all(pid_t command, uint64_t from, struct measure_figures *f)
{
	struct rusage used;
	int status;

	for (;;) {
		pid_t pid = wait4(-1, &status, 0, &used);

		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return;
		f->elapsed = now() - from;
		f->user += timeval_ns(&used.ru_utime);
		f->system += timeval_ns(&used.ru_stime);
		f->faults_minor += (uint64_t)used.ru_minflt;
		f->faults_major += (uint64_t)used.ru_majflt;
		if (pid == command)
			f->status = shell_status(status);
	}
}

static int take_input_away(void)
{
	int fd = open("/dev/null", O_RDONLY), r = 0;

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0) {
		r = error_errno();
		log_error("/dev/null: cannot be opened: %s", strerror(-r));
	}
	if (fd > STDIN_FILENO)
		close(fd);
	return r;
}

/* The conductor goes with it: what it forks is charged to the group from the start. */
static int enter_group(const struct cgroups *groups)
{
	int r = cgroup_enter(cgroups_fd(groups, 0));

	if (r < 0)
		log_error("--cgroup: cannot move a process into the group: %s", strerror(-r));
	return r;
}

static int conduct(const struct run *run, struct message *message)
{
	struct child *child = NULL;
	int r = run->command->no_input ? take_input_away() : 0;
	pid_t pid;
	uint64_t from;
	char go;

	if (r >= 0 && run->command->groups)
		r = enter_group(run->command->groups);
	if (r >= 0) {
		r = child_new(&child, run->command->argv, run->command->mask, -1);
		if (r == -ENOENT || r == -EACCES)
			message->figures.exec_error = r;
	}
	if (r < 0)
		return r;
	pid = child_pid(child);
	say(run, message, WORD_READY);
	/* The caller is gone, or does not want it any more. */
	if (read(run->go[0], &go, 1) != 1)
		_exit(STATUS_OWN_FAILURE);
	from = now();
	r = child_start(child);
	if (r < 0)
		message->figures.exec_error = r;
	else
		reap_all(pid, from, &message->figures);
	child_free(child);
	return r;
}

static void run_conductor(struct run *run)
{
	struct message message = { 0 };

	/* Who ignores it, as who started us may have, has nothing to wait for. */
	signal(SIGCHLD, SIG_DFL);
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	if (getppid() != run->caller)
		_exit(STATUS_OWN_FAILURE);
	close(run->go[1]);
	close(run->said[0]);
	message.error = conduct(run, &message);
	say(run, &message, message.error < 0 ? WORD_FAILED : WORD_DONE);
	_exit(0);
}

/* ---- the caller ---- */

/* 1: a message came, 0: the conductor is gone, -EINTR: a signal wants us to stop, -ETIME. */
static int listen_to(const struct run *run, int signals, int timeout_ms, struct message *message,
                     int *number)
{
	struct pollfd fds[2] = { { .fd = run->said[0], .events = POLLIN },
		                 { .fd = signals, .events = POLLIN } };
	struct signalfd_siginfo info;
	int n;

	for (;;) {
		n = poll(fds, 2, timeout_ms);
		if (n < 0 && errno != EINTR)
			return error_errno();
		if (!n)
			return -ETIME;
		/* First: the command may have ended by the very signal, and is no repetition then.
		 */
		if (n > 0 && fds[1].revents && read(signals, &info, sizeof(info)) == sizeof(info)) {
			*number = (int)info.ssi_signo;
			return -EINTR;
		}
		if (n > 0 && fds[0].revents)
			return read(run->said[0], message, sizeof(*message)) == sizeof(*message);
	}
}

/* Until none is left; what forks meanwhile is found by the next look. */
static void end_tree(struct run *run, int number)
{
	struct message message;
	int r;

	/* Where the command is still held, conductor and command see the end of their pipes. */
	close(take_fd(&run->go[1]));
	descendants_signal(run->conductor, number);
	r = listen_to(run, -1, GRACE_MS, &message, &number);
	for (unsigned i = 0; r == -ETIME && i < KILL_LOOKS; i++) {
		descendants_signal(run->conductor, SIGKILL);
		r = listen_to(run, -1, KILL_LOOK_MS, &message, &number);
	}
	if (r == -ETIME)
		log_warn("processes of the command could not be ended");
}

static int follow(struct run *run, int signals, pass_line *line, void *line_arg,
                  struct message *message)
{
	int number = 0, r;

	do {
		r = listen_to(run, signals, -1, message, &number);
		if (r > 0 && message->word == WORD_READY) {
			if (line)
				line(line_arg, false);
			r = write(run->go[1], "", 1) == 1 ? 1 : -EPIPE;
		}
	} while (r > 0 && message->word == WORD_READY);
	if (r == -EINTR) {
		end_tree(run, number);
		log_error("stopped by a signal: %s", strsignal(number));
	} else if (r <= 0) {
		log_error("what watches over the command was killed%s",
		          run->command->groups ? ": is --memory-max too small?" : "");
		r = -ECHILD;
	} else if (message->word == WORD_DONE && line) {
		line(line_arg, true);
	}
	return r < 0 ? r : message->word == WORD_DONE ? 0 : message->error;
}

static int open_signals(sigset_t *before)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, before);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	return fd < 0 ? error_errno() : fd;
}

static int fork_conductor(struct run *run)
{
	run->caller = getpid();
	run->conductor = fork();
	if (run->conductor < 0) {
		int r = error_errno();

		log_error("cannot fork for the command: %s", strerror(-r));
		return r;
	}
	if (!run->conductor)
		run_conductor(run);
	/* Our ends of them, so that its death would be seen. */
	close(take_fd(&run->go[0]));
	close(take_fd(&run->said[1]));
	return 0;
}

static void close_all(const int *fds, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

int measure_command_run(const struct measure_command *command, pass_line *line, void *line_arg,
                        struct measure_figures *out)
{
	struct run run = { .command = command, .go = { -1, -1 }, .said = { -1, -1 } };
	struct message message = { 0 };
	sigset_t before;
	int signals = open_signals(&before), r = signals < 0 ? signals : 0;

	if (r >= 0 && (pipe2(run.go, O_CLOEXEC) < 0 || pipe2(run.said, O_CLOEXEC) < 0))
		r = error_errno();
	if (r < 0)
		log_error("cannot watch over a command: %s", strerror(-r));
	if (r >= 0)
		r = fork_conductor(&run);
	if (r >= 0) {
		r = follow(&run, signals, line, line_arg, &message);
		if (run.go[1] >= 0)
			close(take_fd(&run.go[1]));
		while (waitpid(run.conductor, NULL, 0) < 0 && errno == EINTR)
			;
	}
	*out = message.figures;
	close_all(run.go, 2);
	close_all(run.said, 2);
	close_all(&signals, 1);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return r;
}
