/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks what a plan promises, without running it: tables and streams within
 * its bounds, addresses within the window, every task started once by its
 * parent, and waits that end: an execution is simulated to its end.
 */
#pragma once

#include "replay/compile.h"

/* 0, or -EINVAL with what is wrong in `why`, cut to size; -ENOMEM. */
int plan_check(const struct plan *plan, char *why, size_t size) _must_check_ _nonnull_;
