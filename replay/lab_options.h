/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab was asked to do. */
#pragma once

#include "common/options.h"
#include "replay/lab_qemu.h"
#include "replay/replay_options.h"

#define LAB_MAX_KERNELS 16

struct lab_kernel {
	char name[64]; /* of the result's file */
	char *image; /* counts, if there is another for times; else does both */
	char *timed; /* or NULL */
};

struct lab_setup {
	struct lab_kernel kernels[LAB_MAX_KERNELS];
	size_t kernel_count;
	struct option_list kernel_list;
	struct lab_machine machine;
	char *qemu, *program; /* owned; program: the mmtape that runs in the guests */
	const char *output; /* a folder */
	const char *given_program;
	const char *trace; /* or NULL: a command */
	char **words; /* options of replay behind the trace, or the command; NULL behind the last */
	struct replay_setup replay; /* what the options behind the trace mean */
	const char *sources;
	unsigned accel; /* auto, kvm, tcg */
	uint64_t swap;
	uint32_t boots, repeat, warmup;
	bool resume, force;
	bool has_sources; /* said among the words */
};

/* argv[0] is "run" or "shell". OPTIONS_HELP, or a negative errno after one line. */
int lab_options_parse(struct lab_setup *s, int argc, char **argv) _must_check_ _nonnull_;
void lab_options_clear(struct lab_setup *s) _nonnull_;

/* "NAME=IMAGE" or "NAME=COUNTING,TIMING"; -EINVAL, silent. */
int lab_parse_kernel(const char *text, struct lab_kernel *out) _must_check_ _nonnull_;
