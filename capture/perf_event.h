/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Perf events of the whole machine, one CPU at a time (perf_event_open(2)). */
#pragma once

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

/* CPU numbers are below this one; some may be offline. */
uint32_t perf_event_cpus(void);

/*
 * Completes an event whose type, config and period are set: off, samples of
 * PERF_SAMPLE_BASE in CLOCK_MONOTONIC with addresses of the kernel only.
 */
void perf_event_prepare(struct perf_event_attr *event) _nonnull_;

/* A descriptor, or -errno: -ENODEV for a CPU that is offline. Silent. */
int perf_event_open_on(const struct perf_event_attr *event, uint32_t cpu) _must_check_ _nonnull_;

/* Opens the event on one CPU and closes it again. Silent. */
int perf_event_try(const struct perf_event_attr *event) _must_check_ _nonnull_;

/* What either returned, as "cause: remedy". */
void perf_event_explain(int r, char *why, size_t size) _nonnull_;
