/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listens to a guest: its console, its frames, QEMU's own errors, signals and time. */

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "common/cleanup.h"
#include "common/escape.h"
#include "common/log.h"
#include "replay/lab_boot.h"
#include "replay/lab_diagnose.h"
#include "replay/lab_frame.h"
#include "traces/meta.h"

#define NS 1000000000ull
/* A kernel that has not started /init by then will not. */
#define HELLO_NS (180 * NS)
#define TRIAL_NS (20 * NS)
/* After its last frame a guest has so long to switch itself off. */
#define OFF_NS (10 * NS)
#define CONSOLE_KEPT (64u << 10)
#define SHOWN_LINES 15
#define TICK_MS 250
#define TAG "mmtape: " /* in front of its messages */

enum wire { WIRE_CONSOLE, WIRE_FRAMES, WIRE_ERRORS, WIRE_SIGNALS, WIRES };

struct listener {
	struct lab_boot *boot;
	struct pollfd wires[WIRES];
	struct lab_frames frames;
	struct buffer console, errors;
	uint64_t start, deadline;
	bool spoke, hello, ended, timed_out, interrupted;
	char end[300], last[200]; /* the end frame; the last message */
	pid_t qemu;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS + (uint64_t)ts.tv_nsec;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Keeps the end; NULs would end it as a string. */
static int keep_text(struct buffer *to, char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!bytes[i])
			bytes[i] = '?';
	if (to->len + length > 2 * CONSOLE_KEPT) {
		memmove(to->data, to->data + to->len - CONSOLE_KEPT, CONSOLE_KEPT);
		to->len = CONSOLE_KEPT;
	}
	return buffer_bytes(to, bytes, length);
}

/* Value of a key=value line, into out. */
static void fact(const char *text, const char *key, char *out, size_t size)
{
	size_t length = strlen(key);

	*out = '\0';
	for (const char *at = text; *at; at += strcspn(at, "\n") + (strchr(at, '\n') != NULL))
		if (!strncmp(at, key, length) && at[length] == '=') {
			at += length + 1;
			snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
			return;
		}
}

/* A kernel that sees less than was asked for would be measured as something else. */
static void check_hello(struct listener *l, const char *text)
{
	const struct lab_setup *s = l->boot->setup;
	char cpus[32], nodes[32];

	l->hello = true;
	l->deadline = l->start + s->timeout;
	fact(text, META_CPUS, cpus, sizeof(cpus));
	fact(text, META_NODES, nodes, sizeof(nodes));
	if (strtoul(cpus, NULL, 10) != s->cpus)
		snprintf(l->end, sizeof(l->end),
		         "error its kernel uses %s of %u CPUs (CONFIG_SMP, CONFIG_NR_CPUS)", cpus,
		         s->cpus);
	else if (s->nodes > 1 && strtoul(nodes, NULL, 10) != s->nodes)
		snprintf(l->end, sizeof(l->end),
		         "error its kernel sees %s of %u NUMA nodes (CONFIG_NUMA, "
		         "CONFIG_ACPI_NUMA)",
		         nodes, s->nodes);
}

static int take_frame(struct listener *l, const struct lab_frame *f)
{
	bool own;
	int r = 0;

	switch (f->kind) {
	case LAB_FRAME_HELLO:
		check_hello(l, f->body);
		break;
	case LAB_FRAME_MESSAGE:
		own = !strncmp(f->body, TAG, strlen(TAG));
		snprintf(l->last, sizeof(l->last), "%s", f->body + (own ? strlen(TAG) : 0));
		if (own && l->boot->messages.len < CONSOLE_KEPT)
			r = buffer_bytes(&l->boot->messages, l->last, strlen(l->last) + 1);
		break;
	case LAB_FRAME_RESULT:
		l->boot->result.len = 0;
		r = buffer_bytes(&l->boot->result, f->body, f->length);
		break;
	case LAB_FRAME_END:
		if (!*l->end)
			snprintf(l->end, sizeof(l->end), "%s", f->body);
		l->deadline = least(l->deadline, now_ns() + OFF_NS);
		break;
	}
	return r;
}

static int take_frames(struct listener *l, const char *bytes, size_t length)
{
	struct lab_frame frame;
	int r = lab_frames_feed(&l->frames, bytes, length);

	while (r >= 0 && (r = lab_frames_next(&l->frames, &frame)) > 0)
		r = take_frame(l, &frame);
	return r;
}

/* -errno; a wire at its end is closed. */
static int hear(struct listener *l, enum wire wire)
{
	char bytes[16384];
	ssize_t n = read(l->wires[wire].fd, bytes, sizeof(bytes));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : error_errno();
	if (n == 0) {
		close(l->wires[wire].fd);
		l->wires[wire].fd = -1;
		return 0;
	}
	switch (wire) {
	case WIRE_CONSOLE:
		l->spoke = true;
		return keep_text(&l->console, bytes, (size_t)n);
	case WIRE_FRAMES:
		return take_frames(l, bytes, (size_t)n);
	case WIRE_ERRORS:
		return keep_text(&l->errors, bytes, (size_t)n);
	default:
		l->interrupted = true;
		return 0;
	}
}

static void show_progress(const struct listener *l)
{
	log_progress("%s, %llu s%s%.60s", l->boot->label,
	             (unsigned long long)((now_ns() - l->start) / NS), *l->last ? ": " : "",
	             l->last);
}

/* Until QEMU has closed everything, or its time is over, or it must be ended. */
static int listen(struct listener *l)
{
	int r = 0;

	while (r >= 0 && l->wires[WIRE_CONSOLE].fd >= 0 && !l->interrupted) {
		if (l->boot->trial && l->hello)
			break;
		if (now_ns() >= l->deadline) {
			l->timed_out = !*l->end;
			break;
		}
		if (!strncmp(l->end, "error ", 6) && !l->boot->result.len)
			break;
		show_progress(l);
		if (poll(l->wires, WIRES, TICK_MS) < 0 && errno != EINTR)
			return error_errno();
		for (int i = 0; i < WIRES && r >= 0; i++)
			if (l->wires[i].fd >= 0 && l->wires[i].revents)
				r = hear(l, (enum wire)i);
	}
	return r;
}

/* What is still in the pipes once QEMU is gone. */
static int listen_out(struct listener *l)
{
	int r = 0;

	for (int i = 0; i < WIRE_SIGNALS; i++)
		while (r >= 0 && l->wires[i].fd >= 0) {
			struct pollfd one = { .fd = l->wires[i].fd, .events = POLLIN };

			if (poll(&one, 1, 0) <= 0)
				break;
			r = hear(l, (enum wire)i);
		}
	return r;
}

static int end_qemu(struct listener *l)
{
	int status = -1;

	if (waitpid(l->qemu, &status, WNOHANG) == l->qemu)
		return status;
	/* Its console is closed when it is about to exit: do not lose its status to a kill. */
	for (int i = 0; l->wires[WIRE_CONSOLE].fd < 0 && i < 100; i++) {
		if (waitpid(l->qemu, &status, WNOHANG) == l->qemu)
			return status;
		poll(NULL, 0, 10);
	}
	kill(l->qemu, SIGKILL);
	while (waitpid(l->qemu, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

/* The pipe's reading end becomes a wire; the writing end is QEMU's. */
static int make_wire(struct listener *l, enum wire wire, int *end)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno();
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	l->wires[wire] = (struct pollfd){ .fd = ends[0], .events = POLLIN };
	*end = ends[1];
	return 0;
}

static int start(struct listener *l)
{
	_cleanup_close_ int console = -1, frames = -1, errors = -1;
	struct lab_boot *b = l->boot;
	struct lab_wires wires = { .initramfs = b->initramfs };
	char **words;
	int r = make_wire(l, WIRE_CONSOLE, &console);

	if (r >= 0)
		r = make_wire(l, WIRE_FRAMES, &frames);
	if (r >= 0)
		r = make_wire(l, WIRE_ERRORS, &errors);
	wires.console = console;
	wires.frames = frames;
	words = r < 0 ? NULL : lab_qemu_words(b->setup, b->machine, b->image, &wires);
	if (!words) {
		log_error("%s: cannot be started: %s", b->label, strerror(r < 0 ? -r : ENOMEM));
		return r < 0 ? r : -ENOMEM;
	}
	l->start = now_ns();
	l->deadline = l->start + least(b->setup->timeout, b->trial ? TRIAL_NS : HELLO_NS);
	r = lab_qemu_start(&l->qemu, words, &wires, errors, b->mask);
	lab_qemu_free(words);
	return r;
}

static int conclude(struct listener *l, int exit_status)
{
	struct lab_boot *b = l->boot;
	struct lab_evidence e = {
		.console_spoke = l->spoke,
		.hello = l->hello,
		.cut = lab_frames_cut(&l->frames) || l->frames.skipped,
		.timed_out = l->timed_out,
		.end = *l->end ? l->end : NULL,
		.exit_status = exit_status,
		.seconds = (l->deadline - l->start) / NS,
	};

	if (buffer_bytes(&l->console, "", 1) < 0 || buffer_bytes(&l->errors, "", 1) < 0)
		return -ENOMEM;
	e.console = (const char *)l->console.data;
	e.errors = (const char *)l->errors.data;
	if (b->trial && l->hello)
		return 0;
	if (b->result.len && sscanf(l->end, "exit %d", &b->status) == 1)
		return 0;
	/* What the command said of its failure says more than its status. */
	if (!strncmp(l->end, "exit ", 5) && *l->last)
		snprintf(b->why, sizeof(b->why), "%s", l->last);
	else
		lab_diagnose(&e, b->why, sizeof(b->why));
	b->console = strdup(e.console);
	return 1;
}

int lab_boot_run(struct lab_boot *b)
{
	struct listener l = { .boot = b };
	int r, status;

	for (int i = 0; i < WIRES; i++)
		l.wires[i].fd = -1;
	l.wires[WIRE_SIGNALS] = (struct pollfd){ .fd = b->signals, .events = POLLIN };
	r = start(&l);
	if (r >= 0) {
		r = listen(&l);
		status = end_qemu(&l);
		if (r >= 0)
			r = listen_out(&l);
		if (r < 0)
			log_error("%s: %s", b->label, strerror(-r));
		else
			r = l.interrupted ? -EINTR : conclude(&l, status);
	}
	log_progress_end();
	for (int i = 0; i < WIRE_SIGNALS; i++)
		if (l.wires[i].fd >= 0)
			close(l.wires[i].fd);
	lab_frames_clear(&l.frames);
	buffer_clear(&l.console);
	buffer_clear(&l.errors);
	return r;
}

void lab_boot_clear(struct lab_boot *b)
{
	buffer_clear(&b->result);
	buffer_clear(&b->messages);
	free(b->console);
	b->console = NULL;
}

static void show_line(const char *at, size_t length)
{
	char line[300];

	if (!length)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)length, at);
	fputs("    ", stderr);
	escape_message(stderr, line);
	fputc('\n', stderr);
}

void lab_boot_report(const struct lab_boot *b)
{
	const char *at = b->console ? lab_last_lines(b->console, SHOWN_LINES) : "";
	const char *cause = b->console ? lab_cause_line(b->console) : NULL;

	log_error("%s: %s%s", b->label, b->why, *at ? "; the end of its console:" : "");
	if (cause && cause < at)
		show_line(cause, strcspn(cause, "\r\n"));
	while (*at) {
		size_t length = strcspn(at, "\r\n");

		show_line(at, length);
		at += length;
		at += strspn(at, "\r\n");
	}
}

void lab_boot_messages(const struct lab_boot *b)
{
	const char *at = (const char *)b->messages.data;

	for (size_t i = 0; i < b->messages.len; i += strlen(at + i) + 1)
		log_info("%s: %s", b->label, at + i);
}

int lab_boot_choose(const struct lab_setup *s, struct lab_machine *m, int initramfs, int signals,
                    const sigset_t *mask)
{
	struct lab_boot b = {
		.setup = s,
		.machine = m,
		.image = s->kernels[0].images[0],
		.label = "a trial of KVM",
		.initramfs = initramfs,
		.signals = signals,
		.mask = mask,
		.trial = true,
	};
	int r = m->kvm && s->accel == LAB_ACCEL_AUTO ? lab_boot_run(&b) : 0;

	if (r > 0) {
		log_info("KVM is there and does not run %s: guests are emulated", b.image);
		lab_machine_emulate(m, s);
		r = 0;
	}
	lab_boot_clear(&b);
	return r;
}
