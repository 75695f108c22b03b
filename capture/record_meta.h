/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a recording says about itself and its machine. */
#pragma once

#include "capture/ingest.h"
#include "capture/record.h"
#include "traces/meta.h"

int record_meta_fill(struct trace_meta *meta, const struct record_options *options, uint32_t root,
                     uint64_t start) _must_check_ _nonnull_;

/* Writes a snapshot of the kernel's counters; with in also what the recorder counted. */
int record_stat_write(struct trace_writer *w, unsigned when, uint64_t time,
                      const struct ingest *in) _must_check_ _nonnull_args_(1);
