/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of the running kernel's functions by address, from /proc/kallsyms, modules included. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct symbols;

/*
 * Reads the table, some megabytes. Silent:
 * -EPERM: addresses are hidden (kptr_restrict), symbols_explain() has the sentence;
 * -ENOENT: a kernel without the table; -EBADMSG: a line that is none of it.
 */
int symbols_new(struct symbols **out) _must_check_ _nonnull_;
struct symbols *symbols_free(struct symbols *s);

/* Whether symbols_new() would work, from the first lines; with "cause: remedy" in why. */
int symbols_explain(char *why, size_t size) _must_check_ _nonnull_;

/* The function that address is in, or NULL: below the first one, or no kernel address. */
const char *symbols_find(const struct symbols *s, uint64_t address) _nonnull_;

/* Where that function begins; 0 for none. */
uint64_t symbols_start(const struct symbols *s, uint64_t address) _nonnull_;

size_t symbols_count(const struct symbols *s) _nonnull_;
