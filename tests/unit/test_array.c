/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Growing arrays. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "common/array.h"

static void test_grows_to_hold_the_element(void **state)
{
	size_t room = 0;
	int *array = NULL;

	for (size_t i = 0; i < 1000; i++) {
		assert_int_equal(array_grow((void **)&array, i, &room, sizeof(*array)), 0);
		assert_true(room > i);
		array[i] = (int)i;
	}
	for (size_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i);
	free(array);
}

static void test_jumps_to_a_far_element(void **state)
{
	size_t room = 0;
	int *array = NULL;

	assert_int_equal(array_grow((void **)&array, 12345, &room, sizeof(*array)), 0);
	assert_true(room > 12345);
	array[12345] = 1;
	free(array);
}

static void test_impossible_sizes_change_nothing(void **state)
{
	size_t room = 16;
	int *array = malloc(16 * sizeof(*array)), *was = array;

	assert_int_equal(array_grow((void **)&array, SIZE_MAX, &room, sizeof(*array)), -ENOMEM);
	assert_int_equal(array_grow((void **)&array, SIZE_MAX / 4, &room, 64), -ENOMEM);
	assert_ptr_equal(array, was);
	assert_int_equal(room, 16);
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grows_to_hold_the_element),
		cmocka_unit_test(test_jumps_to_a_far_element),
		cmocka_unit_test(test_impossible_sizes_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
