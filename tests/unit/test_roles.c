/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What functions, stacks and lock classes are for, by kernel. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fnmatch.h>
#include <string.h>

#include "capture/role_release.h"
#include "capture/roles.h"
#include "common/cleanup.h"

#define STACK(...)                                                                                 \
	((const char *const[]){ __VA_ARGS__ }), ARRAY_SIZE(((const char *const[]){ __VA_ARGS__ }))

static const char *const no_stack[1];
static const uint16_t v6_1 = ROLE_KERNEL(6, 1), v6_12 = ROLE_KERNEL(6, 12);

static void assert_role(const char *role, const char *const *stack, size_t count, uint16_t kernel)
{
	const char *found = role_name_of_stack(stack, count, kernel, NULL);

	assert_non_null(found);
	assert_string_equal(found, role);
}

static void test_kernel_of_release(void **state)
{
	assert_int_equal(role_kernel("6.12.117-cloud-amd64"), v6_12);
	assert_int_equal(role_kernel("6.1.0"), v6_1);
	assert_int_equal(role_kernel("6.18"), ROLE_KERNEL(6, 18));
	assert_int_equal(role_kernel(""), 0);
	assert_int_equal(role_kernel("six"), 0);
	assert_int_equal(role_kernel("6."), 0);
	assert_int_equal(role_kernel("6.x"), 0);
	assert_int_equal(role_kernel("600.1"), 0);
	assert_int_equal(role_kernel("6.99999999999999999999"), 0);
}

static void test_compiler_suffixes(void **state)
{
	static const char *const names[] = { "pmd_lock", "pmd_lock.constprop.0",
		                             "pmd_lock.isra.0.cold", "pmd_lock.part.12" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		assert_non_null(role_of_function(names[i], v6_12));
		assert_string_equal(role_of_function(names[i], v6_12)->role, "page-table");
	}
	assert_null(role_of_function("pmd_lockx", v6_12));
	assert_null(role_of_function("pmd_loc", v6_12));
	assert_null(role_of_function("", v6_12));
}

static void test_function_by_kernel(void **state)
{
	const struct role_function *f = role_of_function("deferred_split_huge_page", v6_1);

	assert_non_null(f);
	assert_int_equal(f->side, ROLE_SIDE_UNMAP);
	assert_int_equal(f->use, ROLE_CHECKS);
	assert_null(role_of_function("deferred_split_huge_page", v6_12));
	f = role_of_function("free_transhuge_page", v6_1);
	assert_non_null(f);
	assert_int_equal(f->side, ROLE_SIDE_FREE);
	assert_int_equal(f->use, ROLE_TAKES);
	assert_null(role_of_function("__folio_unqueue_deferred_split", v6_1));
	assert_non_null(role_of_function("__folio_unqueue_deferred_split", v6_12));
	assert_true(
		role_of_function("__folio_undo_large_rmappable", ROLE_KERNEL(6, 10))->unverified);
}

static void test_first_function_that_is_not_lock_code_decides(void **state)
{
	assert_role("lru",
	            STACK("native_queued_spin_lock_slowpath", "_raw_spin_lock_irqsave",
	                  "folio_lruvec_lock_irqsave", "free_pcppages_bulk"),
	            v6_12);
	assert_role(
		"zone-free",
		STACK("_raw_spin_lock_irqsave", "free_pcppages_bulk", "folio_lruvec_lock_irqsave"),
		v6_12);
	assert_role("zone-alloc", STACK("__rmqueue_pcplist"), v6_12);
	assert_role("sched", STACK("_raw_spin_lock", "raw_spin_rq_lock_nested"), v6_12);
	assert_role("page-table", STACK("_raw_spin_unlock", "do_pte_missing"), v6_12);
	assert_null(
		role_name_of_stack(STACK("_raw_spin_lock", "frobnicate", "rmqueue"), v6_12, NULL));
	assert_null(role_name_of_stack(STACK("_raw_spin_lock"), v6_12, NULL));
	assert_null(role_name_of_stack(no_stack, 0, v6_12, NULL));
	/* What the table lacks but sounds like memory management is not given to others. */
	assert_null(
		role_name_of_stack(STACK("_raw_spin_lock", "unlink_file_vma_lazily"), v6_12, NULL));
}

static void test_callers_of_missing_functions(void **state)
{
	const struct role_release *r =
		role_of_release(STACK("_raw_spin_unlock_irqrestore", "slab_free.isra.0"));

	assert_non_null(r);
	assert_string_equal(r->role, "slab");
	assert_int_equal(r->side, ROLE_SIDE_FREE);
	assert_null(role_of_release(STACK("_raw_spin_lock_irqsave", "slab_free.isra.0")));
	assert_ptr_equal(role_of_lost_caller(STACK("_raw_spin_lock_irqsave", "slab_free.isra.0")),
	                 r);
	r = role_of_lost_caller(STACK("_raw_spin_lock_irqsave", "folio_lruvec_relock_irqsave"));
	assert_non_null(r);
	assert_string_equal(r->role, "lru");
	assert_null(role_of_lost_caller(STACK("slab_free.isra.0")));
	assert_null(role_of_lost_caller(STACK("_raw_spin_lock", "do_pte_missing")));
}

static void test_kind_of_lock_tells_roles_apart(void **state)
{
	assert_role("page-table", STACK("_raw_spin_lock", "__anon_vma_prepare"), v6_12);
	assert_role("anon-vma",
	            STACK("rwsem_down_write_slowpath", "down_write", "__anon_vma_prepare"), v6_12);
	assert_role("deferred-split", STACK("_raw_spin_lock", "split_huge_page_to_list"), v6_1);
	assert_role("anon-vma", STACK("down_write", "split_huge_page_to_list"), v6_1);
	assert_role("mmap-lock", STACK("down_read_trylock", "do_user_addr_fault"), v6_1);
	assert_null(role_of_stack(STACK("_raw_spin_lock", "do_user_addr_fault"), v6_1));
	/* The spinlock within a semaphore is not the semaphore. */
	assert_role(
		"mmap-lock",
		STACK("_raw_spin_lock_irq", "rwsem_down_read_slowpath", "down_read", "do_madvise"),
		v6_1);
}

static void test_caller_tells_sides_apart(void **state)
{
	const struct role_function *f;

	f = role_of_stack(STACK("_raw_spin_lock_irqsave", "deferred_split_folio",
	                        "__do_huge_pmd_anonymous_page"),
	                  v6_12);
	assert_int_equal(f->side, ROLE_SIDE_ALLOC);
	f = role_of_stack(
		STACK("_raw_spin_lock_irqsave", "deferred_split_folio", "folio_remove_rmap_ptes"),
		v6_12);
	assert_int_equal(f->side, ROLE_SIDE_UNMAP);
	f = role_of_stack(STACK("_raw_spin_lock_irqsave", "deferred_split_folio"), v6_12);
	assert_int_equal(f->side, ROLE_SIDE_UNMAP);
}

static void test_list_lru_acts_for_its_owner(void **state)
{
	assert_role("deferred-split",
	            STACK("_raw_spin_lock_irqsave", "list_lru_add", "deferred_split_folio",
	                  "folio_remove_rmap_ptes"),
	            v6_12);
	assert_role("vfs", STACK("_raw_spin_lock", "list_lru_add", "d_lru_add"), v6_12);
}

static void test_paths(void **state)
{
	assert_string_equal(role_path_of_stack(STACK("_raw_spin_lock_irqsave", "page_remove_rmap",
	                                             "unmap_page_range", "zap_page_range",
	                                             "madvise_vma_behavior", "do_madvise")),
	                    "madvise");
	assert_string_equal(
		role_path_of_stack(STACK("unmap_page_range", "unmap_vmas", "unmap_region",
	                                 "do_mas_align_munmap", "__vm_munmap")),
		"munmap");
	assert_string_equal(
		role_path_of_stack(STACK("unmap_vmas", "exit_mmap", "__mmput", "do_exit")), "exit");
	assert_string_equal(
		role_path_of_stack(STACK("shrink_lruvec", "__alloc_pages", "__handle_mm_fault")),
		"reclaim");
	assert_string_equal(role_path_of_stack(STACK("clear_huge_page", "__handle_mm_fault.part.0",
	                                             "exc_page_fault")),
	                    "fault");
	assert_string_equal(role_path_of_stack(STACK("frobnicate")), "other");
	assert_string_equal(role_path_of_stack(no_stack, 0), "other");
}

static void test_classes(void **state)
{
	assert_string_equal(role_of_class("&lruvec->lru_lock", v6_12), "lru");
	assert_string_equal(role_of_class("&zone->lock", v6_1), "zone");
	assert_string_equal(role_of_class("&mm->mmap_lock-R", v6_12), "mmap-lock");
	assert_string_equal(role_of_class("&mm->mmap_lock/1", v6_12), "mmap-lock");
	assert_string_equal(role_of_class("ptlock_ptr(ptdesc)#2/1", v6_12), "page-table");
	assert_string_equal(role_of_class("ptlock_ptr(page)#2", v6_1), "page-table");
	assert_string_equal(role_of_class("&(({ do { const void *__vpp_verify = &memcg->"
	                                  "deferred_split_queue.split_qu",
	                                  v6_12),
	                    "deferred-split");
	assert_string_equal(role_of_class("&rq->__lock", v6_12), "sched");
	assert_null(role_of_class("&nobody->lock", v6_12));
	assert_null(role_of_class("", v6_12));
	assert_null(role_of_class("slob_lock", v6_12));
}

static bool overlap(const struct role_function *a, const struct role_function *b)
{
	return (!a->until || b->from <= a->until) && (!b->until || a->from <= b->until);
}

/* Rows of one name: told apart by kernel, caller or kind of lock, never two for one stack. */
static void test_table_has_no_ambiguity(void **state)
{
	size_t count;
	const struct role_function *f = role_functions(&count);

	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count; k++) {
			if (strcmp(f[i].name, f[k].name) || !overlap(&f[i], &f[k]) || f[i].caller)
				continue;
			if (f[i].lock != f[k].lock && f[i].lock && f[k].lock)
				continue;
			fail_msg("two rows for %s: %s and %s", f[i].name, f[i].role, f[k].role);
		}
}

/* Whoever has the code of an inlined function is in the table for the same role. */
static void test_inlining_functions_are_rows(void **state)
{
	size_t count;
	const struct role_function *f = role_functions(&count);

	for (size_t i = 0; i < count; i++) {
		char names[256], *save = NULL;

		snprintf(names, sizeof(names), "%s", f[i].inlined_in ? f[i].inlined_in : "");
		for (char *n = strtok_r(names, " ", &save); n; n = strtok_r(NULL, " ", &save)) {
			bool found = false;

			for (size_t k = 0; k < count; k++)
				found |= !strcmp(f[k].name, n) && !strcmp(f[k].role, f[i].role);
			if (!found)
				fail_msg("%s has the code of %s but is no row of %s", n, f[i].name,
				         f[i].role);
		}
	}
}

static void test_others_are_not_memory(void **state)
{
	size_t count;
	const struct role_other *o = role_others(&count);

	for (size_t i = 0; i < count; i++)
		assert_false(role_is_memory(o[i].role));
	assert_true(role_is_memory("lru"));
	assert_true(role_is_memory("zone"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_of_release),
		cmocka_unit_test(test_compiler_suffixes),
		cmocka_unit_test(test_function_by_kernel),
		cmocka_unit_test(test_first_function_that_is_not_lock_code_decides),
		cmocka_unit_test(test_callers_of_missing_functions),
		cmocka_unit_test(test_kind_of_lock_tells_roles_apart),
		cmocka_unit_test(test_caller_tells_sides_apart),
		cmocka_unit_test(test_list_lru_acts_for_its_owner),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_classes),
		cmocka_unit_test(test_table_has_no_ambiguity),
		cmocka_unit_test(test_inlining_functions_are_rows),
		cmocka_unit_test(test_others_are_not_memory),
	};

	return cmocka_run_group_tests_name("roles", tests, NULL, NULL);
}
