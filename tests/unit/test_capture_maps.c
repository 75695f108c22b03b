/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of /proc/PID/maps, and the keyed hash that stands for files. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/maps.h"

static const struct siphash_key key = { 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL };

/* The vector for a message of 16 bytes in the reference implementation of its authors. */
static void test_siphash_vector(void **state)
{
	assert_int_equal(siphash_pair(&key, 0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL),
	                 0x3f2acc7f57c29bdbULL);
}

static void test_file_line(void **state)
{
	struct trace_map m;

	assert_int_equal(maps_parse_line(&m,
	                                 "7f10a0000000-7f10a0026000 r-xp 00002000 08:02 135522 "
	                                 "   /usr/lib/a b.so\n",
	                                 &key),
	                 0);
	assert_int_equal(m.start, 0x7f10a0000000ULL);
	assert_int_equal(m.end, 0x7f10a0026000ULL);
	assert_int_equal(m.offset, 0x2000);
	assert_int_equal(m.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(m.kind, MAP_KIND_FILE);
	assert_int_equal(m.file, siphash_pair(&key, makedev(8, 2), 135522));
}

static uint32_t kind_of(const char *line)
{
	struct trace_map m;

	assert_int_equal(maps_parse_line(&m, line, &key), 0);
	return m.kind;
}

static void test_kinds(void **state)
{
	assert_int_equal(kind_of("1000-2000 rw-p 00000000 00:00 0 \n"), MAP_KIND_ANON);
	assert_int_equal(kind_of("1000-2000 rw-p 00000000 00:00 0 [anon:x]\n"), MAP_KIND_ANON);
	assert_int_equal(kind_of("1000-2000 rw-p 00000000 00:00 0 [heap]\n"), MAP_KIND_HEAP);
	assert_int_equal(kind_of("1000-2000 rw-p 00000000 00:00 0 [stack]\n"), MAP_KIND_STACK);
	assert_int_equal(kind_of("1000-2000 r--p 00000000 00:00 0 [vvar_vclock]\n"),
	                 MAP_KIND_SPECIAL);
}

static void test_shared(void **state)
{
	struct trace_map m;

	assert_int_equal(maps_parse_line(&m, "1000-2000 rw-s 00000000 00:01 7 /dev/zero\n", &key),
	                 0);
	assert_int_equal(m.prot, PROT_READ | PROT_WRITE | FORMAT_MAP_SHARED);
}

static void test_left_out_and_refused(void **state)
{
	struct trace_map m;

	assert_int_equal(maps_parse_line(&m,
	                                 "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 "
	                                 "[vsyscall]\n",
	                                 &key),
	                 1);
	assert_int_equal(maps_parse_line(&m, "2000-1000 rw-p 0 00:00 0\n", &key), -EINVAL);
	assert_int_equal(maps_parse_line(&m, "garbage\n", &key), -EINVAL);
}

static void test_own_mappings(void **state)
{
	struct trace_maps maps;
	bool found = false;

	assert_int_equal(maps_read(&maps, (uint32_t)getpid(), &key), 0);
	for (size_t i = 0; i < maps.count; i++)
		found |= maps.maps[i].start <= (uintptr_t)&maps &&
		         maps.maps[i].end > (uintptr_t)&maps && maps.maps[i].kind == MAP_KIND_STACK;
	assert_true(found);
	assert_false(maps_is_32_bit(&maps));
	maps_clear(&maps);
}

static void test_a_process_that_is_gone(void **state)
{
	struct trace_maps maps;

	/* Beyond the largest possible process id. */
	assert_int_equal(maps_read(&maps, 0x7fffffff, &key), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash_vector),
		cmocka_unit_test(test_file_line),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_left_out_and_refused),
		cmocka_unit_test(test_own_mappings),
		cmocka_unit_test(test_a_process_that_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
