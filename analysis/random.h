/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Random numbers for resampling, the same on every machine for the same seed.
 * Algorithm: SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
 * number generators", OOPSLA 2014); ranges by multiplication (Lemire, "Fast
 * random integer generation in an interval", ACM TOMACS 2019, without the
 * rejection step: the bias for ranges below 2^20 is under 2^-44).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct random {
	uint64_t state;
};

static inline uint64_t random_u64(struct random *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/* 0 … n-1, n at least 1. */
static inline size_t random_below(struct random *r, size_t n)
{
	return (size_t)((unsigned __int128)random_u64(r) * n >> 64);
}

/* Puts the items in an order that is as likely as any other (Fisher and Yates). */
static inline void random_shuffle(struct random *r, double *items, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t k = random_below(r, i);
		double kept = items[i - 1];

		items[i - 1] = items[k];
		items[k] = kept;
	}
}
