/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks kept once, and callers that a stack lacks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/chains.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

/* One function every 0x1000 from here. */
#define UNLOCK 0xffffffff81001000
#define INNER 0xffffffff81002000
#define CALLER 0xffffffff81003000
#define OUTER 0xffffffff81004000
#define OTHER 0xffffffff81005000

static char root[] = "/tmp/mmtape-test-chains-XXXXXX";
static struct symbols *symbols;

static int load_symbols(void **state)
{
	char path[128];
	FILE *f;

	if (!mkdtemp(root))
		return -1;
	snprintf(path, sizeof(path), "%s/proc", root);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	f = fopen(path, "w");
	if (!f)
		return -1;
	for (unsigned i = 1; i < 10; i++)
		fprintf(f, "ffffffff8100%x000 t function_%u\n", i, i);
	fclose(f);
	sysfile_set_root(root);
	return symbols_new(&symbols);
}

static int remove_symbols(void **state)
{
	char path[128];

	symbols_free(symbols);
	sysfile_set_root("");
	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	return rmdir(root);
}

static struct chains *make(void)
{
	struct chains *c;

	assert_int_equal(chains_new(&c, symbols), 0);
	return c;
}

static void test_stacks_are_kept_once(void **state)
{
	const uint64_t one[] = { INNER + 8, CALLER + 8 }, two[] = { INNER + 8, CALLER + 16 };
	struct chains *c = make();
	const uint64_t *at;
	uint64_t samples;
	size_t count;

	assert_int_equal(chains_add(c, one, 2), 0);
	assert_int_equal(chains_add(c, two, 2), 0);
	assert_int_equal(chains_add(c, one, 2), 0);
	at = chains_at(c, 0, &count, &samples);
	assert_int_equal(samples, 2);
	assert_int_equal(count, 2);
	assert_memory_equal(at, one, sizeof(one));
	at = chains_at(c, 1, &count, &samples);
	assert_int_equal(samples, 1);
	assert_memory_equal(at, two, sizeof(two));
	assert_null(chains_at(c, 2, &count, &samples));
	chains_reset(c);
	assert_null(chains_at(c, 0, &count, &samples));
	chains_free(c);
}

static void test_lost_caller_is_found(void **state)
{
	const uint64_t whole[] = { OTHER + 4, INNER + 64, CALLER + 32, OUTER + 16 };
	const uint64_t lacks[] = { UNLOCK + 9, CALLER + 32, OUTER + 16 };
	struct chains *c = make();

	assert_int_equal(chains_add(c, lacks, 3), 0);
	assert_int_equal(chains_lost_caller(c, lacks, 3), 0);
	assert_int_equal(chains_add(c, whole, 4), 0);
	assert_int_equal(symbols_start(symbols, chains_lost_caller(c, lacks, 3)), INNER);
	chains_free(c);
}

static void test_nothing_is_lost(void **state)
{
	const uint64_t whole[] = { OTHER + 4, UNLOCK + 64, CALLER + 32 };
	const uint64_t stack[] = { UNLOCK + 9, CALLER + 32 };
	struct chains *c = make();

	assert_int_equal(chains_add(c, whole, 3), 0);
	assert_int_equal(chains_lost_caller(c, stack, 2), 0);
	assert_int_equal(chains_lost_caller(c, stack, 1), 0);
	assert_int_equal(chains_lost_caller(c, stack, 0), 0);
	chains_free(c);
}

static void test_disagreement(void **state)
{
	const uint64_t one[] = { OTHER + 4, INNER + 64, CALLER + 32 };
	const uint64_t two[] = { OUTER + 4, OTHER + 64, CALLER + 32 };
	const uint64_t lacks[] = { UNLOCK + 9, CALLER + 32 };
	struct chains *c = make();

	assert_int_equal(chains_add(c, one, 3), 0);
	assert_int_equal(chains_add(c, two, 3), 0);
	assert_int_equal(chains_lost_caller(c, lacks, 2), 0);
	assert_int_equal(chains_add(c, one, 3), 0);
	assert_int_equal(chains_lost_caller(c, lacks, 2), 0);
	chains_free(c);
}

static void test_room_is_bounded(void **state)
{
	struct chains *c = make();
	uint64_t chain[2] = { INNER, 0 };
	int r = 0;

	for (uint64_t i = 0; i < 1000000 && r == 0; i++) {
		chain[1] = CALLER + i;
		r = chains_add(c, chain, 2);
	}
	assert_int_equal(r, 1);
	/* What is there is still counted. */
	chain[1] = CALLER;
	assert_int_equal(chains_add(c, chain, 2), 0);
	chains_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stacks_are_kept_once),
		cmocka_unit_test(test_lost_caller_is_found),
		cmocka_unit_test(test_nothing_is_lost),
		cmocka_unit_test(test_disagreement),
		cmocka_unit_test(test_room_is_bounded),
	};

	return cmocka_run_group_tests(tests, load_symbols, remove_symbols);
}
