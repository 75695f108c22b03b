/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --mthp-sweep: the sizes of folios that are tried one after the other. */
#pragma once

#include <stddef.h>

#include "capture/settings.h"

#define SWEEP_MAX 12

struct sweep {
	unsigned orders[SWEEP_MAX]; /* folio orders, as given */
	size_t count;
};

/* "16k,32k,2m": powers of two from 16k to 2m (order 2 to 9), each once. -EINVAL and its line. */
int sweep_parse(const char *text, struct sweep *out) _must_check_ _nonnull_;

/*
 * This size is used always, all others never. Without settings for each size (until 6.7) only
 * the huge page can be had: -ENOENT and its line for others.
 */
int sweep_apply(const struct sweep *sweep, size_t at,
                struct settings_change *change) _must_check_ _nonnull_;
