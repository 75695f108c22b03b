/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The three placements, and refusals of what does not fit. */

#include "tests/unit/compile_sample.h"

#define GIB (1ULL << 30)
#define HUGE (2ULL << 20)

static void test_clusters_move_whole(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE + 5 * GIB, PAGE);
	MAP(&s, 7, BASE + 8 * GIB, PAGE); /* the same cluster */
	MAP(&s, 7, BASE - 200 * GIB, PAGE); /* another one, below */
	compile_well(&s);
	/* Each in a 512 GiB of its own, where it was in its own. */
	expect(&s, 0, "mmap 8140000000 1000 /3; mmap 8200000000 1000 /3; mmap 4e00000000 1000 /3");
}

static void test_clusters_share_page_tables_as_they_did(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE + 5 * GIB, PAGE);
	MAP(&s, 7, BASE + 105 * GIB, PAGE); /* another cluster in the same 512 GiB */
	MAP(&s, 7, BASE + 5 * 512 * GIB + 3 * GIB, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 140000000 1000 /3; mmap 1a40000000 1000 /3; mmap 80c0000000 1000 /3");
}

/* More entries of the top page table than the window has: one behind the other instead. */
static void test_many_clusters_are_placed_close(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (unsigned i = 0; i < 110; i++)
		MAP(&s, 7, BASE - i * 512 * GIB, PAGE);
	compile_well(&s);
	assert_int_equal(s.plan.header->counts.calls[CALL_MMAP], 110);
}

static void test_alignment_is_kept(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE + 0x12345000, PAGE);
	compile_well(&s);
	expect(&s, 0, "mmap 12345000 1000 /3");
}

static void test_kernel_chooses_again(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 4 * PAGE);
	WRITE(&s, 7, BASE + PAGE);
	CALL(&s, 7, MADVISE, 0, BASE + PAGE, PAGE, MADV_DONTNEED);
	CALL(&s, 7, MMAP, BASE + 2 * PAGE, BASE + 2 * PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0);
	UNMAP(&s, 7, BASE, 4 * PAGE);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0,
	       "mmap a2+0 4000 /3 choose; touch a2+1000 /1; madvise a2+1000 1000 /4; "
	       "mmap a2+2000 1000 /3; munmap a2+0 4000");
}

static void test_followed_hints_and_fixed_stay_put(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MMAP, BASE, BASE, PAGE, RW, ANON, -1, 0);
	CALL(&s, 7, MMAP, BASE + PAGE, BASE + PAGE, PAGE, RW, ANON | MAP_FIXED, -1, 0);
	CALL(&s, 7, MMAP, BASE + 9 * PAGE, BASE + 2 * PAGE, PAGE, RW, ANON, -1, 0);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0, "mmap 0 1000 /3; mmap 1000 1000 /3; mmap a2+0 1000 /3 choose");
}

static void test_operations_over_several_anchors_are_split(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 2 * PAGE);
	MAP(&s, 7, BASE + 2 * PAGE, 2 * PAGE);
	CALL(&s, 7, MPROTECT, 0, BASE, 3 * PAGE + 5, PROT_READ);
	UNMAP(&s, 7, BASE, 8 * PAGE);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0,
	       "mmap a2+0 2000 /3 choose; mmap a3+0 2000 /3 choose; mprotect a2+0 2000 /1; "
	       "mprotect a3+0 1005 /1 cont; munmap a2+0 2000; munmap a3+0 2000 cont");
	assert_int_equal(counts(&s)->split, 2);
}

/* The kernel may have put another mapping into the hole. */
static void test_holes_beside_chosen_mappings_are_left_alone(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, 8 * PAGE);
	UNMAP(&s, 7, BASE + 2 * PAGE, 3 * PAGE);
	CALL(&s, 7, MADVISE, -ENOMEM, BASE, 8 * PAGE, MADV_DONTNEED);
	UNMAP(&s, 7, BASE + PAGE, 2 * PAGE);
	MAP(&s, 7, BASE + 99 * PAGE, PAGE);
	UNMAP(&s, 7, BASE + 3 * PAGE, PAGE);
	UNMAP(&s, 7, BASE, 8 * PAGE);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0,
	       "mmap a2+0 8000 /3 choose; munmap a2+2000 3000; madvise a2+0 8000 /4 E12; "
	       "munmap a2+1000 2000; mmap a3+0 1000 /3 choose; munmap 440000200000 1000; "
	       "munmap a2+0 1000; munmap a2+5000 3000 cont");
}

static void test_anchors_are_used_again_by_their_task(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (int i = 0; i < 5; i++) {
		MAP(&s, 7, BASE, PAGE);
		UNMAP(&s, 7, BASE, PAGE);
	}
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	assert_int_equal(s.plan.header->anchor_count, 3);
}

static void test_forks_keep_anchors_apart(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	FORK(&s, 7, 8);
	UNMAP(&s, 7, BASE, PAGE);
	MAP(&s, 7, BASE, PAGE);
	WRITE(&s, 8, BASE);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0,
	       "mmap a2+0 1000 /3 choose; clone 1; munmap a2+0 1000; mmap a3+0 1000 /3 choose");
	expect(&s, 1, "touch a2+0 /1");
}

static void test_moves_follow_the_kernel(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE, PAGE);
	CALL(&s, 7, MREMAP, BASE + 8 * PAGE, BASE, PAGE, 2 * PAGE, MREMAP_MAYMOVE, 0);
	WRITE(&s, 7, BASE + 9 * PAGE);
	s.options.placement = PLACE_KERNEL;
	compile_well(&s);
	expect(&s, 0,
	       "mmap a2+0 1000 /3 choose; mremap a2+0 1000 2000 a3+0 choose; touch a3+1000 /1");
}

static void test_aligned_placement_of_large_anonymous_mappings(void **state)
{
	SCRIPT;

	script_begin(&s);
	MAP(&s, 7, BASE + PAGE, HUGE);
	MAP(&s, 7, BASE + 4 * HUGE, PAGE);
	WRITE(&s, 7, BASE + 2 * PAGE);
	UNMAP(&s, 7, BASE + PAGE, HUGE);
	MAP(&s, 7, BASE + 8 * HUGE + PAGE, HUGE);
	s.options.placement = PLACE_THP_ALIGNED;
	compile_well(&s);
	expect(&s, 0,
	       "mmap 340000200000 200000 /3; mmap a2+0 1000 /3 choose; touch 340000201000 /1; "
	       "munmap 340000200000 200000; mmap 340000200000 200000 /3");
}

static void test_scattered_addresses_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (uint64_t at = 0; at < 1ULL << 47; at += 1ULL << 35)
		WRITE(&s, 7, at);
	compile_well(&s); /* 4096 clusters of a slot each */
	script_end(&s);
	script_begin(&s);
	for (uint64_t at = 0; at < 1ULL << 47; at += 1ULL << 33)
		WRITE(&s, 7, at);
	assert_int_equal(script_compile(&s), -E2BIG);
}

static void test_large_address_spaces_are_refused(void **state)
{
	SCRIPT;

	script_begin(&s);
	assert_int_equal(trace_meta_set_u64(s.meta, META_ADDRESS_BITS, 56), 0);
	MAP(&s, 7, BASE, PAGE);
	compile_well(&s); /* the machine had more, but nobody used it */
	script_end(&s);
	script_begin(&s);
	assert_int_equal(trace_meta_set_u64(s.meta, META_ADDRESS_BITS, 56), 0);
	MAP(&s, 7, 1ULL << 50, PAGE);
	assert_int_equal(script_compile(&s), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clusters_move_whole),
		cmocka_unit_test(test_clusters_share_page_tables_as_they_did),
		cmocka_unit_test(test_many_clusters_are_placed_close),
		cmocka_unit_test(test_alignment_is_kept),
		cmocka_unit_test(test_kernel_chooses_again),
		cmocka_unit_test(test_followed_hints_and_fixed_stay_put),
		cmocka_unit_test(test_operations_over_several_anchors_are_split),
		cmocka_unit_test(test_holes_beside_chosen_mappings_are_left_alone),
		cmocka_unit_test(test_anchors_are_used_again_by_their_task),
		cmocka_unit_test(test_forks_keep_anchors_apart),
		cmocka_unit_test(test_moves_follow_the_kernel),
		cmocka_unit_test(test_aligned_placement_of_large_anonymous_mappings),
		cmocka_unit_test(test_scattered_addresses_are_refused),
		cmocka_unit_test(test_large_address_spaces_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
