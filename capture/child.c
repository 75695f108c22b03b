/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two pipes: one holds the child back until a byte comes; the other says that
 * the child is there, then whether exec worked, by closing on it, or the errno. Should the recorder
 * die first, the held child sees the end of the pipe and leaves.
 */

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/child.h"
#include "common/cleanup.h"
#include "common/log.h"

struct child {
	char *path;
	pid_t pid; /* 0 once collected */
	int go_fd, error_fd;
};

static int runnable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return error_errno();
	if (!S_ISREG(st.st_mode) || access(path, X_OK) < 0)
		return -EACCES;
	return 0;
}

/* As execvp() does, but before the fork, so that the child does nothing of it. */
static int look_up(const char *name, char **out)
{
	const char *path = getenv("PATH");
	int best = -ENOENT;

	if (strchr(name, '/')) {
		*out = strdup(name);
		return *out ? runnable(name) : -ENOMEM;
	}
	if (!path)
		path = "/usr/local/bin:/bin:/usr/bin";
	while (*name) {
		size_t len = strcspn(path, ":");
		char *candidate;
		int r;

		if (asprintf(&candidate, "%.*s%s%s", (int)len, path, len ? "/" : "", name) < 0)
			return -ENOMEM;
		r = runnable(candidate);
		if (r == 0) {
			*out = candidate;
			return 0;
		}
		free(candidate);
		if (r == -EACCES)
			best = r;
		if (!path[len])
			break;
		path += len + 1;
	}
	return best;
}

static void say_cannot_run(const char *name, int error)
{
	if (error == -ENOENT && !strchr(name, '/'))
		log_error("%s: command not found", name);
	else
		log_error("%s: cannot be run: %s", name, strerror(-error));
}

int child_find(const char *name, char **out)
{
	int r = look_up(name, out);

	if (r < 0)
		say_cannot_run(name, r);
	return r;
}

/* A file without a format of its own is a shell script, as for execvp(). */
static int exec_program(const char *path, char *const *command)
{
	size_t count = 0;
	char **argv;

	execv(path, command);
	if (errno != ENOEXEC)
		return errno;
	while (command[count])
		count++;
	argv = calloc(count + 2, sizeof(*argv));
	if (!argv)
		return ENOMEM;
	argv[0] = (char *)"sh";
	argv[1] = (char *)path;
	memcpy(argv + 2, command + 1, count * sizeof(*argv));
	execv("/bin/sh", argv);
	return errno;
}

static void run_child(const char *path, char *const *command, int go_fd, int error_fd,
                      const sigset_t *mask, int marker_fd)
{
	int error = 0;
	char go;

	/* Without a marker nobody knows our id outside this namespace, but we do here. */
	if (marker_fd >= 0 && write(marker_fd, "mmtape\n", 7) < 0)
		error = 0;
	/* An instance with an open file cannot be removed. */
	if (marker_fd >= 0)
		close(marker_fd);
	if (write(error_fd, &error, sizeof(error)) != sizeof(error))
		_exit(STATUS_OWN_FAILURE);
	if (read(go_fd, &go, 1) != 1)
		_exit(STATUS_OWN_FAILURE);
	sigprocmask(SIG_SETMASK, mask, NULL);
	error = exec_program(path, command);
	if (write(error_fd, &error, sizeof(error)) < 0)
		_exit(STATUS_OWN_FAILURE);
	_exit(127);
}

static ssize_t read_fd(int fd, void *to, size_t size)
{
	ssize_t n;

	do
		n = read(fd, to, size);
	while (n < 0 && errno == EINTR);
	return n;
}

static int fork_held(struct child *c, char *const *command, const sigset_t *mask, int marker_fd)
{
	int go[2] = { -1, -1 }, error[2] = { -1, -1 };
	int ready;
	sigset_t all, before;
	int r = 0;

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(error, O_CLOEXEC) < 0) {
		r = error_errno();
		goto out;
	}
	/* A signal in between waits for the command. */
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &before);
	c->pid = fork();
	if (c->pid == 0) {
		close(go[1]);
		run_child(c->path, command, go[0], error[1], mask, marker_fd);
	}
	if (c->pid < 0) {
		r = error_errno();
		c->pid = 0;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	c->go_fd = take_fd(&go[1]);
	c->error_fd = take_fd(&error[0]);
	/* Our end of it, so that the child's death would be seen. */
	close(take_fd(&error[1]));
	if (r >= 0 && read_fd(c->error_fd, &ready, sizeof(ready)) != sizeof(ready))
		r = -ECHILD;
out:
	for (int i = 0; i < 2; i++) {
		if (go[i] >= 0)
			close(go[i]);
		if (error[i] >= 0)
			close(error[i]);
	}
	return r;
}

int child_new(struct child **out, char *const *command, const sigset_t *mask, int marker_fd)
{
	struct child *c = calloc(1, sizeof(*c));
	int r;

	if (!c)
		return -ENOMEM;
	c->go_fd = c->error_fd = -1;
	r = child_find(command[0], &c->path);
	if (r >= 0) {
		r = fork_held(c, command, mask, marker_fd);
		if (r < 0)
			log_error("cannot fork for '%s': %s", command[0], strerror(-r));
	}
	if (r < 0) {
		child_free(c);
		return r;
	}
	*out = c;
	return 0;
}

struct child *child_free(struct child *c)
{
	bool held;

	if (!c)
		return NULL;
	held = c->go_fd >= 0;
	if (held)
		close(c->go_fd);
	if (held && c->pid)
		while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (c->error_fd >= 0)
		close(c->error_fd);
	free(c->path);
	free(c);
	return NULL;
}

pid_t child_pid(const struct child *c)
{
	return c->pid;
}

int child_start(struct child *c)
{
	int error = 0;
	ssize_t n;

	n = write(c->go_fd, "", 1);
	close(take_fd(&c->go_fd));
	if (n != 1)
		return -EPIPE;
	n = read_fd(c->error_fd, &error, sizeof(error));
	close(take_fd(&c->error_fd));
	if (n != sizeof(error))
		return 0;
	say_cannot_run(c->path, -error);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	c->pid = 0;
	return -error;
}

int child_collect(struct child *c, bool wait, int *status)
{
	pid_t pid;

	if (!c->pid)
		return 1;
	pid = waitpid(c->pid, status, wait ? 0 : WNOHANG);
	if (pid == c->pid) {
		c->pid = 0;
		return 1;
	}
	if (pid < 0 && errno != EINTR)
		return error_errno();
	return 0;
}
