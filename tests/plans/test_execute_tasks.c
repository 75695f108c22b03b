/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tasks of plans made by hand, run for real: processes, threads, waits, pace. */

#include <linux/sched.h>

#include "tests/plans/plan_tests.h"

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static void test_end_without_exit(void **state)
{
	uint32_t a = build_root(&build), b = build_root(&build);
	uint64_t first = op_mmap(a, BASE, PAGE);

	build_wait(&build, b, a, first);
	op_mmap(b, BASE, PAGE);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
}

/* Threads map, hand over and unmap each other's memory; any order but the planned one shows. */
static void test_threads_hand_over(void **state)
{
	uint32_t root = build_root(&build), child = build_child(&build, root, THREAD);
	uint64_t mapped, unmapped = 0;

	op_spawn(root, child, THREAD);
	for (unsigned i = 0; i < 2000; i++) {
		if (unmapped)
			build_wait(&build, root, child, unmapped);
		mapped = op_mmap(root, BASE, 4 * PAGE);
		build_wait(&build, child, root, mapped);
		op_touch(child, BASE, true);
		op_touch(child, BASE + 3 * PAGE, false);
		unmapped = op_munmap(child, BASE, 4 * PAGE);
	}
	op_simple(child, PLAN_EXIT, 0);
	op_simple(root, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 0);
	assert_int_equal(figures.touches, 4000);
}

static void test_fork_and_wait(void **state)
{
	uint32_t root = build_root(&build);

	op_mmap(root, BASE, 16 * PAGE);
	for (unsigned i = 0; i < 16; i++)
		op_touch(root, BASE + i * PAGE, true);
	for (unsigned i = 0; i < 20; i++) {
		uint32_t child = build_child(&build, root, 0);

		op_spawn(root, child, 0);
		/* Copy on write: the child's pages are its own. */
		op_touch(child, BASE, true);
		op_munmap(child, BASE, 16 * PAGE);
		op_simple(child, PLAN_EXIT, 0);
		op_simple(root, PLAN_WAIT_CHILD, child);
		op_touch(root, BASE, true);
	}
	op_simple(root, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 0);
}

/* A grandchild whose parent leaves first is no orphan: it runs to its end. */
static void test_parent_leaves_first(void **state)
{
	uint32_t root = build_root(&build), child = build_child(&build, root, 0);
	uint32_t grandchild = build_child(&build, child, 0);
	uint64_t waited;

	op_spawn(root, child, 0);
	op_spawn(child, grandchild, 0);
	op_simple(child, PLAN_EXIT, 0);
	op_simple(root, PLAN_WAIT_CHILD, child);
	waited = build.words[root].operations;
	build_wait(&build, grandchild, root, waited);
	op_mmap(grandchild, BASE, PAGE);
	op_touch(grandchild, BASE, true);
	op_simple(grandchild, PLAN_EXIT, 0);
	op_simple(root, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.touches, 1);
}

static void test_vfork_and_exec(void **state)
{
	const uint64_t flags = CLONE_VM | CLONE_VFORK;
	uint32_t root = build_root(&build), other = build_child(&build, root, THREAD);
	uint32_t child, space;
	uint64_t spawned;

	op_mmap(root, BASE, 4 * PAGE);
	op_spawn(root, other, THREAD);
	child = build_child(&build, root, flags);
	space = build_space(&build, child);
	build_map(&build, space, BASE + 8 * PAGE, 8 * PAGE, RW, MAP_PRIVATE, 0);
	op_spawn(root, child, flags);
	/* The child waits for a task that waits for the blocked parent's vfork. */
	spawned = build.words[root].operations;
	build_wait(&build, other, root, spawned);
	build_wait(&build, child, other, op_touch(other, BASE + PAGE, true));
	op_touch(child, BASE, true);
	op_simple(child, PLAN_EXEC, space);
	op_touch(child, BASE + 8 * PAGE, true);
	build_op(&build, child, plan_head(PLAN_TOUCH, 0, EFAULT, 1, 0), 1, BASE);
	op_simple(child, PLAN_EXIT, 0);
	op_simple(root, PLAN_WAIT_CHILD, child);
	op_touch(root, BASE, false);
	op_simple(other, PLAN_EXIT, 0);
	op_simple(root, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 1);
	assert_int_equal(figures.touches, 5);
}

/* exec takes over from a thread: the others are killed, the thread gets the process's id. */
static void test_exec_by_thread(void **state)
{
	uint32_t parent = build_root(&build), root = build_child(&build, parent, 0);
	uint32_t thread = build_child(&build, root, THREAD), space;

	op_spawn(parent, root, 0);
	op_spawn(root, thread, THREAD);
	space = build_space(&build, thread);
	op_simple(thread, PLAN_EXEC, space);
	op_mmap(thread, BASE, PAGE);
	op_touch(thread, BASE, true);
	op_simple(thread, PLAN_EXIT, 0);
	op_simple(parent, PLAN_WAIT_CHILD, root);
	op_simple(parent, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.touches, 1);
}

static void test_shared_segment(void **state)
{
	uint32_t root = build_root(&build), child = build_child(&build, root, 0);
	uint64_t attached;

	build.segments = 1;
	attached =
		build_op(&build, root, plan_head(PLAN_SHMAT, 0, 0, 0, 0), 3, BASE, 2 * PAGE, 0ULL);
	(void)attached;
	op_touch(root, BASE, true);
	op_spawn(root, child, 0);
	build_op(&build, child, plan_head(PLAN_SHMAT, 0, 0, 1, 0), 3, BASE + 16 * PAGE, 2 * PAGE,
	         0ULL);
	op_touch(child, BASE + 16 * PAGE, false);
	build_op(&build, child, plan_head(PLAN_SHMDT, 0, 0, 0, 0), 1, BASE + 16 * PAGE);
	op_simple(child, PLAN_EXIT, 0);
	op_simple(root, PLAN_WAIT_CHILD, child);
	build_op(&build, root, plan_head(PLAN_SHMDT, 0, 0, 0, 0), 1, BASE);
	op_simple(root, PLAN_EXIT, 0);
	assert_int_equal(run(), 0);
	assert_int_equal(figures.mismatches, 0);
	assert_int_equal(figures.segv, 0);
}

static void test_pace(void **state)
{
	uint32_t t = build_root(&build);

	for (uint64_t i = 1; i <= 5; i++) {
		build_op(&build, t, PLAN_TIME | (i * 20000000) << 8, 0);
		op_madvise(t, BASE, PAGE, MADV_DONTNEED, ENOMEM);
	}
	op_simple(t, PLAN_EXIT, 0);
	/* Twice as fast: 100 ms become 50. */
	assert_int_equal(run_with(&(struct execute_options){ .copies = 1, .pace = 2 * 65536 }), 0);
	assert_true(figures.elapsed >= 50000000);
	assert_true(figures.elapsed < 100000000);
	assert_true(figures.drift_max > 0);
}

static void test_copies(void **state)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 4 * PAGE);
	op_touch(t, BASE, true);
	op_simple(t, PLAN_EXIT, 0);
	assert_int_equal(run_with(&(struct execute_options){ .copies = 3 }), 0);
	assert_int_equal(figures.touches, 3);
	assert_int_equal(figures.mismatches, 0);
}

static void test_deadlock_is_ended(void **state)
{
	uint32_t a = build_root(&build), b = build_child(&build, a, 0);

	op_spawn(a, b, 0);
	build_wait(&build, a, b, 1);
	op_mmap(a, BASE, PAGE);
	build_wait(&build, b, a, 2);
	op_mmap(b, BASE, PAGE);
	assert_int_equal(run_with(&(struct execute_options){ .copies = 1, .timeout = 300000000 }),
	                 -ETIMEDOUT);
}

#define TEST(name) cmocka_unit_test_teardown(name, teardown)

static const struct CMUnitTest tests[] = {
	TEST(test_end_without_exit), TEST(test_threads_hand_over),
	TEST(test_fork_and_wait),    TEST(test_parent_leaves_first),
	TEST(test_vfork_and_exec),   TEST(test_exec_by_thread),
	TEST(test_shared_segment),   TEST(test_pace),
	TEST(test_copies),           TEST(test_deadlock_is_ended),
};

PLAN_TESTS_MAIN(tests)
