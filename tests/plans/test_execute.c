/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls and touches of plans made by hand, run for real. */

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "tests/plans/plan_tests.h"

static void test_single_task(void **state)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 64 * PAGE);
	for (unsigned i = 0; i < 32; i++)
		op_touch(t, BASE + i * PAGE, true);
	build_op(&build, t, plan_head(PLAN_TOUCH_RUN, 0, 0, 1, 0), 2, BASE + 32 * PAGE,
	         32 | 1ULL << 32);
	op_madvise(t, BASE, 64 * PAGE, MADV_DONTNEED, 0);
	op_munmap(t, BASE, 64 * PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.operations, 37);
	assert_int_equal(figures.touches, 64);
	assert_in_range(figures.faults_minor, 64, 72);
	assert_true(figures.elapsed > 0);
}

/* Until it is killed, keeps what nothing maps of this program out of the page cache. */
static pid_t evict_program(void)
{
	pid_t pid = fork();
	int fd = pid ? -1 : open("/proc/self/exe", O_RDONLY);

	while (!pid)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return pid;
}

static void test_own_major_faults_are_taken_off(void **state)
{
	pid_t evicting = evict_program();
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 64 * PAGE);
	build_op(&build, t, plan_head(PLAN_TOUCH_RUN, 0, 0, 1, 0), 2, BASE, 64 | 1ULL << 32);
	op_simple(t, PLAN_EXIT, 0);
	int r = run();

	kill(evicting, SIGKILL);
	waitpid(evicting, NULL, 0);
	assert_int_equal(r, 0);
	assert_in_range(figures.faults_minor, 64, 72);
	assert_int_equal(figures.faults_major, 0);
}

static void test_forbidden_touches_survived(void **state)
{
	uint32_t t = build_root(&build), file = build_file(&build, PAGE);

	op_mmap(t, BASE, PAGE);
	build_op(&build, t, plan_head(PLAN_MPROTECT, 0, 0, PROT_NONE, 0), 2, BASE, PAGE);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 0, 0), 1, BASE);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 1, 0), 1, BASE + PAGE);
	/* Behind the end of a file. */
	build_op(&build, t, plan_head(PLAN_MMAP, 0, 0, PROT_READ, 0), 4, BASE + 8 * PAGE, 2 * PAGE,
	         MAP_SHARED | MAP_FIXED_NOREPLACE | (uint64_t)file << 32, 0ULL);
	op_touch(t, BASE + 8 * PAGE, false);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 0, 0), 1, BASE + 9 * PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 2);
	assert_int_equal(figures.sigbus, 1);
}

static void test_random_fill_survives(void **state)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 2 * PAGE);
	op_touch(t, BASE, true);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 1, 0), 1, BASE + 2 * PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run_with(&(struct execute_options){
				 .copies = 1, .fill = FILL_RANDOM, .fill_ratio = 1000 }),
	                 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 1);
}

static void test_recorded_errors(void **state)
{
	uint32_t t = build_root(&build);

	op_madvise(t, BASE, PAGE, MADV_DONTNEED, ENOMEM);
	op_madvise(t, BASE + 1, PAGE, MADV_DONTNEED, EINVAL);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
}

static void test_mismatches_are_found(void **state)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, PAGE);
	op_madvise(t, BASE, PAGE, MADV_DONTNEED, ENOMEM); /* succeeds */
	op_touch(t, BASE + PAGE, true); /* faults */
	op_mmap(t, BASE, PAGE); /* is there */
	build_op(&build, t, plan_head(PLAN_MUNMAP, PLAN_UNCHECKED, 0, 0, 0), 2, BASE + 1, PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 3);
	assert_int_equal(figures.first_count, 3);
	assert_int_equal(figures.first[0].ordinal, 2);
	assert_int_equal(figures.first[0].got, 0);
	assert_int_equal(figures.first[1].ordinal, 3);
	assert_int_equal(figures.first[1].got, 11);
	assert_int_equal(figures.first[2].ordinal, 4);
	assert_int_equal(figures.first[2].got, (uint64_t)-EEXIST);
}

static void test_kernel_chooses(void **state)
{
	uint32_t t = build_root(&build);

	build.anchors = 2;
	build_op(&build, t, plan_head(PLAN_MMAP, PLAN_CHOOSE, 0, RW, 1), 3, 0ULL, 8 * PAGE,
	         (uint64_t)ANON);
	build_op(&build, t, plan_head(PLAN_TOUCH_RUN, 0, 0, 1, 1), 2, 0ULL, 8 | 1ULL << 32);
	build_op(&build, t, plan_head(PLAN_MREMAP, PLAN_CHOOSE, 0, 0, 1), 5, 0ULL, 8 * PAGE,
	         1024 * PAGE, 0ULL, MREMAP_MAYMOVE | 2ULL << 32);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, 0, 1, 2), 1, 1023 * PAGE);
	build_op(&build, t, plan_head(PLAN_MUNMAP, 0, 0, 0, 2), 2, 0ULL, 1024 * PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 0);
}

/* An anchor whose mapping failed is nowhere: nothing of the replayer can be hit through it. */
static void test_failed_choice_hits_nothing(void **state)
{
	uint32_t t = build_root(&build);

	build.anchors = 1;
	build_op(&build, t, plan_head(PLAN_MMAP, PLAN_CHOOSE, ENOMEM, RW, 1), 3, 0ULL, 1ULL << 47,
	         (uint64_t)ANON);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 1, 1), 1, PLAN_BASE);
	build_op(&build, t, plan_head(PLAN_MUNMAP, 0, EINVAL, 0, 1), 2, STATE_BASE, PAGE);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
}

static void test_mremap_forms(void **state)
{
	const uint64_t fixed = MREMAP_MAYMOVE | MREMAP_FIXED, far = BASE + (1ULL << 30);
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 8 * PAGE);
	op_touch(t, BASE, true);
	/* shrink, grow in place, move, keep the old mapping, fail */
	build_op(&build, t, plan_head(PLAN_MREMAP, 0, 0, 0, 0), 5, BASE, 8 * PAGE, 4 * PAGE, BASE,
	         0ULL);
	build_op(&build, t, plan_head(PLAN_MREMAP, 0, 0, 0, 0), 5, BASE, 4 * PAGE, 8 * PAGE, BASE,
	         0ULL);
	build_op(&build, t, plan_head(PLAN_MREMAP, 0, 0, 0, 0), 5, BASE, 8 * PAGE, 8 * PAGE, far,
	         fixed);
	op_touch(t, far + 7 * PAGE, true);
	build_op(&build, t, plan_head(PLAN_MREMAP, 0, 0, 0, 0), 5, far, 8 * PAGE, 8 * PAGE, BASE,
	         fixed | MREMAP_DONTUNMAP);
	op_touch(t, far, true);
	build_op(&build, t, plan_head(PLAN_MREMAP, 0, EFAULT, 0, 0), 5, BASE + 64 * PAGE, PAGE,
	         2 * PAGE, BASE + 64 * PAGE, 0ULL);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 0);
}

static void test_latency_pass(void **state)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 64 * PAGE);
	for (unsigned i = 0; i < 64; i++)
		op_touch(t, BASE + i * PAGE, true);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run_with(&(struct execute_options){ .copies = 1, .latency = true }), 0);
	assert_int_equal(figures.latency[PLAN_TOUCH].count, 64);
	assert_int_equal(figures.latency[PLAN_MMAP].count, 1);
	assert_int_equal(figures.peak_in_flight, 1);
	assert_true(figures.latency[PLAN_TOUCH].p50 >= 20);
	assert_true(figures.latency[PLAN_TOUCH].p50 <= figures.latency[PLAN_TOUCH].p99);
	assert_true(figures.latency[PLAN_TOUCH].max * 64 >= figures.latency[PLAN_TOUCH].sum);
}

static void test_unknown_kind_is_refused(void **state)
{
	uint32_t t = build_root(&build);

	build_op(&build, t, plan_head((enum plan_kind)77, 0, 0, 0, 0), 0);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run(), -ECHILD);
}

static void test_heap(void **state)
{
	uint32_t t = build_root(&build);
	const uint64_t heap = BASE + (1ULL << 30) + 0x3000;

	build.spaces[0].brk_start = build.spaces[0].brk = heap;
	build_op(&build, t, plan_head(PLAN_BRK, 0, 0, 0, 0), 1, 0ULL);
	build_op(&build, t, plan_head(PLAN_BRK, 0, 0, 0, 0), 1, heap + 33 * PAGE);
	op_touch(t, heap + 32 * PAGE, true);
	build_op(&build, t, plan_head(PLAN_BRK, 0, 0, 0, 0), 1, heap + PAGE);
	build_op(&build, t, plan_head(PLAN_TOUCH, 0, EFAULT, 1, 0), 1, heap + 32 * PAGE);
	build_op(&build, t, plan_head(PLAN_BRK, 0, ENOMEM, 0, 0), 1, BASE);
	op_simple(t, PLAN_EXIT, 0);
	if (!settings_probe_heap()) {
		print_message("this kernel lets us place no heap: skipped\n");
		build_finish(&build, &plan);
		return;
	}
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_single_task),
	TEST(test_own_major_faults_are_taken_off),
	TEST(test_forbidden_touches_survived),
	TEST(test_random_fill_survives),
	TEST(test_recorded_errors),
	TEST(test_mismatches_are_found),
	TEST(test_kernel_chooses),
	TEST(test_failed_choice_hits_nothing),
	TEST(test_mremap_forms),
	TEST(test_latency_pass),
	TEST(test_unknown_kind_is_refused),
	TEST(test_heap),
};

PLAN_TESTS_MAIN(tests)
