/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The order that a tournament gives, against a plain search for the smallest. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "traces/tournament.h"

#define STREAMS_MAX 40
#define BITS_MAX 6
#define VALUES 200

struct streams {
	size_t count;
	uint64_t values[STREAMS_MAX][VALUES];
	size_t at[STREAMS_MAX];
};

static uint64_t key_of(const struct tournament *t, const struct streams *s, size_t i)
{
	if (i >= s->count || s->at[i] == VALUES)
		return TOURNAMENT_ENDED;
	return tournament_key(t, s->values[i][s->at[i]], i);
}

/* Steps of 0 to 3, so that many keys are equal. */
static void fill(struct streams *s, size_t count)
{
	uint64_t seed = 88172645463325252ULL + count;

	*s = (struct streams){ .count = count };
	for (size_t i = 0; i < count; i++) {
		uint64_t v = 0;

		for (size_t k = 0; k < VALUES; k++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			v += seed % 4;
			s->values[i][k] = v;
		}
	}
}

static size_t smallest(const struct streams *s)
{
	size_t found = STREAMS_MAX;

	for (size_t i = 0; i < s->count; i++) {
		if (s->at[i] == VALUES)
			continue;
		if (found == STREAMS_MAX || s->values[i][s->at[i]] < s->values[found][s->at[found]])
			found = i;
	}
	return found;
}

static void play_all(size_t count)
{
	uint64_t nodes[1 << BITS_MAX], keys[1 << BITS_MAX];
	struct tournament t = { nodes, tournament_bits(count) };
	static struct streams s;

	fill(&s, count);
	for (size_t i = 0; i < (size_t)1 << t.stream_bits; i++)
		keys[i] = key_of(&t, &s, i);
	tournament_start(&t, keys);
	for (size_t n = 0; n < count * VALUES; n++) {
		size_t stream = tournament_stream(&t, tournament_winner(&t));

		assert_int_equal(stream, smallest(&s));
		s.at[stream]++;
		tournament_play(&t, stream, key_of(&t, &s, stream));
	}
	assert_true(tournament_winner(&t) == TOURNAMENT_ENDED);
}

static void gives_the_smallest_of_any_number_of_streams(void **state)
{
	for (size_t count = 1; count <= STREAMS_MAX; count++)
		play_all(count);
}

static void tells_the_largest_value_from_the_end(void **state)
{
	uint64_t nodes[4];

	for (unsigned bits = 0; bits <= 2; bits++) {
		struct tournament t = { nodes, bits };
		size_t last = ((size_t)1 << bits) - 1;
		uint64_t key = tournament_key(&t, tournament_max(&t), last);

		assert_true(key < TOURNAMENT_ENDED);
		assert_int_equal(tournament_stream(&t, key), last);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(gives_the_smallest_of_any_number_of_streams),
		cmocka_unit_test(tells_the_largest_value_from_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
