/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Swap in a guest. */
#pragma once

#include <stdint.h>

#include "common/error.h"

/* Compressed memory (zram0) of so many bytes as swap. Prints its line: -ENOENT without zram. */
int lab_swap_on(uint64_t bytes) _must_check_;
