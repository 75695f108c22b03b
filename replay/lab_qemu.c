/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's command line and process. */

#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/array.h"
#include "common/bytes.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_initramfs.h"
#include "replay/lab_qemu.h"
#include "replay/memory.h"

#define DEFAULT_MEMORY (2ull << 30)
/* For the kernel, its page structs and the initramfs, above what a replay needs. */
#define SPARE_MEMORY (768ull << 20)
#define MEMORY_UNIT (64ull << 20)
/* A section of sparse memory: one belongs to one node. */
#define NODE_UNIT (128ull << 20)

#define CMDLINE "console=ttyS0 panic=-1 oops=panic"

static double gib(uint64_t bytes)
{
	return (double)bytes / (1 << 30);
}

static unsigned count_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) < 0 ? 1 : (unsigned)CPU_COUNT(&set);
}

static int choose_memory(struct lab_machine *m, const struct lab_setup *s)
{
	uint64_t available = memory_available();

	m->memory = s->memory;
	if (!m->memory) {
		m->memory = s->need < UINT64_MAX / 2 ? s->need + s->need / 4 + SPARE_MEMORY
		                                     : UINT64_MAX;
		m->memory = m->memory < DEFAULT_MEMORY
		                    ? DEFAULT_MEMORY
		                    : m->memory / MEMORY_UNIT * MEMORY_UNIT + MEMORY_UNIT;
	}
	m->memory = align_up(m->memory, 1 << 20);
	if (s->nodes > 1 && m->memory / s->nodes < NODE_UNIT) {
		log_error("--numa: each of %u nodes needs 128M: --memory of %uM at least", s->nodes,
		          s->nodes * 128);
		return -EINVAL;
	}
	if (m->memory <= available)
		return 0;
	log_error("--memory: a guest of %.2f GiB%s, and %.2f GiB are available here",
	          gib(m->memory), s->memory ? "" : ", which the trace needs,", gib(available));
	return -ENOMEM;
}

/* Without the hypervisor bit a kernel takes queued spinlocks, as on real machines. */
static void choose_cpu(struct lab_machine *m, const struct lab_setup *s)
{
	m->cpu = s->cpu ? s->cpu : m->kvm ? "host,-hypervisor" : "max,-hypervisor";
}

void lab_machine_emulate(struct lab_machine *m, const struct lab_setup *s)
{
	m->kvm = false;
	m->one_thread = s->sources && lab_lists_source(s->sources, "entries");
	choose_cpu(m, s);
}

int lab_machine_choose(struct lab_machine *m, const struct lab_setup *s)
{
	int r = s->accel == LAB_ACCEL_TCG ? -EOPNOTSUPP : lab_kvm_probe();

	*m = (struct lab_machine){ .kvm = r >= 0, .real_cpus = count_cpus() };
	if (r < 0 && s->accel == LAB_ACCEL_KVM) {
		log_error("--accel=kvm: no guest runs with /dev/kvm here: %s", strerror(-r));
		return r;
	}
	if (m->kvm)
		choose_cpu(m, s);
	else
		lab_machine_emulate(m, s);
	return choose_memory(m, s);
}

struct list {
	char **items;
	size_t count, room;
	bool failed;
};

static void _printf_(2, 3) add(struct list *l, const char *fmt, ...)
{
	va_list ap;

	if (l->failed ||
	    array_grow((void **)&l->items, l->count + 1, &l->room, sizeof(char *)) < 0) {
		l->failed = true;
		return;
	}
	va_start(ap, fmt);
	if (vasprintf(&l->items[l->count], fmt, ap) < 0) {
		l->items[l->count] = NULL;
		l->failed = true;
	}
	va_end(ap);
	l->items[++l->count] = NULL;
}

static void add_nodes(struct list *l, const struct lab_setup *s, uint64_t memory)
{
	uint64_t each = align_down(memory / s->nodes, NODE_UNIT);

	for (unsigned i = 0; s->nodes > 1 && i < s->nodes; i++) {
		uint64_t bytes = i ? each : memory - each * (s->nodes - 1);

		add(l, "-object");
		add(l, "memory-backend-ram,id=node%u,size=%llu", i, (unsigned long long)bytes);
		add(l, "-numa");
		add(l, "node,nodeid=%u,memdev=node%u,cpus=%u-%u", i, i, s->cpus * i / s->nodes,
		    s->cpus * (i + 1) / s->nodes - 1);
	}
}

static void add_serial(struct list *l, const char *name, int fd)
{
	add(l, "-chardev");
	add(l, "file,id=%s,path=/dev/fd/%d", name, fd);
	add(l, "-serial");
	add(l, "chardev:%s", name);
}

char **lab_qemu_words(const struct lab_setup *s, const struct lab_machine *m, const char *image,
                      const struct lab_wires *wires)
{
	struct list l = { 0 };

	add(&l, "%s", s->qemu);
	/* No device but the serial ports; no configuration of this machine's; leave when it resets.
	 */
	add(&l, "-nodefaults");
	add(&l, "-no-user-config");
	add(&l, "-no-reboot");
	add(&l, "-display");
	add(&l, "none");
	add(&l, "-accel");
	add(&l, m->kvm ? "kvm" : m->one_thread ? "tcg,thread=single" : "tcg,thread=multi");
	add(&l, "-cpu");
	add(&l, "%s", m->cpu);
	add(&l, "-smp");
	add(&l, "%u", s->cpus);
	add(&l, "-m");
	add(&l, "%lluM", (unsigned long long)(m->memory >> 20));
	add_nodes(&l, s, m->memory);
	if (wires->console >= 0) {
		add_serial(&l, "console", wires->console);
		add_serial(&l, "frames", wires->frames);
	} else {
		add(&l, "-serial");
		add(&l, "mon:stdio");
	}
	add(&l, "-kernel");
	add(&l, "%s", image);
	add(&l, "-initrd");
	add(&l, "/dev/fd/%d", wires->initramfs);
	add(&l, "-append");
	add(&l, CMDLINE "%s%s%s", m->kvm ? "" : " mitigations=off", *s->append ? " " : "",
	    s->append);
	if (!l.failed)
		return l.items;
	lab_qemu_free(l.items);
	return NULL;
}

void lab_qemu_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

/* Of one turn on a real CPU, ns: the longest there is. Others that wake up for less come first. */
#define SLICE 100000000

/* The first version of the kernel's struct sched_attr, see sched_setattr(2). */
struct scheduling {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime, deadline, period;
};

/*
 * A virtual CPU that is taken off its real one while it holds a lock makes all others wait,
 * however short the lock is held: with fewer real CPUs most waits were such. Since Linux 6.12
 * the runtime of an ordinary task is the slice it asks for (kernel/sched/syscalls.c); before,
 * it is ignored. QEMU's threads inherit it.
 */
static void ask_for_long_slices(void)
{
	struct scheduling s = { .size = sizeof(s) };

	if (syscall(SYS_sched_getattr, 0, &s, sizeof(s), 0) < 0 ||
	    (s.policy != SCHED_OTHER && s.policy != SCHED_BATCH))
		return;
	s.runtime = SLICE;
	/* A refusal leaves the turns as they were. */
	(void)syscall(SYS_sched_setattr, 0, &s, 0);
}

/* In the child. */
static void keep_open(int fd)
{
	if (fd >= 0)
		fcntl(fd, F_SETFD, 0);
}

static void _nonnull_args_(1, 2, 4)
	become(char *const *words, const struct lab_wires *wires, int errors, const sigset_t *mask,
               pid_t parent, int report)
{
	int error;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(STATUS_FAILED);
	keep_open(wires->initramfs);
	keep_open(wires->console);
	keep_open(wires->frames);
	if (wires->console >= 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
	}
	if (errors >= 0)
		dup2(errors, STDERR_FILENO);
	sigprocmask(SIG_SETMASK, mask, NULL);
	ask_for_long_slices();
	execvp(words[0], words);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(STATUS_FAILED);
	_exit(STATUS_FAILED);
}

static int say_missing(const char *program, int error)
{
	if (error == ENOENT)
		log_error("%s is not there: install QEMU (Debian: qemu-system-x86), or name it "
		          "with --qemu",
		          program);
	else
		log_error("%s: cannot be run: %s", program, strerror(error));
	return -error;
}

int lab_qemu_start(pid_t *pid, char *const *words, const struct lab_wires *wires, int errors,
                   const sigset_t *mask)
{
	_cleanup_close_ int from = -1, to = -1;
	pid_t parent = getpid();
	int ends[2], error = 0;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return say_missing(words[0], errno);
	from = ends[0];
	to = ends[1];
	*pid = fork();
	if (*pid < 0)
		return say_missing(words[0], errno);
	if (!*pid)
		become(words, wires, errors, mask, parent, to);
	close(take_fd(&to));
	do
		n = read(from, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return 0;
	while (waitpid(*pid, NULL, 0) < 0 && errno == EINTR)
		;
	return say_missing(words[0], error);
}
