/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the lab takes from this machine, checked before anything is booted. */
#pragma once

#include <stdint.h>

#include "replay/lab.h"

/* All of these print their one line. */

/* The file, opened for reading: a kernel image, or a program that runs alone. */
int lab_open_image(const char *path) _must_check_ _nonnull_;
int lab_open_program(const char *path, const char *option) _must_check_ _nonnull_args_(1);

/*
 * The static mmtape for the guest: --program, else this program if it is static, else
 * "mmtape-static" beside it.
 */
int lab_open_mmtape(const struct lab_setup *s) _must_check_ _nonnull_;

/*
 * A hash of the whole file. Not a CRC: every bzImage ends in what makes its CRC-32 the same.
 */
int lab_fingerprint(const char *path, uint64_t *out) _must_check_ _nonnull_;

/* The trace can be read, is of the guests' architecture and can be planned; sets s->need. */
int lab_check_trace(struct lab_setup *s) _must_check_ _nonnull_;
