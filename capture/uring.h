/* SPDX-License-Identifier: GPL-2.0-or-later */
/* io_uring reads of raw pages: the only user of liburing. */
#pragma once

#include "capture/queue.h"

struct uring;

/* -ENOSYS, -EPERM, -ENOMEM …: io_uring cannot be had. Prints nothing. */
int uring_new(struct uring **out, unsigned queues) _must_check_ _nonnull_;
struct uring *uring_free(struct uring *u);

/* As drain_fill(). -EOPNOTSUPP or -EINVAL: this kernel cannot read these files so. */
int uring_fill(struct uring *u, struct page_queue *queues, unsigned count) _must_check_ _nonnull_;
