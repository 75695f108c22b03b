/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chains SipHash of word after word, with two fixed keys for 128 bits. */

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/siphash.h"
#include "common/cleanup.h"
#include "replay/command_id.h"

struct chain {
	uint64_t hash[2];
};

static void add_word(struct chain *c, uint64_t word)
{
	static const struct siphash_key keys[2] = {
		{ 0x6d6d746170652063ULL, 0x6f6d6d616e642031ULL },
		{ 0x6d6d746170652063ULL, 0x6f6d6d616e642032ULL },
	};

	for (unsigned i = 0; i < 2; i++)
		c->hash[i] = siphash_pair(&keys[i], c->hash[i], word);
}

/* With its length, so that "a b" is not "ab". */
static void add_bytes(struct chain *c, const void *bytes, size_t size)
{
	const unsigned char *at = bytes;

	add_word(c, size);
	while (size) {
		size_t n = size < 8 ? size : 8;
		uint64_t word = 0;

		for (size_t i = 0; i < n; i++)
			word |= (uint64_t)at[i] << (8 * i);
		add_word(c, word);
		at += n;
		size -= n;
	}
}

static int add_file(struct chain *c, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	unsigned char bytes[65536];
	ssize_t n;

	if (fd < 0)
		return error_errno();
	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		add_bytes(c, bytes, (size_t)n);
	return n < 0 ? error_errno() : 0;
}

int command_id(char *const *argv, const char *path, char out[COMMAND_ID_SIZE])
{
	const char *slash = strrchr(argv[0], '/');
	const char *name = slash ? slash + 1 : argv[0];
	struct chain c = { { 0, 0 } };
	int r = 0;

	add_bytes(&c, name, strlen(name));
	for (char *const *arg = argv + 1; *arg; arg++)
		add_bytes(&c, *arg, strlen(*arg));
	if (path)
		r = add_file(&c, path);
	if (r < 0)
		return r;
	snprintf(out, COMMAND_ID_SIZE, "command-%016" PRIx64 "%016" PRIx64, c.hash[0], c.hash[1]);
	return 0;
}
