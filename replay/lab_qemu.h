/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The emulator: whether KVM works here, QEMU's command line, and its process. */
#pragma once

#include <signal.h>
#include <sys/types.h>

#include "replay/lab.h"

/* What QEMU is asked for beyond the setup. */
struct lab_machine {
	bool kvm;
	/* All virtual CPUs by turns in one thread. With a thread for each, QEMU 7.2 lost about one
	 * in six guests in which the source entries placed its probes: other CPUs ran what was
	 * being patched (panics, and once a CPU that never came back); with one thread none was
	 * lost. */
	bool one_thread;
	const char *cpu;
	uint64_t memory; /* bytes */
	unsigned real_cpus; /* that we may run on */
};

/*
 * Whether a virtual machine runs one instruction: /dev/kvm being there does not say so
 * where we are in a guest ourselves. 0, or -errno.
 */
int lab_kvm_probe(void) _must_check_;

/* Accelerator, CPU model, memory for this setup. Prints its line: no KVM, too little memory. */
int lab_machine_choose(struct lab_machine *m, const struct lab_setup *s) _must_check_ _nonnull_;

/* Emulation after all. */
void lab_machine_emulate(struct lab_machine *m, const struct lab_setup *s) _nonnull_;

/* Where QEMU finds its files: descriptors that it inherits, or a terminal. */
struct lab_wires {
	int initramfs, console, frames; /* console and frames < 0: standard input and output */
};

/* Its words, the first the program, NULL behind; freed with lab_qemu_free(). NULL: no memory. */
char **lab_qemu_words(const struct lab_setup *s, const struct lab_machine *m, const char *image,
                      const struct lab_wires *wires) _must_check_ _nonnull_;
void lab_qemu_free(char **words);

/*
 * Starts it; it dies with us. errors: the pipe or file that becomes its standard
 * error, or -1: ours. Prints its line: no QEMU.
 */
int lab_qemu_start(pid_t *pid, char *const *words, const struct lab_wires *wires, int errors,
                   const sigset_t *mask) _must_check_ _nonnull_;
