/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call stacks of samples, each kept once with its count, in bounded memory; and
 * the callers that a stack lacks, worked out from the others.
 *
 * A kernel that unwinds by frame pointers loses the caller of a function that has not
 * made its frame yet, or has left it. A timer that could not fire while interrupts were
 * off fires just there: at the return of _raw_spin_unlock_irqrestore(). What is left is
 * the return address in the caller's caller; and which function is
 * called just before that address is known from any other stack that goes through it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/symbols.h"
#include "common/error.h"

struct chains;

uint64_t chains_hash(const uint64_t *chain, size_t count) _nonnull_;

/* Borrows the symbols. */
int chains_new(struct chains **out, const struct symbols *symbols) _must_check_ _nonnull_;
struct chains *chains_free(struct chains *c);

/* Counts a stack, innermost first. 1: there is no room for another one; -ENOMEM. */
int chains_add(struct chains *c, const uint64_t *chain, size_t count) _must_check_ _nonnull_;

/* All stacks added since the last reset, by number; NULL: no more. */
const uint64_t *chains_at(const struct chains *c, size_t number, size_t *count,
                          uint64_t *samples) _nonnull_;

/*
 * An address in the function that is called just before the stack's second address, if
 * other stacks agree on one and it is not the innermost one; else 0.
 */
uint64_t chains_lost_caller(const struct chains *c, const uint64_t *chain, size_t count) _nonnull_;

void chains_reset(struct chains *c) _nonnull_;
