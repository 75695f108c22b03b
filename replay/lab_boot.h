/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot of one guest: starts it, listens to it, ends it. */
#pragma once

#include "common/buffer.h"
#include "replay/lab_qemu.h"

struct lab_boot {
	/* Given. */
	const struct lab_setup *setup;
	const struct lab_machine *machine;
	const char *image, *label; /* label: for messages and progress */
	int initramfs;
	int signals; /* a signalfd for those that end the lab; they are blocked */
	const sigset_t *mask; /* of QEMU */
	bool trial; /* only to see whether mmtape starts in it, soon: 0 then, with no result */
	/* What came of it. */
	struct buffer result; /* of the guest's command; empty: none */
	int status; /* of that command */
	struct buffer messages; /* that it printed: lines, a NUL behind each */
	char why[400]; /* of a failure */
	char *console; /* the end of it, or NULL */
};

/*
 * 0: there is a result. 1: there is none; why says why. -EINTR: a signal came.
 * -errno after printing its line: it cannot be started. No process is left behind.
 */
int lab_boot_run(struct lab_boot *b) _must_check_ _nonnull_;
void lab_boot_clear(struct lab_boot *b) _nonnull_;

/* One line, and under it the end of the console. */
void lab_boot_report(const struct lab_boot *b) _nonnull_;
/* What the command printed as messages of its own. */
void lab_boot_messages(const struct lab_boot *b) _nonnull_;

/*
 * Where the setup leaves it open, boots the first kernel with KVM until mmtape runs
 * in it. KVM in a guest may be there and not run a kernel: emulation then, for
 * all boots alike. 0, -EINTR, or -errno after printing its line.
 */
int lab_boot_choose(const struct lab_setup *s, struct lab_machine *m, int initramfs, int signals,
                    const sigset_t *mask) _must_check_ _nonnull_;
