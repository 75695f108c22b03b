/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Little-endian loads and stores of unaligned fields, and overflow-checked
 * sums. Byte by byte in the source; compilers make one move of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline uint16_t load_le16(const void *from)
{
	const uint8_t *p = from;

	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t load_le32(const void *from)
{
	const uint8_t *p = from;

	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t load_le64(const void *from)
{
	const uint8_t *p = from;

	return (uint64_t)load_le32(p) | (uint64_t)load_le32(p + 4) << 32;
}

static inline void store_le16(void *to, uint16_t v)
{
	uint8_t *p = to;

	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

static inline void store_le32(void *to, uint32_t v)
{
	uint8_t *p = to;

	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
	p[2] = (uint8_t)(v >> 16);
	p[3] = (uint8_t)(v >> 24);
}

static inline void store_le64(void *to, uint64_t v)
{
	uint8_t *p = to;

	store_le32(p, (uint32_t)v);
	store_le32(p + 4, (uint32_t)(v >> 32));
}

/* Signed to unsigned so that small magnitudes stay small: 0, -1, 1, -2 … */
static inline uint64_t zigzag_encode(int64_t v)
{
	return ((uint64_t)v << 1) ^ (uint64_t)(v >> 63);
}

static inline int64_t zigzag_decode(uint64_t v)
{
	return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

/* true, and *sum set, when a + b fits. */
static inline bool add_fits(uint64_t a, uint64_t b, uint64_t *sum)
{
	return !__builtin_add_overflow(a, b, sum);
}

/* true, and *product set, when a * b fits. */
static inline bool mul_fits(uint64_t a, uint64_t b, uint64_t *product)
{
	return !__builtin_mul_overflow(a, b, product);
}

/* align is a power of two. */
static inline uint64_t align_down(uint64_t v, uint64_t align)
{
	return v & ~(align - 1);
}

static inline uint64_t align_up(uint64_t v, uint64_t align)
{
	return (v + align - 1) & ~(align - 1);
}
