/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bound on the memory that all models of address spaces in this process take
 * together, so that a hostile trace cannot exhaust the machine.
 */
#pragma once

#include <stddef.h>

#include "common/error.h"

#define BUDGET_BYTES ((size_t)1 << 30)

/* 0, or -E2BIG if that would go beyond BUDGET_BYTES. */
int budget_take(size_t bytes) _must_check_;
void budget_give(size_t bytes);
size_t budget_taken(void);
