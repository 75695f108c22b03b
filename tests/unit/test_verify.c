/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparing operations: every kind of difference is found and named. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "replay/verify_report.h"

#define OPS 40

static struct paired_call call_make(enum call call, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (struct paired_call){
		.call = (uint16_t)call, .arg = { a, b, c, d }, .has_enter = true, .has_leave = true
	};
}

static struct verify_op op_make(struct paired_call call)
{
	uint64_t first_break = 0x1000;
	struct verify_op op;

	assert_true(verify_op_from_call(&call, 7, &first_break, &op));
	return op;
}

/* Operations that all differ from their neighbours. */
static struct verify_list list_make(struct verify_op *ops)
{
	for (size_t i = 0; i < OPS; i++)
		ops[i] = op_make(
			call_make(CALL_MADVISE, 0x7000000, (i + 1) * 4096, MADV_DONTNEED, 0));
	return (struct verify_list){ .ops = ops, .count = OPS, .id = 42 };
}

static void test_equal_lists(void **state)
{
	struct verify_op ops[OPS];
	struct verify_list list = list_make(ops);
	struct verify_report report = { 0 };

	verify_compare(&report, &list, &list, VERIFY_ALIGNMENT);
	assert_int_equal(report.differences, 0);
	assert_int_equal(report.operations, OPS);
}

static void test_dropped_operation_is_named(void **state)
{
	struct verify_op ops[OPS], fewer[OPS];
	struct verify_list want = list_make(ops), got = list_make(fewer);
	struct verify_report report = { 0 };

	memmove(&fewer[11], &fewer[12], (OPS - 12) * sizeof(*fewer));
	got.count--;
	verify_compare(&report, &want, &got, 0);
	assert_int_equal(report.differences, 1);
	assert_string_equal(report.first[0].what, "missing");
	assert_int_equal(report.first[0].index, 11);
	assert_int_equal(report.first[0].task, 42);
	assert_string_equal(report.first[0].want, "madvise(0xc000, MADV_DONTNEED)");
}

static void test_last_operation_dropped(void **state)
{
	struct verify_op ops[OPS];
	struct verify_list want = list_make(ops), got = want;
	struct verify_report report = { 0 };

	got.count--;
	verify_compare(&report, &want, &got, 0);
	assert_int_equal(report.differences, 1);
	assert_string_equal(report.first[0].what, "missing");
}

static void test_inserted_operation_is_named(void **state)
{
	struct verify_op ops[OPS], fewer[OPS];
	struct verify_list got = list_make(ops), want = list_make(fewer);
	struct verify_report report = { 0 };

	memmove(&fewer[3], &fewer[4], (OPS - 4) * sizeof(*fewer));
	want.count--;
	verify_compare(&report, &want, &got, 0);
	assert_int_equal(report.differences, 1);
	assert_string_equal(report.first[0].what, "extra");
	assert_string_equal(report.first[0].got, "madvise(0x4000, MADV_DONTNEED)");
}

static void test_swapped_operations(void **state)
{
	struct verify_op ops[OPS], swapped[OPS], one;
	struct verify_list want = list_make(ops), got = list_make(swapped);
	struct verify_report report = { 0 };

	one = swapped[5];
	swapped[5] = swapped[6];
	swapped[6] = one;
	verify_compare(&report, &want, &got, 0);
	assert_true(report.differences > 0);
}

static void differs_check(struct paired_call a, struct paired_call b, unsigned rules,
                          const char *what)
{
	struct verify_op x = op_make(a), y = op_make(b);
	const char *found = verify_op_differs(&x, &y, rules);

	if (!what)
		assert_null(found);
	else
		assert_string_equal(found, what);
}

static void test_each_difference(void **state)
{
	struct paired_call map = call_make(CALL_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE);
	struct paired_call other = map;

	other.arg[1] = 8192;
	differs_check(map, other, 0, "length");
	other = map;
	other.arg[2] = PROT_READ | PROT_WRITE;
	differs_check(map, other, 0, "flags");
	other = map;
	other.arg[3] |= MAP_NORESERVE;
	differs_check(map, other, 0, "flags");
	other = map;
	other.result = (uint64_t)-ENOMEM;
	differs_check(map, other, 0, "result");
	differs_check(map, call_make(CALL_MUNMAP, 0, 4096, 0, 0), 0, "call");
}

static void test_placement_is_no_difference(void **state)
{
	struct paired_call map = call_make(CALL_MMAP, 0, 4096, PROT_READ, MAP_PRIVATE);
	struct paired_call other = map;

	map.result = 0x7f0000001000;
	other.arg[0] = 0x40000001000;
	other.arg[3] |= MAP_FIXED_NOREPLACE;
	other.result = 0x40000001000;
	differs_check(map, other, VERIFY_ALIGNMENT, NULL);
	other.result += 4096;
	differs_check(map, other, VERIFY_ALIGNMENT, "alignment");
	differs_check(map, other, 0, NULL);
}

static void test_breaks_are_differences(void **state)
{
	struct paired_call a = call_make(CALL_BRK, 0x21000, 0, 0, 0);
	struct paired_call b = call_make(CALL_BRK, 0x71000, 0, 0, 0);
	uint64_t first_a = 0x1000, first_b = 0x51000;
	struct verify_op x, y;

	a.result = a.arg[0];
	b.result = b.arg[0];
	assert_true(verify_op_from_call(&a, 0, &first_a, &x));
	assert_true(verify_op_from_call(&b, 0, &first_b, &y));
	assert_null(verify_op_differs(&x, &y, 0));
	b.result -= 4096;
	assert_true(verify_op_from_call(&b, 0, &first_b, &y));
	assert_string_equal(verify_op_differs(&x, &y, 0), "length");
}

static void test_other_calls_are_no_operations(void **state)
{
	struct paired_call call = call_make(CALL_OPENAT, 0, 0, 0, 0);
	uint64_t first_break = 0;
	struct verify_op op;

	assert_false(verify_op_from_call(&call, 0, &first_break, &op));
	call = call_make(CALL_PRCTL, 15, 0, 0, 0); /* PR_SET_NAME */
	assert_false(verify_op_from_call(&call, 0, &first_break, &op));
}

static void test_refused_is_counted_not_compared(void **state)
{
	struct verify_op ops[OPS], engine[OPS];
	struct verify_list want = list_make(ops), got = list_make(engine);
	struct verify_report report = { 0 };

	ops[9].refused = 1;
	memmove(&engine[9], &engine[10], (OPS - 10) * sizeof(*engine));
	got.count--;
	verify_compare(&report, &want, &got, 0);
	assert_int_equal(report.differences, 0);
	assert_int_equal(report.not_replayed, 1);
}

static void test_faults_within_two_percent_or_32(void **state)
{
	struct verify_outcome o = { .faults_compared = true, .faults_recorded = 100 };

	o.faults_allowed = verify_faults_allowed(100);
	o.faults_replayed = 132;
	assert_true(verify_outcome_equal(&o));
	o.faults_replayed = 133;
	assert_false(verify_outcome_equal(&o));
	o.faults_recorded = 10000;
	o.faults_allowed = verify_faults_allowed(10000);
	o.faults_replayed = 9800;
	assert_true(verify_outcome_equal(&o));
	o.faults_replayed = 9799;
	assert_false(verify_outcome_equal(&o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal_lists),
		cmocka_unit_test(test_dropped_operation_is_named),
		cmocka_unit_test(test_last_operation_dropped),
		cmocka_unit_test(test_inserted_operation_is_named),
		cmocka_unit_test(test_swapped_operations),
		cmocka_unit_test(test_each_difference),
		cmocka_unit_test(test_placement_is_no_difference),
		cmocka_unit_test(test_breaks_are_differences),
		cmocka_unit_test(test_other_calls_are_no_operations),
		cmocka_unit_test(test_refused_is_counted_not_compared),
		cmocka_unit_test(test_faults_within_two_percent_or_32),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
