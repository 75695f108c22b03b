/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mappings worked out from program headers and first faults. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/guess.h"

#define BASE 0x55e0a0000000ULL
#define LOADER 0x7f20c0000000ULL
#define STACK 0x7ffd10025000ULL
#define ROOM 80

static const struct siphash_key key = { 1, 2 };

/* Code from the second page on; data whose end is not in the file. */
static const struct headers program = {
	.movable = true,
	.entry = 0x1234,
	.table = 0x40,
	.load_count = 3,
	.loads = { { 0x0, 0x0, 0x800, 0x800, PROT_READ },
	           { 0x1000, 0x1000, 0x2345, 0x2345, PROT_READ | PROT_EXEC },
	           { 0x4df0, 0x3df0, 0x400, 0x3000, PROT_READ | PROT_WRITE } },
	.inode = 7,
	.interpreter = "/lib/ld.so",
};

static const struct headers loader = {
	.movable = true,
	.entry = 0x1b2d0,
	.table = 0x40,
	.load_count = 1,
	.loads = { { 0x0, 0x0, 0x30000, 0x30000, PROT_READ | PROT_EXEC } },
	.inode = 8,
};

static void fault(struct guess *g, uint64_t address, uint64_t code)
{
	const struct event e = { .kind = EVENT_FAULT_USER, .task = 5, .arg = { address, code } };

	guess_fault(g, &e);
}

static void begin(struct guess *g, uint64_t stack)
{
	guess_begin(g, 5);
	fault(g, BASE + 0x5000, FAULT_WRITE);
	fault(g, stack, FAULT_WRITE);
	guess_want(g, 1000, "/bin/x", 6);
}

static size_t guess(const struct guess *g, const struct headers *interpreter,
                    struct trace_map *maps)
{
	return guess_maps(g, &program, interpreter, &key, maps, ROOM);
}

static void test_dynamic_program(void **state)
{
	struct trace_map maps[ROOM];
	struct guess g;

	begin(&g, STACK);
	fault(&g, LOADER + 0x1b000, FAULT_USER | FAULT_INSTRUCTION);
	fault(&g, LOADER + 0x2000, FAULT_USER);
	fault(&g, BASE, FAULT_USER);
	assert_int_equal(guess(&g, &loader, maps), 6);
	assert_int_equal(maps[0].start, BASE);
	assert_int_equal(maps[1].end, BASE + 0x4000);
	/* The data segment: two pages of the file, the rest without one. */
	assert_int_equal(maps[2].start, BASE + 0x4000);
	assert_int_equal(maps[2].end, BASE + 0x6000);
	assert_int_equal(maps[2].offset, 0x3000);
	assert_int_equal(maps[2].file, maps[0].file);
	assert_int_equal(maps[3].kind, MAP_KIND_ANON);
	assert_int_equal(maps[3].start, BASE + 0x6000);
	assert_int_equal(maps[3].end, BASE + 0x8000);
	assert_int_equal(maps[4].start, LOADER);
	assert_int_not_equal(maps[4].file, maps[0].file);
	assert_int_equal(maps[5].kind, MAP_KIND_STACK);
	assert_int_equal(maps[5].end, STACK + 0x1000);
}

static void test_static_program(void **state)
{
	struct trace_map maps[ROOM];
	struct guess g;

	begin(&g, STACK);
	fault(&g, LOADER + 0x1000, FAULT_USER | FAULT_INSTRUCTION);
	assert_int_equal(guess(&g, NULL, maps), 5);
	assert_int_equal(maps[0].start, LOADER);
}

static void test_first_fault_must_be_of_an_instruction(void **state)
{
	struct trace_map maps[ROOM];
	struct guess g;

	begin(&g, STACK);
	fault(&g, LOADER + 0x2000, FAULT_USER);
	fault(&g, LOADER + 0x1b000, FAULT_USER | FAULT_INSTRUCTION);
	fault(&g, BASE, FAULT_USER);
	assert_int_equal(guess(&g, &loader, maps), 0);
}

static void test_no_fault_may_lie_below_the_program(void **state)
{
	struct trace_map maps[ROOM];
	struct guess g;

	begin(&g, STACK);
	fault(&g, LOADER + 0x1b000, FAULT_USER | FAULT_INSTRUCTION);
	fault(&g, BASE + 0x2000, FAULT_USER);
	fault(&g, BASE, FAULT_USER);
	assert_int_equal(guess(&g, &loader, maps), 0);
}

static void test_nothing_is_known_without_faults(void **state)
{
	struct trace_map maps[ROOM];
	struct guess g;

	guess_begin(&g, 5);
	guess_want(&g, 1000, "/bin/x", 6);
	assert_int_equal(guess(&g, &loader, maps), 0);
}

/* Writes a file and reads its headers; gives what headers_read() said. */
static int read_back(struct headers *out, const void *data, size_t size)
{
	char path[] = "/tmp/mmtape-headers-XXXXXX";
	int fd = mkstemp(path), r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), (ssize_t)size);
	close(fd);
	r = headers_read(out, path);
	unlink(path);
	return r;
}

static void test_headers_of_scripts(void **state)
{
	struct headers h;

	assert_int_equal(read_back(&h, "#! /bin/sh -e\n", 14), 2);
	assert_string_equal(h.interpreter, "/bin/sh");
	assert_int_equal(read_back(&h, "#!\n", 3), 1);
	assert_int_equal(read_back(&h, "#!/bin/sh", 9), 1);
	assert_int_equal(read_back(&h, "", 0), 1);
}

static void test_headers_of_this_program(void **state)
{
	struct headers h;

	assert_int_equal(headers_read(&h, "/proc/self/exe"), 0);
	assert_true(h.load_count > 0 && h.entry > 0);
}

/* Whatever its bytes, a file is read or refused. */
static void test_damaged_headers(void **state)
{
	uint8_t image[4096];
	FILE *f = fopen("/proc/self/exe", "re");
	struct headers h;

	assert_non_null(f);
	assert_int_equal(fread(image, 1, sizeof(image), f), sizeof(image));
	fclose(f);
	for (size_t i = 4; i < 64 + 8 * 56; i++) {
		uint8_t was = image[i];

		for (unsigned v = 0; v < 256; v += 51) {
			image[i] = (uint8_t)v;
			if (read_back(&h, image, sizeof(image)) == 0)
				assert_true(h.load_count <= HEADERS_MAX_LOADS);
		}
		image[i] = was;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dynamic_program),
		cmocka_unit_test(test_static_program),
		cmocka_unit_test(test_first_fault_must_be_of_an_instruction),
		cmocka_unit_test(test_no_fault_may_lie_below_the_program),
		cmocka_unit_test(test_nothing_is_known_without_faults),
		cmocka_unit_test(test_headers_of_scripts),
		cmocka_unit_test(test_headers_of_this_program),
		cmocka_unit_test(test_damaged_headers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
