/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab: kernels booted in QEMU, each with an initramfs that holds this program as
 * /init, and what is to be measured. docs/man/mmtape-lab.1.scd says what it does.
 */
#pragma once

#include "analysis/result.h"
#include "common/options.h"

#define LAB_MAX_KERNELS 32u
#define LAB_MAX_BOOTS 1000u
#define LAB_MAX_CPUS 255u
#define LAB_MAX_NODES 64u

/* What a guest finds in its initramfs; no slash in front, as cpio has it. */
#define LAB_FOLDER "lab"
#define LAB_ARGUMENTS LAB_FOLDER "/arguments" /* the command: a NUL behind each word; or none */
#define LAB_SWAP LAB_FOLDER "/swap" /* bytes of zram, decimal */
#define LAB_FILES "files" /* folder of the user's files; commands run there */
#define LAB_TRACES "traces" /* folder of the trace */
#define LAB_BUSYBOX "bin/busybox"
#define LAB_RESULT "/tmp/result.json" /* where the command in the guest leaves its result */

enum lab_accel { LAB_ACCEL_AUTO, LAB_ACCEL_KVM, LAB_ACCEL_TCG };

struct lab_kernel {
	char *name;
	char *images[2]; /* of two, the first counts and the second is timed; or NULL */
	struct result *result; /* of the boots so far, or NULL */
	uint32_t done, failed; /* boots */
	bool given_up; /* its first boot failed: the next would, too */
	bool incomplete; /* the command in a guest exited with 3 */
};

struct lab_setup {
	struct lab_kernel kernels[LAB_MAX_KERNELS];
	size_t kernel_count;
	const char *output; /* folder */
	uint32_t boots, cpus, nodes;
	uint32_t repeat, warmup; /* in a boot, unless the words say otherwise */
	const char *sources; /* that the guest's command uses */
	uint64_t memory, swap; /* bytes; memory 0: what is needed */
	uint64_t timeout; /* ns */
	unsigned accel; /* enum lab_accel */
	const char *append, *cpu, *qemu, *program;
	struct option_list files;
	bool force, resume;
	/* What the guest runs: "replay" or "measure" and their options as given; owned. */
	char **words;
	size_t word_count;
	const char *trace; /* of a replay: the path here */
	char *const *command; /* of a measurement: words, the first a path here */
	/* Of a replay: bytes it needs in the guest, 0 before that is known. */
	uint64_t need;
};

/* OPTIONS_HELP, or -EINVAL after printing one line. argv[0] is what messages call the command. */
int lab_options_run(struct lab_setup *s, int argc, char **argv) _must_check_ _nonnull_;
int lab_options_shell(struct lab_setup *s, int argc, char **argv) _must_check_ _nonnull_;
void lab_setup_clear(struct lab_setup *s) _nonnull_;

/* "NAME=IMAGE" or "NAME=COUNT,TIME" into the setup; -EINVAL and its line. */
int lab_kernel_add(struct lab_setup *s, const char *text) _must_check_ _nonnull_;

/* Both return an exit status. */
int lab_run(struct lab_setup *s) _nonnull_;
int lab_shell(struct lab_setup *s) _nonnull_;
