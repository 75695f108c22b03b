/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much memory there is for a replay. */
#pragma once

#include <stdint.h>

#include "common/error.h"

/*
 * What can still be used, of the machine and of the memory cgroups this process
 * is in (version 1 and 2): the smallest. UINT64_MAX when neither can be read.
 */
uint64_t memory_available(void);

/* All of the machine's. */
uint64_t memory_total(void);

/* Of swap; 0 when it cannot be read. */
uint64_t memory_swap_free(void);
