/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts QEMU, reads its two serial ports, ends it. */

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/array.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_frame.h"
#include "replay/lab_qemu.h"

#define PROGRAM "qemu-system-x86_64"
#define CONSOLE_KEPT (16u << 10) /* bytes of the console that are kept */
#define MAX_WORDS 96
#define LINGER_NS 5000000000ull /* from the end of the command to the machine going off */

/* Words of a command line; those made here are freed with it. */
struct words {
	char *word[MAX_WORDS + 1];
	size_t count;
	bool failed;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct words *w, const char *fmt, ...)
{
	char *text;
	va_list args;

	va_start(args, fmt);
	if (w->count == MAX_WORDS || vasprintf(&text, fmt, args) < 0)
		w->failed = true;
	else
		w->word[w->count++] = text;
	va_end(args);
}

static void words_clear(struct words *w)
{
	for (size_t i = 0; i < w->count; i++)
		free(w->word[i]);
}

static void add_nodes(struct words *w, const struct lab_machine *m)
{
	uint64_t each = m->memory / m->nodes >> 20;

	for (uint32_t n = 0; n < m->nodes && m->nodes > 1; n++) {
		uint32_t first = m->cpus * n / m->nodes, last = m->cpus * (n + 1) / m->nodes;

		add(w, "-object");
		add(w, "memory-backend-ram,id=m%u,size=%lluM", n,
		    (unsigned long long)(n ? each : (m->memory >> 20) - each * (m->nodes - 1)));
		add(w, "-numa");
		if (last > first)
			add(w, "node,nodeid=%u,memdev=m%u,cpus=%u-%u", n, n, first, last - 1);
		else
			add(w, "node,nodeid=%u,memdev=m%u", n, n);
	}
}

/*
 * Without the hypervisor bit the kernel takes the queued spinlocks of a real machine; under
 * emulation nothing else needs it. panic=-1 with -no-reboot ends the machine on a panic.
 */
static void add_machine(struct words *w, const struct lab_machine *m, const char *kernel,
                        const char *initrd)
{
	add(w, "%s", m->qemu);
	add(w, "-nodefaults");
	add(w, "-no-user-config");
	add(w, "-no-reboot");
	add(w, "-display");
	add(w, "none");
	add(w, "-accel");
	add(w, "%s", m->kvm ? "kvm" : "tcg,thread=multi");
	add(w, "-cpu");
	add(w, "%s", m->kvm ? "host" : "max,-hypervisor");
	add(w, "-smp");
	add(w, "%u", m->cpus);
	add(w, "-m");
	add(w, "%lluM", (unsigned long long)(m->memory >> 20));
	add_nodes(w, m);
	add(w, "-kernel");
	add(w, "%s", kernel);
	add(w, "-initrd");
	add(w, "%s", initrd);
	add(w, "-append");
	add(w, "console=ttyS0 panic=-1 quiet%s%s", m->append ? " " : "",
	    m->append ? m->append : "");
}

static void start_child(struct words *w, pid_t parent, const sigset_t *unblocked)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigprocmask(SIG_SETMASK, unblocked, NULL);
	execv(w->word[0], w->word);
	dprintf(STDERR_FILENO, "mmtape: %s: %s\n", w->word[0], strerror(errno));
	_exit(127);
}

/* A pipe whose reading end stays here; the writing end is inherited by QEMU. */
static int make_pipe(int ends[2])
{
	if (pipe2(ends, O_CLOEXEC) < 0 || fcntl(ends[1], F_SETFD, 0) < 0 ||
	    fcntl(ends[0], F_SETFL, O_NONBLOCK) < 0)
		return error_errno();
	return 0;
}

struct guest {
	struct lab_outcome *out;
	struct lab_frames frames;
	int console, port, signals; /* -1 when closed */
	pid_t qemu;
	bool spoke, said_hello, done;
	uint64_t deadline;
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int keep_console(struct guest *g, const char *bytes, size_t n)
{
	struct buffer *c = &g->out->console;
	int r = buffer_bytes(c, bytes, n);

	if (r >= 0 && c->len > 2 * CONSOLE_KEPT) {
		memmove(c->data, c->data + c->len - CONSOLE_KEPT, CONSOLE_KEPT);
		c->len = CONSOLE_KEPT;
	}
	return r;
}

static int take_frame(struct guest *g, const struct lab_frame *f)
{
	struct lab_outcome *out = g->out;
	int number;

	switch (f->kind) {
	case LAB_FRAME_HELLO:
		g->said_hello = true;
		out->tracing = strstr(f->body, "tracing=1") != NULL;
		return 0;
	case LAB_FRAME_RESULT:
		out->result.len = 0;
		return buffer_bytes(&out->result, f->body, f->length);
	case LAB_FRAME_END:
		if (!g->done)
			g->deadline = now() + LINGER_NS;
		g->done = true;
		if (sscanf(f->body, "exit %d", &number) == 1)
			out->status = number;
		else if (sscanf(f->body, "signal %d", &number) == 1)
			out->status = 128 + number;
		else
			snprintf(out->error, sizeof(out->error), "%s", f->body);
		return 0;
	default:
		return 0;
	}
}

/* Everything that is there; closes at the end of the stream. */
static int drain(struct guest *g, int *fd)
{
	char bytes[4096];
	struct lab_frame frame;
	ssize_t n;
	int r = 0;

	while (*fd >= 0 && r >= 0 && (n = read(*fd, bytes, sizeof(bytes))) != -1) {
		if (!n) {
			close(*fd);
			*fd = -1;
		} else if (fd == &g->console) {
			g->spoke = true;
			r = keep_console(g, bytes, (size_t)n);
		} else {
			r = lab_frames_feed(&g->frames, bytes, (size_t)n);
			while (r >= 0 && (r = lab_frames_next(&g->frames, &frame)) > 0)
				r = take_frame(g, &frame);
		}
	}
	return r;
}

/* Until the machine is off: 0; -ETIMEDOUT, -EINTR. */
static int attend(struct guest *g)
{
	int r = 0;

	while (r >= 0 && (g->console >= 0 || g->port >= 0)) {
		struct pollfd fds[] = { { g->console, POLLIN, 0 },
			                { g->port, POLLIN, 0 },
			                { g->signals, POLLIN, 0 } };
		uint64_t at = now();

		if (at >= g->deadline)
			return g->done ? 0 : -ETIMEDOUT;
		if (poll(fds, 3, (int)((g->deadline - at) / 1000000 + 1)) < 0 && errno != EINTR)
			return error_errno();
		if (fds[2].revents)
			return -EINTR;
		r = drain(g, &g->console);
		if (r >= 0)
			r = drain(g, &g->port);
	}
	return r;
}

static bool console_says(const struct lab_outcome *out, const char *text)
{
	return out->console.len && memmem(out->console.data, out->console.len, text, strlen(text));
}

static enum lab_end judge(const struct guest *g, int r)
{
	if (g->done && r != -EINTR)
		return LAB_END_DONE;
	if (r == -EINTR)
		return LAB_END_INTERRUPTED;
	if (console_says(g->out, "Kernel panic"))
		return LAB_END_PANIC;
	if (!g->spoke)
		return r == -ETIMEDOUT ? LAB_END_SILENT : LAB_END_QEMU;
	if (r == -ETIMEDOUT)
		return g->said_hello ? LAB_END_TIMEOUT : LAB_END_NO_INIT;
	return g->said_hello ? LAB_END_GONE : LAB_END_NO_INIT;
}

static int start(struct guest *g, struct words *w, const int console[2], const int port[2])
{
	sigset_t none;
	pid_t parent = getpid();

	sigemptyset(&none);
	add(w, "-serial");
	add(w, "file:/dev/fd/%d", console[1]);
	add(w, "-serial");
	add(w, "file:/dev/fd/%d", port[1]);
	if (w->failed)
		return -ENOMEM;
	g->qemu = fork();
	if (g->qemu < 0)
		return error_errno();
	if (!g->qemu)
		start_child(w, parent, &none);
	return 0;
}

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void close_pipe(int ends[2])
{
	for (int i = 0; i < 2; i++)
		if (ends[i] >= 0)
			close(ends[i]);
}

int lab_qemu_run(const struct lab_machine *m, const char *kernel, const char *initrd,
                 struct lab_outcome *out)
{
	struct words w = { 0 };
	struct guest g = { .out = out, .qemu = -1, .deadline = now() + m->timeout };
	int console[2] = { -1, -1 }, port[2] = { -1, -1 }, status = 0;
	int r = make_pipe(console);

	*out = (struct lab_outcome){ 0 };
	if (r >= 0)
		r = make_pipe(port);
	g.signals = open_signals();
	add_machine(&w, m, kernel, initrd);
	if (r >= 0)
		r = start(&g, &w, console, port);
	if (r < 0) {
		log_error("cannot start %s: %s", m->qemu, strerror(-r));
		close_pipe(console);
		close_pipe(port);
	} else {
		close(console[1]);
		close(port[1]);
		g.console = console[0];
		g.port = port[0];
		r = attend(&g);
		kill(g.qemu, SIGKILL);
		waitpid(g.qemu, &status, 0);
		out->end = judge(&g, r);
		r = r == -ENOMEM ? r : 0;
		if (g.console >= 0)
			close(g.console);
		if (g.port >= 0)
			close(g.port);
	}
	if (g.signals >= 0)
		close(g.signals);
	lab_frames_clear(&g.frames);
	words_clear(&w);
	return r;
}

int lab_qemu_shell(const struct lab_machine *m, const char *kernel, const char *initrd)
{
	struct words w = { 0 };
	sigset_t none;
	pid_t parent = getpid(), child;
	int status = 0;

	sigemptyset(&none);
	add_machine(&w, m, kernel, initrd);
	add(&w, "-serial");
	add(&w, "mon:stdio");
	child = w.failed ? -1 : fork();
	if (!child)
		start_child(&w, parent, &none);
	if (child > 0)
		waitpid(child, &status, 0);
	words_clear(&w);
	if (child < 0) {
		log_error("cannot start %s: %s", m->qemu, strerror(errno));
		return -ECHILD;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

void lab_outcome_clear(struct lab_outcome *out)
{
	buffer_clear(&out->console);
	buffer_clear(&out->result);
}

char *lab_qemu_find(void)
{
	_cleanup_free_ char *path = strdup(getenv("PATH") ? getenv("PATH") : "/usr/bin");
	char *rest = path, *folder, *found;

	while (path && (folder = strsep(&rest, ":"))) {
		if (asprintf(&found, "%s/" PROGRAM, *folder ? folder : ".") < 0)
			return NULL;
		if (!access(found, X_OK))
			return found;
		free(found);
	}
	log_error("no " PROGRAM " found: the lab needs QEMU (Debian: qemu-system-x86)");
	return NULL;
}

bool lab_qemu_has_kvm(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/cpuinfo", "re");
	_cleanup_free_ char *line = NULL;
	size_t size = 0;

	if (access("/dev/kvm", R_OK | W_OK) < 0)
		return false;
	while (f && getline(&line, &size, f) > 0)
		if (!strncmp(line, "flags", 5))
			return !strstr(line, " hypervisor");
	return false;
}
