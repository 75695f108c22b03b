/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a fuzz target defines, and fuzz_main.c or a fuzzer calls. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
