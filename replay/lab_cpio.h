/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes an initramfs: a cpio archive in the form "newc", uncompressed, as
 * Documentation/driver-api/early-userspace/buffer-format.rst has it. Everything belongs to root;
 * times are 0, so that the same contents make the same bytes.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/error.h"

struct lab_cpio {
	FILE *to; /* borrowed */
	uint32_t inode;
	uint64_t bytes; /* written so far */
};

/*
 * Paths have no leading slash; folders come before what is in them. 0, the negative
 * errno of the stream, or -EFBIG for what the format cannot hold (4 GiB).
 */
int lab_cpio_folder(struct lab_cpio *c, const char *path) _must_check_ _nonnull_;
int lab_cpio_device(struct lab_cpio *c, const char *path, unsigned major,
                    unsigned minor) _must_check_ _nonnull_;
int lab_cpio_bytes(struct lab_cpio *c, const char *path, mode_t permissions, const void *bytes,
                   size_t size) _must_check_ _nonnull_args_(1, 2);
/* The contents of fd from where it is to its end, which is `size` bytes on; -EIO if not. */
int lab_cpio_file(struct lab_cpio *c, const char *path, mode_t permissions, int fd,
                  uint64_t size) _must_check_ _nonnull_;
/* The archive is complete then; the stream is not flushed. */
int lab_cpio_end(struct lab_cpio *c) _must_check_ _nonnull_;
