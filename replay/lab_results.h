/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of the lab: one file for each kernel, written anew after each boot. */
#pragma once

#include "replay/lab_qemu.h"

/* All print their line. */

/* Makes the folder if need be, and finds out whether results may be written there. */
int lab_results_prepare(const struct lab_setup *s) _must_check_ _nonnull_;

/* provenance.lab of this kernel's result; fingerprints of its images are in it. */
int lab_describe(const struct lab_setup *s, const struct lab_machine *m, const struct lab_kernel *k,
                 json_t **out) _must_check_ _nonnull_;

/* With --resume: the kernel's result, if there is one, made as this one would be. */
int lab_results_resume(const struct lab_setup *s, struct lab_kernel *k,
                       const json_t *lab) _must_check_ _nonnull_;
/* Whether the kernel's result has rows of that boot. */
bool lab_results_have(const struct lab_kernel *k, unsigned boot) _nonnull_;

/* Takes `made` over: into the kernel's result as that boot, and to its file. */
int lab_results_add(const struct lab_setup *s, struct lab_kernel *k, struct result *made,
                    unsigned boot, const json_t *lab) _must_check_ _nonnull_;
