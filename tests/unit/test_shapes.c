/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shapes of calls. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "traces/shapes.h"

static void add(struct shapes *s, enum call call, uint64_t length, uint64_t advice, unsigned times)
{
	while (times--)
		assert_int_equal(shapes_add(s, call, length, advice), 0);
}

static void test_same_shape_is_counted(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MMAP, 4096, 0, 3);
	shapes_sort(&s);
	assert_int_equal(s.count, 1);
	assert_int_equal(s.at[0].count, 3);
	assert_int_equal(s.at[0].bytes, 3 * 4096);
	shapes_clear(&s);
}

static void test_advice_tells_shapes_apart(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MADVISE, 4096, MADV_DONTNEED, 1);
	add(&s, CALL_MADVISE, 4096, MADV_FREE, 1);
	assert_int_equal(s.count, 2);
	shapes_clear(&s);
}

static void test_length_tells_shapes_apart(void **state)
{
	struct shapes s = { 0 };

	for (uint64_t i = 0; i < 5000; i++)
		add(&s, CALL_MUNMAP, i * 4096, 0, 2);
	assert_int_equal(s.count, 5000);
	shapes_clear(&s);
}

static void test_few_large_repetitions_come_before_many_small_calls(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MMAP, 4096, 0, 900);
	add(&s, CALL_MADVISE, 0x7fb000, MADV_DONTNEED, 4);
	for (uint64_t i = 1; i < 80; i++)
		add(&s, CALL_MMAP, i << 20, 0, 1); /* archives, each mapped once */
	shapes_sort(&s);
	assert_int_equal(s.at[0].length, 0x7fb000);
	assert_int_equal(s.at[0].advice, MADV_DONTNEED);
	assert_int_equal(s.at[1].length, 4096);
	shapes_clear(&s);
}

static void test_heaviest_of_each_call_and_advice_is_marked(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MMAP, 1 << 30, 0, 2);
	add(&s, CALL_MMAP, 1 << 20, 0, 2);
	add(&s, CALL_MADVISE, 0x7fb000, MADV_DONTNEED, 1);
	add(&s, CALL_MADVISE, 4096, MADV_DONTNEED, 1);
	add(&s, CALL_MADVISE, 8192, MADV_FREE, 1);
	shapes_sort(&s);
	for (size_t i = 0; i < s.count; i++)
		assert_int_equal(s.at[i].first,
		                 s.at[i].length != 1 << 20 && s.at[i].length != 4096);
	shapes_clear(&s);
}

static void test_single_calls_are_ordered_by_length(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MMAP, 4096, 0, 1);
	add(&s, CALL_MMAP, 8192, 0, 1);
	shapes_sort(&s);
	assert_int_equal(s.at[0].length, 8192);
	shapes_clear(&s);
}

static void test_bytes_do_not_wrap(void **state)
{
	struct shapes s = { 0 };

	add(&s, CALL_MMAP, 1ULL << 63, 0, 3);
	shapes_sort(&s);
	assert_int_equal(s.at[0].bytes, UINT64_MAX);
	shapes_clear(&s);
}

static void test_call_without_a_length_has_no_shape(void **state)
{
	const struct paired_call c = { .call = CALL_PRCTL };
	struct shapes s = { 0 };

	assert_int_equal(shapes_add_call(&s, &c), 0);
	assert_int_equal(s.count, 0);
	shapes_clear(&s);
}

static void test_length_comes_from_the_right_argument(void **state)
{
	const struct paired_call c = { .call = CALL_MREMAP, .arg = { 1, 2, 3 } };
	struct shapes s = { 0 };

	assert_int_equal(shapes_add_call(&s, &c), 0);
	assert_int_equal(s.at[0].length, 3);
	shapes_clear(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_shape_is_counted),
		cmocka_unit_test(test_advice_tells_shapes_apart),
		cmocka_unit_test(test_length_tells_shapes_apart),
		cmocka_unit_test(test_few_large_repetitions_come_before_many_small_calls),
		cmocka_unit_test(test_heaviest_of_each_call_and_advice_is_marked),
		cmocka_unit_test(test_single_calls_are_ordered_by_length),
		cmocka_unit_test(test_bytes_do_not_wrap),
		cmocka_unit_test(test_call_without_a_length_has_no_shape),
		cmocka_unit_test(test_length_comes_from_the_right_argument),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
