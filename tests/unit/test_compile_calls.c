/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recorded calls as operations of one task, at translated addresses. */

#include <sys/prctl.h>

#include "tests/unit/compile_sample.h"

static void test_map_touch_unmap(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 3 * PAGE);
	WRITE(&s, 7, BASE);
	READ(&s, 7, BASE + 2 * PAGE);
	UNMAP(&s, 7, BASE, 3 * PAGE);
	EXIT(&s, 7);
	compile_well(&s);
	expect(&s, 0, "mmap 0 3000 /3; touch 0 /1; touch 2000; munmap 0 3000; exit");
	assert_int_equal(counts(&s)->operations, 5);
	assert_int_equal(counts(&s)->calls[CALL_MMAP], 1);
	assert_int_equal(counts(&s)->touches, 2);
	assert_int_equal(counts(&s)->peak_bytes, 2 * PAGE);
}

static void test_lengths_stay_as_recorded(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MMAP, BASE, 0, 100, RW, ANON, -1, 0);
	CALL(&s, 7, MADVISE, 0, BASE, 10, MADV_DONTNEED);
	CALL(&s, 7, MADVISE, 0, BASE, 0, MADV_DONTNEED);
	UNMAP(&s, 7, BASE, 1);
	compile_well(&s);
	expect(&s, 0, "mmap 0 64 /3; madvise 0 a /4; madvise 0 0 /4; munmap 0 1");
}

static void test_mremap_in_all_forms(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 4 * PAGE);
	CALL(&s, 7, MREMAP, BASE, BASE, 4 * PAGE, 2 * PAGE, 0, 0); /* shrinks */
	CALL(&s, 7, MREMAP, BASE, BASE, 2 * PAGE, 3 * PAGE, 0, 0); /* grows in place */
	CALL(&s, 7, MREMAP, BASE + 8 * PAGE, BASE, 3 * PAGE, 6 * PAGE, MREMAP_MAYMOVE, 0);
	CALL(&s, 7, MREMAP, BASE, BASE + 8 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, BASE);
	CALL(&s, 7, MREMAP, BASE + 32 * PAGE, BASE, PAGE, PAGE, MREMAP_MAYMOVE | 4 /* DONTUNMAP */,
	     0);
	WRITE(&s, 7, BASE); /* still there */
	WRITE(&s, 7, BASE + 8 * PAGE); /* gone */
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 4000 /3; mremap 0 4000 2000 0; mremap 0 2000 3000 0; "
	       "mremap 0 3000 6000 8000; mremap 8000 1000 1000 0; mremap 0 1000 1000 20000; "
	       "touch 0 /1; touch 8000 /1 E14");
}

static void test_moved_mapping_is_found_at_its_new_place(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, MREMAP, BASE + 16 * PAGE, BASE, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0);
	WRITE(&s, 7, BASE + 17 * PAGE);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; mremap 0 1000 2000 10000; touch 11000 /1; touch 0 /1 E14");
	assert_int_equal(counts(&s)->assumed_maps, 0);
}

static void test_brk_is_called(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, BRK, BASE + 0x100, 0);
	CALL(&s, 7, BRK, BASE + 0x3100, BASE + 0x3100);
	WRITE(&s, 7, BASE + 0x1000);
	CALL(&s, 7, BRK, BASE + 0x1100, BASE + 0x1100);
	CALL(&s, 7, BRK, BASE + 0x1100, BASE + 0x40000000); /* a limit */
	MAP(&s, 7, BASE + 0x5000, PAGE);
	CALL(&s, 7, BRK, BASE + 0x1100, BASE + 0x6000); /* in the way */
	compile_well(&s);
	/* A break of 0 asks; its offset is shown as the distance from ORIGIN. */
	expect(&s, 0,
	       "brk fffffc0000000000; brk 3100; touch 1000 /1; brk 1100; "
	       "refused brk; mmap 5000 1000 /3; brk 6000 E12 unchecked");
	assert_int_equal(plan_space(&s, 0)->brk_start, ORIGIN + 0x100);
	s.options.emulate_brk = true;
	compile_well(&s);
	expect(&s, 0,
	       "mmap 1000 3000 /3; touch 1000 /1; munmap 2000 2000; refused brk; mmap 5000 1000 "
	       "/3");
	assert_int_equal(counts(&s)->emulated, 4);
	assert_int_equal(plan_space(&s, 0)->brk_start, 0);
}

static void test_mlockall_locks_each_region(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	MAP(&s, 7, BASE + 2 * PAGE, PAGE);
	CALL(&s, 7, MLOCKALL, 0, MCL_CURRENT | MCL_FUTURE);
	MAP(&s, 7, BASE + 4 * PAGE, PAGE);
	CALL(&s, 7, MUNLOCKALL, 0, 0);
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 1000 /3; mmap 2000 1000 /3; mlock 0 1000; mlock 2000 1000 cont; "
	       "mmap 4000 1000 /3; munlock 0 1000; munlock 2000 1000 cont; "
	       "munlock 4000 1000 cont");
	assert_int_equal(counts(&s)->split, 3);
	assert_int_equal(counts(&s)->calls[CALL_MLOCKALL], 1);
	assert_int_equal(counts(&s)->peak_bytes, 3 * PAGE);
}

static void test_shared_segment(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, SHMGET, 99, 0, 3 * PAGE, 0);
	CALL(&s, 7, SHMAT, BASE, 99, 0, 0);
	WRITE(&s, 7, BASE + PAGE);
	CALL(&s, 7, SHMDT, 0, BASE);
	CALL(&s, 7, SHMAT, BASE, 98, 0, 0); /* never seen to be made */
	compile_well(&s);
	expect(&s, 0, "shmat 0 3000; touch 1000 /1; shmdt 0; refused shmat");
	assert_int_equal(s.plan.header->segment_count, 1);
}

static void test_what_is_on_no_white_list_is_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, MADVISE, 0, BASE, PAGE, 100); /* HWPOISON */
	CALL(&s, 7, MADVISE, 0, BASE, PAGE, 101); /* SOFT_OFFLINE */
	CALL(&s, 7, MADVISE, 0, BASE, PAGE, 77);
	CALL(&s, 7, PROCESS_MADVISE, 0, 3, BASE, 1, 4, 0);
	CALL(&s, 7, PRCTL, 0, PR_SET_SECCOMP, 2, 0, 0, 0);
	CALL(&s, 7, USERFAULTFD, 3, 0);
	CALL(&s, 7, MSEAL, 0, BASE, PAGE, 0);
	CALL(&s, 7, MBIND, 0, BASE, PAGE, 2, BASE, 64, 0);
	CALL(&s, 7, MMAP, BASE + (2 << 20), 0, 2 << 20, RW, ANON | MAP_HUGETLB, -1, 0);
	CALL(&s, 7, MMAP, BASE + 64 * PAGE, 0, PAGE, RW, ANON | 0x40000000000, -1, 0);
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 1000 /3; refused madvise; refused madvise; refused madvise; "
	       "refused process_madvise; refused prctl; refused userfaultfd; refused mseal; "
	       "refused mbind; refused mmap; refused mmap");
	assert_int_equal(counts(&s)->refused[CALL_MADVISE], 3);
	s.options.seal = s.options.hugetlb = true;
	compile_well(&s);
	assert_int_equal(counts(&s)->refused[CALL_MSEAL], 0);
	assert_int_equal(counts(&s)->refused[CALL_MMAP], 1);
}

static void test_allowed_prctl(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, PRCTL, 0, PR_SET_THP_DISABLE, 1, 0, 0, 0);
	CALL(&s, 7, PRCTL, 0, 0x53564d41, 0, BASE, PAGE, 0x1234);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; prctl; prctl");
}

static void test_failures_keep_their_errno(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	CALL(&s, 7, MUNMAP, -EINVAL, BASE + 1, PAGE);
	CALL(&s, 7, MUNMAP, -EINVAL, BASE, 0);
	CALL(&s, 7, MPROTECT, -ENOMEM, BASE + 4 * PAGE, PAGE, PROT_READ);
	CALL(&s, 7, MADVISE, -ENOMEM, BASE + PAGE, 2 * PAGE, MADV_DONTNEED);
	CALL(&s, 7, MMAP, -EINVAL, 0, 0, RW, ANON, -1, 0);
	CALL(&s, 7, MMAP, -EEXIST, BASE, PAGE, RW, ANON | MAP_FIXED_NOREPLACE, -1, 0);
	CALL(&s, 7, MLOCK, -ENOMEM, BASE, PAGE); /* a limit */
	CALL(&s, 7, MREMAP, -ENOMEM, BASE, PAGE, 2 * PAGE, 0, 0);
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 2000 /3; munmap 440000200001 1000 E22; munmap 440000200000 0 E22; "
	       "mprotect 4000 1000 /1 E12; madvise 1000 2000 /4 E12; "
	       "mmap a1+0 0 /3 E22 choose; mmap 0 1000 /3 E17; mlock 0 1000 E12 unchecked; "
	       "mremap 0 1000 2000 0 E12");
}

static void test_failures_that_could_succeed_here_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	CALL(&s, 7, MUNMAP, -ENOMEM, BASE, PAGE); /* too many mappings */
	CALL(&s, 7, MPROTECT, -EACCES, BASE, PAGE, RW);
	CALL(&s, 7, MMAP, -EACCES, 0, PAGE, RW, MAP_SHARED, 3, 0);
	CALL(&s, 7, MREMAP, -ENOMEM, BASE, PAGE, 9 * PAGE, MREMAP_MAYMOVE, 0);
	compile_well(&s);
	expect(&s, 0,
	       "mmap 0 2000 /3; refused munmap; refused mprotect; refused mmap; refused mremap");
}

static void test_huge_failed_mapping_goes_nowhere(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MMAP, -ENOMEM, 0, 1ULL << 40, RW, ANON | MAP_POPULATE, -1, 0);
	CALL(&s, 7, MMAP, -ENOMEM, 0, 1ULL << 50, RW, ANON, -1, 0);
	compile_well(&s);
	expect(&s, 0,
	       "mmap a1+0 10000000000 /3 E12 choose unchecked; mmap a1+0 4000000000000 /3 E12 "
	       "choose");
}

static void test_fixed_mapping_replaces(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 4 * PAGE);
	CALL(&s, 7, MMAP, BASE + PAGE, BASE + PAGE, PAGE, PROT_READ, ANON | MAP_FIXED, -1, 0);
	WRITE(&s, 7, BASE + PAGE);
	WRITE(&s, 7, BASE + 2 * PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 0 4000 /3; mmap 1000 1000 /1; touch 1000 /1 E14; touch 2000 /1");
}

static void test_pieces_of_calls_are_orphans(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	LEAVE(&s, 7, MUNMAP, 0);
	ENTER(&s, 7, MUNMAP, BASE, PAGE);
	EXIT(&s, 7);
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; exit");
	assert_int_equal(counts(&s)->orphans, 2);
}

static void test_map_stack_can_be_dropped(void **state)
{
	const uint64_t *op;
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MMAP, BASE, 0, PAGE, RW, ANON | MAP_STACK, -1, 0);
	compile_well(&s);
	op = plan_at(&s.plan, plan_task(&s, 0)->words);
	assert_int_equal(op[3], ANON | MAP_STACK | MAP_FIXED_NOREPLACE);
	s.options.drop_map_stack = true;
	compile_well(&s);
	op = plan_at(&s.plan, plan_task(&s, 0)->words);
	assert_int_equal(op[3], ANON | MAP_FIXED_NOREPLACE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map_touch_unmap),
		cmocka_unit_test(test_lengths_stay_as_recorded),
		cmocka_unit_test(test_mremap_in_all_forms),
		cmocka_unit_test(test_moved_mapping_is_found_at_its_new_place),
		cmocka_unit_test(test_brk_is_called),
		cmocka_unit_test(test_mlockall_locks_each_region),
		cmocka_unit_test(test_shared_segment),
		cmocka_unit_test(test_what_is_on_no_white_list_is_refused),
		cmocka_unit_test(test_allowed_prctl),
		cmocka_unit_test(test_failures_keep_their_errno),
		cmocka_unit_test(test_failures_that_could_succeed_here_are_refused),
		cmocka_unit_test(test_huge_failed_mapping_goes_nowhere),
		cmocka_unit_test(test_fixed_mapping_replaces),
		cmocka_unit_test(test_pieces_of_calls_are_orphans),
		cmocka_unit_test(test_map_stack_can_be_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
