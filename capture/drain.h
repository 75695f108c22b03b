/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the raw pages of all CPUs into their queues: by io_uring, else by plain reads. */
#pragma once

#include "capture/queue.h"

struct drain;

/* Queues are borrowed. Falls back to plain reads, with a note, when io_uring is refused. */
int drain_new(struct drain **out, struct page_queue *queues, unsigned count,
              bool plain) _must_check_ _nonnull_;
struct drain *drain_free(struct drain *d);

/* Reads until every CPU has nothing more or its queue is full (queue->more). Never blocks. */
int drain_fill(struct drain *d) _must_check_ _nonnull_;

bool drain_uses_io_uring(const struct drain *d) _nonnull_;
