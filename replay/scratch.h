/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scratch files: what a replay maps instead of the files of the recording. */
#pragma once

#include <stdbool.h>

#include "replay/compile.h"

/*
 * Makes the file of number `index` (from 0) of the plan: sized, and, unless
 * cold, with data in the windows that are touched, so that they are in the page
 * cache. on_disk: a nameless file in TMPDIR or /var/tmp; otherwise tmpfs
 * memory. Returns a descriptor, or prints its line and returns a negative errno.
 */
int scratch_open(const struct plan *plan, uint32_t index, bool on_disk,
                 bool cold) _must_check_ _nonnull_;
