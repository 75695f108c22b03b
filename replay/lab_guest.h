/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's side of the lab: mmtape as /init. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "replay/lab.h"
#include "replay/lab_frame.h"

/* The kernel started us as /init of an initramfs that the lab made. */
bool lab_guest_is_us(const char *program);

/* Does all that is asked and switches the machine off; does not return. */
void lab_guest_main(void) __attribute__((noreturn));

/* lab_mounts.c: file systems; what cannot be had is left out. -errno for /proc, /sys and /dev. */
int lab_guest_mount(void) _must_check_;

/* lab_swap.c: makes zram of so many bytes and swaps to it. On failure why says what is missing. */
int lab_guest_swap(uint64_t bytes, char *why, size_t size) _must_check_ _nonnull_;
