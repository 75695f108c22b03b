/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files are, from their bytes: kernel images, programs. Pure.
 * Documentation/arch/x86/boot.rst has the layout of a bzImage.
 */
#pragma once

#include <stddef.h>

#include "common/error.h"

#define LAB_IMAGE_LOOK (64u << 10) /* bytes from the start that are enough to tell */

/* 0: a 64-bit x86 bzImage. -EBADMSG: something else; why says what it is. */
int lab_image_check(const void *bytes, size_t size, char *why,
                    size_t why_size) _must_check_ _nonnull_;

/* 0: a program that runs alone. -EBADMSG: something else, another machine's, or needing libraries.
 */
int lab_program_check(const void *bytes, size_t size, char *why,
                      size_t why_size) _must_check_ _nonnull_;
