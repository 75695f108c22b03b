/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest finds in its memory when it starts. */
#pragma once

#include "replay/lab_options.h"

/* Which passes a boot is for, when counting and timing have an image each. */
enum lab_part { LAB_PART_ALL, LAB_PART_COUNT, LAB_PART_TIME };

/* Writes the archive for `lab run`, or for `lab shell`, to a new file. Prints its line. */
int lab_initrd_run(const struct lab_setup *s, enum lab_part part,
                   const char *path) _must_check_ _nonnull_;
int lab_initrd_shell(const struct lab_setup *s, const char *path) _must_check_ _nonnull_;
