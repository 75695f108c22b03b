/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot of one guest in QEMU, from its start to what came out of it. */
#pragma once

#include <stdbool.h>

#include "common/buffer.h"

struct lab_machine {
	const char *qemu; /* the program */
	const char *append; /* to the kernel's command line; may be NULL */
	uint32_t cpus, nodes; /* nodes: of NUMA, at least 1 */
	uint64_t memory; /* bytes */
	uint64_t timeout; /* ns until the guest must be done */
	bool kvm;
};

enum lab_end {
	LAB_END_DONE, /* the command ended with `status` */
	LAB_END_PANIC,
	LAB_END_QEMU, /* QEMU itself ended before the kernel spoke */
	LAB_END_SILENT, /* nothing came from the console */
	LAB_END_NO_INIT, /* the kernel spoke, but mmtape never did */
	LAB_END_GONE, /* the machine went off before the end */
	LAB_END_TIMEOUT,
	LAB_END_INTERRUPTED,
};

struct lab_outcome {
	enum lab_end end;
	int status; /* exit status of the command, 128 and the number for a signal */
	char error[256]; /* what kept the guest from running the command; may be empty */
	bool tracing; /* the kernel has tracefs with events */
	struct buffer console; /* the last bytes of the first serial port */
	struct buffer result; /* a result file, empty if none came */
};

void lab_outcome_clear(struct lab_outcome *out) _nonnull_;

/*
 * Boots and waits. Both descriptors are open files to hand to QEMU by name. Prints its line when
 * QEMU cannot be started; everything else is in `out`. SIGINT, SIGTERM and SIGHUP must be blocked;
 * they end it. QEMU does not outlive this process.
 */
int lab_qemu_run(const struct lab_machine *m, const char *kernel, const char *initrd,
                 struct lab_outcome *out) _must_check_ _nonnull_;

/* With the terminal as console, until the guest goes off. Returns QEMU's exit status or -errno. */
int lab_qemu_shell(const struct lab_machine *m, const char *kernel,
                   const char *initrd) _must_check_ _nonnull_;

/* Where QEMU is: a path to free, or NULL and the line. */
char *lab_qemu_find(void);

/*
 * Whether KVM may be expected to work: its device can be opened, and this machine is not
 * itself a guest, in which it often is there and fails.
 */
bool lab_qemu_has_kvm(void);
