/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target without a fuzzer: over its seed corpus, and over a fixed number of
 * random changes to each seed, so that every test run tries hostile input.
 *
 *   fuzz_NAME [--changes=N] FILE…
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

#define INPUT_MAX (1u << 20)

static uint64_t random_state = 88172645463325252ULL;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* A few bytes changed, a piece cut out or doubled. */
static size_t change(uint8_t *data, size_t len)
{
	size_t a = random_next() % (len + 1), b = random_next() % (len + 1);
	size_t from = a < b ? a : b, to = a < b ? b : a;

	switch (random_next() % 8) {
	case 0:
		memmove(data + from, data + to, len - to);
		return len - (to - from);
	case 1:
		if (to - from > INPUT_MAX - len)
			return len;
		memmove(data + to, data + from, len - from);
		return len + (to - from);
	case 2:
		return from;
	default:
		for (uint64_t n = 1 + random_next() % 4; n && len; n--)
			data[random_next() % len] = (uint8_t)random_next();
		return len;
	}
}

static int run_file(const char *path, unsigned changes)
{
	static uint8_t seed[INPUT_MAX], data[INPUT_MAX];
	FILE *f = fopen(path, "rb");
	size_t len;

	if (!f) {
		perror(path);
		return 1;
	}
	len = fread(seed, 1, sizeof(seed), f);
	fclose(f);
	LLVMFuzzerTestOneInput(seed, len);
	for (unsigned i = 0; i < changes; i++) {
		memcpy(data, seed, len);
		LLVMFuzzerTestOneInput(data, change(data, len));
	}
	return 0;
}

int main(int argc, char **argv)
{
	unsigned changes = 0;
	int failed = 0, files = 0;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "--changes=", 10)) {
			changes = (unsigned)strtoul(argv[i] + 10, NULL, 10);
			continue;
		}
		failed |= run_file(argv[i], changes);
		files++;
	}
	printf("%d seeds, %u changes of each\n", files, changes);
	return failed || !files;
}
