/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The repetitions of a replay. */
#pragma once

#include "replay/replay_result.h"

/*
 * Runs all of them and adds their rows to the result. Prints its one line on
 * failure: what execute_run() says, -ENOMEM.
 */
int replay_passes_run(const struct replay_setup *setup, const struct plan *plan,
                      struct measurement *m, struct replay_totals *totals) _must_check_ _nonnull_;
