/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-2-4 for a message of exactly 16 bytes. */

#include "capture/siphash.h"

static uint64_t rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static void rounds(uint64_t v[4], unsigned n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void absorb(uint64_t v[4], uint64_t word)
{
	v[3] ^= word;
	rounds(v, 2);
	v[0] ^= word;
}

uint64_t siphash_pair(const struct siphash_key *key, uint64_t a, uint64_t b)
{
	uint64_t v[4] = {
		key->k0 ^ 0x736f6d6570736575ULL,
		key->k1 ^ 0x646f72616e646f6dULL,
		key->k0 ^ 0x6c7967656e657261ULL,
		key->k1 ^ 0x7465646279746573ULL,
	};

	absorb(v, a);
	absorb(v, b);
	/* The last word is the length in its top byte and no bytes of the message. */
	absorb(v, 16ULL << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
