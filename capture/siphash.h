/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SipHash-2-4 of two words: a keyed hash that says which values were equal and
 * nothing else (Aumasson and Bernstein, "SipHash: a fast short-input PRF").
 */
#pragma once

#include <stdint.h>

struct siphash_key {
	uint64_t k0, k1;
};

uint64_t siphash_pair(const struct siphash_key *key, uint64_t a, uint64_t b);
