/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which of many sorted streams comes next: a tree of losers (Knuth, The Art of
 * Computer Programming, volume 3, 5.4.1). Node 0 is the winner, each inner node
 * whoever lost there; a new key of the winner is played up one path.
 *
 * A key holds its stream in its low bits, above them what is sorted by, so that
 * a match is a minimum and a maximum: no branch, which the processor would
 * mispredict at every second match, and equal keys go by stream.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TOURNAMENT_ENDED UINT64_MAX /* the key of a stream that has nothing left */

struct tournament {
	uint64_t *nodes; /* 1 << stream_bits */
	unsigned stream_bits;
};

/* The bits that so many streams need. */
static inline unsigned tournament_bits(size_t streams)
{
	unsigned bits = 0;

	while ((size_t)1 << bits < streams)
		bits++;
	return bits;
}

/* The largest value that a key can hold beside its stream. */
static inline uint64_t tournament_max(const struct tournament *t)
{
	return (UINT64_MAX >> t->stream_bits) - 1;
}

static inline uint64_t tournament_key(const struct tournament *t, uint64_t value, size_t stream)
{
	return value << t->stream_bits | stream;
}

static inline uint64_t tournament_winner(const struct tournament *t)
{
	return t->nodes[0];
}

static inline size_t tournament_stream(const struct tournament *t, uint64_t key)
{
	return key & (((size_t)1 << t->stream_bits) - 1);
}

/* The winner, which was this stream, has a new key. */
static inline void tournament_play(struct tournament *t, size_t stream, uint64_t key)
{
	for (size_t i = (stream + ((size_t)1 << t->stream_bits)) / 2; i; i /= 2) {
		uint64_t other = t->nodes[i];

		t->nodes[i] = other < key ? key : other;
		key = other < key ? other : key;
	}
	t->nodes[0] = key;
}

/*
 * Starts over. key[] has one for each of 1 << stream_bits streams. The first to
 * come to a node waits there for the second.
 */
static inline void tournament_start(struct tournament *t, const uint64_t *key)
{
	size_t streams = (size_t)1 << t->stream_bits;

	for (size_t s = 0; s < streams; s++) {
		uint64_t up = key[s];
		size_t place = s + streams;

		/* A right child comes second: its match can be held. */
		for (; place > 1 && place % 2; place /= 2) {
			uint64_t other = t->nodes[place / 2];

			t->nodes[place / 2] = other < up ? up : other;
			up = other < up ? other : up;
		}
		t->nodes[place / 2] = up;
	}
}
