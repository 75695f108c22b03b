/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The primary metrics of a result: at most ten, declared before the first row, the same
 * ones in the same order for the same sources, whatever the rows then hold.
 */
#pragma once

#include "replay/observe.h"

/*
 * times: there is a pass that times. operations: what was done can be counted, so that
 * acquisitions are given per operation; without, as counts. -ENOMEM.
 */
int primaries_declare(struct result *r, const struct observer *o, bool times,
                      bool operations) _must_check_ _nonnull_;
