/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mmtape as the first process of a guest: mounts what measuring needs, runs one command
 * of its own, and sends the result over the second serial port. It never
 * returns; the host sees the end on the port and ends the machine.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"
#include "replay/lab_frame.h"
#include "replay/lab_guest.h"
#include "replay/lab_swap.h"

#define MAX_ARGS 256
#define MAX_JOB (64u << 10)
#define NAME_MAX_CPU 64

struct job {
	char text[MAX_JOB]; /* words, each with its NUL */
	char *args[MAX_ARGS + 1];
	size_t count;
};

static const struct {
	const char *what, *where, *type;
} mounts[] = {
	{ "proc", "/proc", "proc" },
	{ "sysfs", "/sys", "sysfs" },
	{ "devtmpfs", "/dev", "devtmpfs" },
	{ "tracefs", "/sys/kernel/tracing", "tracefs" },
	{ "cgroup2", "/sys/fs/cgroup", "cgroup2" },
	{ "tmpfs", "/tmp", "tmpfs" },
	{ "tmpfs", "/run", "tmpfs" },
};

/* What is missing is said by the command that needs it; the console has the cause. */
static void mount_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++)
		if (mount(mounts[i].what, mounts[i].where, mounts[i].type, 0, NULL) < 0)
			log_warn("cannot mount %s at %s: %s", mounts[i].type, mounts[i].where,
			         strerror(errno));
}

static int open_port(void)
{
	struct termios raw;
	int fd = open("/dev/ttyS1", O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0) {
		log_error(
			"cannot open /dev/ttyS1: %s: the kernel needs CONFIG_SERIAL_8250 with two "
			"ports",
			strerror(errno));
		return error_errno();
	}
	if (tcgetattr(fd, &raw) == 0) {
		cfmakeraw(&raw);
		cfsetspeed(&raw, B115200);
		raw.c_cflag |= CLOCAL;
		tcsetattr(fd, TCSANOW, &raw);
	}
	return fd;
}

static int send(int port, enum lab_frame_kind kind, const void *body, size_t length)
{
	struct buffer frame = { 0 };
	int r = lab_frame_encode(&frame, kind, body, length);

	for (size_t at = 0; at < frame.len && r >= 0;) {
		ssize_t n = write(port, frame.data + at, frame.len - at);

		if (n <= 0)
			r = n < 0 ? error_errno() : -EIO;
		else
			at += (size_t)n;
	}
	buffer_clear(&frame);
	return r;
}

static int send_text(int port, enum lab_frame_kind kind, const char *text)
{
	return send(port, kind, text, strlen(text));
}

/* Words with a NUL behind each, as the host wrote them. */
static int read_job(struct job *job)
{
	_cleanup_close_ int fd = open(LAB_GUEST_JOB, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, job->text, sizeof(job->text) - 1);

	if (n < 0)
		return error_errno();
	job->text[n] = 0;
	for (char *at = job->text; at < job->text + n && job->count < MAX_ARGS;
	     at += strlen(at) + 1)
		job->args[job->count++] = at;
	job->args[job->count] = NULL;
	return job->count ? 0 : -EINVAL;
}

static int hello(int port)
{
	struct utsname name;
	char text[512];

	if (uname(&name) < 0)
		return error_errno();
	snprintf(text, sizeof(text), "kernel=%s\ntracing=%d\n", name.release,
	         !access("/sys/kernel/tracing/events", F_OK));
	return send_text(port, LAB_FRAME_HELLO, text);
}

static int run_job(const struct job *job, int *status)
{
	pid_t child = fork(), got;

	if (child < 0)
		return error_errno();
	if (!child) {
		setsid();
		execv("/proc/self/exe", job->args);
		log_error("cannot start %s: %s", job->args[0], strerror(errno));
		_exit(STATUS_OWN_FAILURE);
	}
	/* Orphans come to us, too. */
	do
		got = waitpid(-1, status, 0);
	while (got != child && (got > 0 || errno == EINTR));
	return got == child ? 0 : error_errno();
}

static int send_result(int port)
{
	struct buffer all = { 0 };
	_cleanup_close_ int fd = open(LAB_GUEST_RESULT, O_RDONLY | O_CLOEXEC);
	ssize_t n = 1;
	int r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_errno();
	while (n > 0 && r >= 0) {
		r = buffer_reserve(&all, 1 << 16);
		n = r < 0 ? 0 : read(fd, all.data + all.len, 1 << 16);
		if (n < 0)
			r = error_errno();
		else
			all.len += (size_t)n;
	}
	if (r >= 0)
		r = send(port, LAB_FRAME_RESULT, all.data, all.len);
	buffer_clear(&all);
	return r;
}

static int work(int port, struct job *job, char *end, size_t size)
{
	uint64_t swap = 0;
	int status = 0, r = hello(port);

	if (r >= 0)
		r = read_job(job);
	if (r >= 0 && !parse_size(job->args[0], &swap) && swap)
		r = lab_swap_on(swap);
	if (r >= 0) {
		memmove(job->args, job->args + 1, job->count * sizeof(*job->args));
		r = run_job(job, &status);
	}
	if (r >= 0)
		r = send_result(port);
	if (r < 0)
		snprintf(end, size, "error %s", strerror(-r));
	else if (WIFSIGNALED(status))
		snprintf(end, size, "signal %d", WTERMSIG(status));
	else
		snprintf(end, size, "exit %d", WEXITSTATUS(status));
	return r;
}

int lab_guest_main(void)
{
	static struct job job;
	char end[256];
	int port;

	/* A kernel without devtmpfs has the nodes of the archive. */
	mount_all();
	port = open_port();
	if (port >= 0) {
		if (work(port, &job, end, sizeof(end)) < 0)
			log_error("%s", end);
		sync();
		if (send_text(port, LAB_FRAME_END, end) >= 0)
			tcdrain(port);
	}
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
