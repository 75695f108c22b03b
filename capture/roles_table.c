/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that take the locks of memory management, by role. Written from the
 * sources of 6.1 and 6.12 and from what their kernels showed when they ran (also
 * as Debian builds them); 5.15, 6.6 and 6.18 from memory and from the symbols of
 * 6.18. A row without .from and .until holds for all of 5.15 to 6.18.
 *
 * For a row: is every entry of the function one acquisition (TAKES), or does it look
 * first, or take the lock more than once (CHECKS)? Where one function takes locks of
 * two roles, they must be of different kinds.
 */

#include "capture/roles_table.h"
#include "common/cleanup.h"

#define K ROLE_KERNEL
#define ALLOC ROLE_SIDE_ALLOC
#define FREE ROLE_SIDE_FREE
#define UNMAP ROLE_SIDE_UNMAP
#define NONE ROLE_SIDE_NONE
#define TAKES .use = ROLE_TAKES
#define CHECKS .use = ROLE_CHECKS
#define SPIN .lock = ROLE_LOCK_SPIN
#define SEM .lock = ROLE_LOCK_SEM
#define IN(callers) .inlined_in = callers
#define NEEDS(option) .needs = "CONFIG_" option
#define FROM(major, minor) .from = K(major, minor)
#define UNTIL(major, minor) .until = K(major, minor)
#define UNVERIFIED .unverified = true

/* clang-format off */
const struct role_function role_table_functions[] = {
	/*
	 * The queue of partly mapped huge pages. The sides of deferred_split_folio() are told
	 * by its caller: since 6.12 huge-page faults queue too (shrink_underused).
	 */
#define ROLE "deferred-split"
	{ "deferred_split_huge_page", ROLE, UNMAP, CHECKS, SPIN, UNTIL(6, 1) },
	{ "deferred_split_huge_page", ROLE, UNMAP, CHECKS, SPIN, FROM(6, 2), UNTIL(6, 5),
	  UNVERIFIED },
	{ "deferred_split_folio", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 12),
	  .caller = "do_huge_pmd_anonymous_page" },
	{ "deferred_split_folio", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 12),
	  .caller = "__do_huge_pmd_anonymous_page" },
	{ "deferred_split_folio", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 13),
	  .caller = "map_anon_folio_pmd", UNVERIFIED },
	{ "deferred_split_folio", ROLE, UNMAP, CHECKS, SPIN, FROM(6, 12) },
	{ "deferred_split_folio", ROLE, UNMAP, CHECKS, SPIN, FROM(6, 6), UNTIL(6, 11), UNVERIFIED },
	{ "free_transhuge_page", ROLE, FREE, TAKES, SPIN, UNTIL(6, 1) },
	{ "free_transhuge_page", ROLE, FREE, TAKES, SPIN, FROM(6, 2), UNTIL(6, 5), UNVERIFIED },
	{ "folio_undo_large_rmappable", ROLE, FREE, CHECKS, SPIN, FROM(6, 6), UNTIL(6, 9),
	  UNVERIFIED },
	{ "__folio_undo_large_rmappable", ROLE, FREE, TAKES, SPIN, FROM(6, 9), UNTIL(6, 11),
	  UNVERIFIED },
	{ "__folio_unqueue_deferred_split", ROLE, FREE, TAKES, SPIN, FROM(6, 12) },
	{ "__folio_unqueue_deferred_split", ROLE, FREE, TAKES, SPIN, FROM(6, 6), UNTIL(6, 11),
	  UNVERIFIED },
	{ "deferred_split_scan", ROLE, NONE, CHECKS, SPIN },
	{ "split_huge_page_to_list", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 7) },
	{ "split_huge_page_to_list_to_order", ROLE, NONE, CHECKS, SPIN, FROM(6, 9) },
	{ "__folio_split", ROLE, NONE, CHECKS, SPIN, FROM(6, 14), UNVERIFIED },
	/*
	 * In mid-2026 the queue became a list_lru: the same functions, through list_lru_*(), which
	 * role_is_lock_code() passes over, and a lock of the class of all list_lrus. Rows for
	 * functions that it adds go here, unverified, FROM() the release that has them:
	 */

#undef ROLE
#define ROLE "lru"
	{ "lock_page_lruvec", ROLE, NONE, TAKES, SPIN, UNTIL(5, 15), UNVERIFIED },
	{ "lock_page_lruvec_irq", ROLE, NONE, TAKES, SPIN, UNTIL(5, 15), UNVERIFIED },
	{ "lock_page_lruvec_irqsave", ROLE, NONE, TAKES, SPIN, UNTIL(5, 15), UNVERIFIED },
	{ "folio_lruvec_lock", ROLE, NONE, TAKES, SPIN, FROM(5, 16) },
	{ "folio_lruvec_lock_irq", ROLE, NONE, TAKES, SPIN, FROM(5, 16) },
	{ "folio_lruvec_lock_irqsave", ROLE, NONE, TAKES, SPIN, FROM(5, 16) },
	{ "lru_note_cost", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 12) },
	{ "lru_note_cost_unlock_irq", ROLE, NONE, CHECKS, SPIN, FROM(6, 18), UNVERIFIED },
	{ "shrink_active_list", ROLE, NONE, CHECKS, SPIN },
	{ "shrink_inactive_list", ROLE, NONE, CHECKS, SPIN, IN("shrink_lruvec") },
	{ "shrink_lruvec", ROLE, NONE, CHECKS, SPIN },
	{ "move_folios_to_lru", ROLE, NONE, CHECKS, SPIN, FROM(6, 1) },
	{ "isolate_migratepages_block", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION") },
	{ "prepare_scan_control", ROLE, NONE, CHECKS, SPIN, FROM(6, 7), IN("shrink_node") },
	{ "prepare_scan_count", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), UNTIL(6, 6),
	  IN("shrink_node") },
	{ "shrink_node", ROLE, NONE, CHECKS, SPIN },
	/* Multi-generational LRU. */
	{ "evict_folios", ROLE, NONE, CHECKS, SPIN, FROM(6, 1),
	  IN("shrink_lruvec shrink_one try_to_shrink_lruvec") },
	{ "shrink_one", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), IN("shrink_node") },
	{ "try_to_shrink_lruvec", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), IN("shrink_lruvec") },
	{ "inc_max_seq", ROLE, NONE, CHECKS, SPIN, FROM(6, 1),
	  IN("try_to_inc_max_seq evict_folios shrink_one shrink_lruvec try_to_shrink_lruvec") },
	{ "try_to_inc_max_seq", ROLE, NONE, CHECKS, SPIN, FROM(6, 1),
	  IN("shrink_lruvec evict_folios shrink_one try_to_shrink_lruvec") },
	{ "walk_mm", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU"),
	  IN("try_to_inc_max_seq inc_max_seq evict_folios shrink_one try_to_shrink_lruvec") },

	/* The list of address spaces that the multi-generational LRU walks: a lock of its own. */
#undef ROLE
#define ROLE "lru-gen"
	{ "lru_gen_add_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_del_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_migrate_mm", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "iterate_mm_list_nowalk", ROLE, NONE, CHECKS, SPIN, FROM(6, 1),
	  NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_rotate_memcg", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },
	{ "lru_gen_online_memcg", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },
	{ "lru_gen_release_memcg", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },

	/* zone->lock, by what it is taken for. */
#undef ROLE
#define ROLE "zone-alloc"
	{ "rmqueue_bulk", ROLE, NONE, TAKES, SPIN, IN("__rmqueue_pcplist get_page_from_freelist") },
	{ "__rmqueue_pcplist", ROLE, NONE, CHECKS, SPIN, IN("get_page_from_freelist") },
	{ "rmqueue_buddy", ROLE, NONE, CHECKS, SPIN, FROM(6, 1),
	  IN("get_page_from_freelist rmqueue") },
	{ "rmqueue", ROLE, NONE, CHECKS, SPIN, IN("get_page_from_freelist") },
	{ "get_page_from_freelist", ROLE, NONE, CHECKS, SPIN },
	{ "reserve_highatomic_pageblock", ROLE, NONE, CHECKS, SPIN, IN("get_page_from_freelist") },
	{ "unreserve_highatomic_pageblock", ROLE, NONE, CHECKS, SPIN },
	{ "alloc_contig_pages", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 9), NEEDS("CONTIG_ALLOC") },
	{ "alloc_contig_pages_noprof", ROLE, NONE, CHECKS, SPIN, FROM(6, 10),
	  NEEDS("CONTIG_ALLOC") },
#undef ROLE
#define ROLE "zone-free"
	{ "free_one_page", ROLE, NONE, TAKES, SPIN,
	  IN("free_unref_page __free_pages_ok free_unref_page_list") },
	{ "__free_pages_ok", ROLE, NONE, CHECKS, SPIN },
	{ "free_pcppages_bulk", ROLE, NONE, TAKES, SPIN },
	{ "free_unref_page", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 13) },
	{ "free_unref_page_list", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 8) },
	{ "free_unref_folios", ROLE, NONE, CHECKS, SPIN, FROM(6, 9) },
	{ "__free_frozen_pages", ROLE, NONE, CHECKS, SPIN, FROM(6, 14), UNVERIFIED },
	{ "split_free_page", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 8) },
	/* The same lock, neither the one nor the other: compaction, isolation, watermarks. */
#undef ROLE
#define ROLE "zone"
	{ "isolate_freepages_block", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION") },
	{ "fast_isolate_freepages", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION"),
	  IN("compaction_alloc compact_zone") },
	{ "compaction_alloc", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION") },
	{ "fast_find_migrateblock", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION"),
	  IN("compact_zone compaction_alloc") },
	{ "compact_zone", ROLE, NONE, CHECKS, SPIN, NEEDS("COMPACTION"), IN("compaction_alloc") },
	{ "balance_pgdat", ROLE, NONE, CHECKS, SPIN },
	{ "setup_per_zone_wmarks", ROLE, NONE, CHECKS, SPIN },
	{ "set_migratetype_isolate", ROLE, NONE, CHECKS, SPIN, NEEDS("MEMORY_ISOLATION") },
	{ "unset_migratetype_isolate", ROLE, NONE, CHECKS, SPIN, NEEDS("MEMORY_ISOLATION") },
	{ "walk_zones_in_node", ROLE, NONE, CHECKS, SPIN, IN("frag_show") },
	{ "frag_show", ROLE, NONE, CHECKS, SPIN, NEEDS("PROC_FS") },
	/* Pages of one CPU; allocation and freeing only try its lock, which is not counted. */
#undef ROLE
#define ROLE "pcp"
	{ "drain_pages_zone", ROLE, NONE, CHECKS, SPIN, FROM(6, 1) },
	{ "drain_pages", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), IN("drain_pages_zone") },
	{ "drain_zone_pages", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), NEEDS("NUMA") },
	{ "decay_pcp_high", ROLE, NONE, CHECKS, SPIN, FROM(6, 7) },

	/* mmap_lock of an address space; to try counts as to take. */
#undef ROLE
#define ROLE "mmap-lock"
	{ "mmap_read_lock", ROLE, NONE, TAKES, SEM, IN("__x64_sys_prctl __mm_populate") },
	{ "mmap_read_lock_killable", ROLE, NONE, TAKES, SEM, IN("__mm_populate") },
	{ "mmap_read_trylock", ROLE, NONE, TAKES, SEM,
	  IN("do_user_addr_fault lock_mm_and_find_vma") },
	{ "mmap_write_lock", ROLE, NONE, TAKES, SEM, IN("exit_mmap") },
	{ "mmap_write_lock_killable", ROLE, NONE, TAKES, SEM, IN("__vm_munmap") },
	{ "do_user_addr_fault", ROLE, NONE, CHECKS, SEM, IN("exc_page_fault") },
	{ "__vmf_anon_prepare", ROLE, NONE, CHECKS, SEM, FROM(6, 11), NEEDS("PER_VMA_LOCK") },
	{ "exc_page_fault", ROLE, NONE, CHECKS, SEM },
	{ "lock_mm_and_find_vma", ROLE, NONE, CHECKS, SEM, FROM(6, 1) },
	{ "__vm_munmap", ROLE, NONE, TAKES, SEM },
	{ "vm_munmap", ROLE, NONE, CHECKS, SEM },
	{ "vm_mmap_pgoff", ROLE, NONE, TAKES, SEM },
	{ "do_madvise", ROLE, NONE, CHECKS, SEM, NEEDS("ADVISE_SYSCALLS") },
	{ "madvise_lock", ROLE, NONE, CHECKS, SEM, FROM(6, 14), NEEDS("ADVISE_SYSCALLS"),
	  UNVERIFIED },
	{ "madvise_vma_behavior", ROLE, NONE, CHECKS, SEM, NEEDS("ADVISE_SYSCALLS"),
	  IN("do_madvise") },
	{ "__do_sys_brk", ROLE, NONE, CHECKS, SEM, IN("__x64_sys_brk") },
	{ "__x64_sys_brk", ROLE, NONE, CHECKS, SEM },
	{ "vm_brk_flags", ROLE, NONE, CHECKS, SEM },
	{ "do_mprotect_pkey", ROLE, NONE, CHECKS, SEM },
	{ "__do_sys_mremap", ROLE, NONE, CHECKS, SEM, IN("__x64_sys_mremap do_mremap") },
	{ "__x64_sys_mremap", ROLE, NONE, CHECKS, SEM },
	{ "do_mremap", ROLE, NONE, CHECKS, SEM, FROM(6, 16), UNVERIFIED },
	{ "dup_mmap", ROLE, NONE, CHECKS, SEM, IN("copy_process") },
	{ "copy_process", ROLE, NONE, CHECKS, SEM },
	{ "exit_mmap", ROLE, NONE, CHECKS, SEM },
	{ "exit_mm", ROLE, NONE, CHECKS, SEM, IN("do_exit") },
	{ "do_exit", ROLE, NONE, CHECKS, SEM },
	{ "acct_collect", ROLE, NONE, CHECKS, SEM, NEEDS("BSD_PROCESS_ACCT") },
	{ "exec_mmap", ROLE, NONE, CHECKS, SEM, IN("begin_new_exec") },
	{ "begin_new_exec", ROLE, NONE, CHECKS, SEM },
	{ "alloc_bprm", ROLE, NONE, CHECKS, SEM },
	{ "setup_arg_pages", ROLE, NONE, CHECKS, SEM },
	{ "get_arg_page", ROLE, NONE, CHECKS, SEM },
	{ "map_vdso", ROLE, NONE, CHECKS, SEM },
	{ "expand_stack", ROLE, NONE, CHECKS, SEM, FROM(6, 1) },
	{ "do_mlock", ROLE, NONE, CHECKS, SEM },
	{ "__x64_sys_munlock", ROLE, NONE, CHECKS, SEM },
	{ "__x64_sys_mlockall", ROLE, NONE, CHECKS, SEM },
	{ "__x64_sys_munlockall", ROLE, NONE, CHECKS, SEM },
	{ "__mm_populate", ROLE, NONE, CHECKS, SEM },
	{ "__get_user_pages_locked", ROLE, NONE, CHECKS, SEM,
	  IN("__gup_longterm_locked get_user_pages_unlocked") },
	{ "__gup_longterm_locked", ROLE, NONE, CHECKS, SEM },
	{ "get_user_pages_unlocked", ROLE, NONE, CHECKS, SEM },
	{ "get_user_pages_remote", ROLE, NONE, CHECKS, SEM },
	{ "fixup_user_fault", ROLE, NONE, CHECKS, SEM },
	{ "fault_in_safe_writeable", ROLE, NONE, CHECKS, SEM },
	{ "__access_remote_vm", ROLE, NONE, CHECKS, SEM },
	{ "prctl_set_mm", ROLE, NONE, CHECKS, SEM },
	{ "__do_sys_prctl", ROLE, NONE, CHECKS, SEM, IN("__x64_sys_prctl") },
	{ "__x64_sys_prctl", ROLE, NONE, CHECKS, SEM },
	{ "m_start", ROLE, NONE, CHECKS, SEM, NEEDS("PROC_FS") },
	{ "pagemap_read", ROLE, NONE, CHECKS, SEM, NEEDS("PROC_PAGE_MONITOR") },
	{ "show_smaps_rollup", ROLE, NONE, CHECKS, SEM, NEEDS("PROC_PAGE_MONITOR") },
	{ "__khugepaged_exit", ROLE, NONE, CHECKS, SEM },
	{ "collapse_huge_page", ROLE, NONE, CHECKS, SEM, IN("hpage_collapse_scan_pmd") },
	{ "hpage_collapse_scan_pmd", ROLE, NONE, CHECKS, SEM },
	{ "khugepaged", ROLE, NONE, CHECKS, SEM },
	{ "madvise_collapse", ROLE, NONE, CHECKS, SEM, FROM(6, 1) },
	{ "ksys_shmdt", ROLE, NONE, CHECKS, SEM, NEEDS("SYSVIPC") },
	{ "do_shmat", ROLE, NONE, CHECKS, SEM, NEEDS("SYSVIPC") },
	/* The lock of one mapping, since 6.4 (a semaphore until 6.14). */
#undef ROLE
#define ROLE "vma-lock"
	{ "vma_start_read", ROLE, NONE, CHECKS, SEM, FROM(6, 4), IN("lock_vma_under_rcu") },
	{ "vma_start_write", ROLE, NONE, CHECKS, SEM, FROM(6, 4), NEEDS("PER_VMA_LOCK"),
	  IN("mprotect_fixup") },
	{ "mprotect_fixup", ROLE, NONE, CHECKS, SEM, FROM(6, 4) },
	{ "lock_vma_under_rcu", ROLE, NONE, CHECKS, SEM, FROM(6, 4), NEEDS("PER_VMA_LOCK") },
	{ "__vma_start_write", ROLE, NONE, CHECKS, SEM, FROM(6, 4), NEEDS("PER_VMA_LOCK"),
	  IN("mprotect_fixup") },
	/* vma_start_write() is inlined in them until it became a call. */
	{ "free_pgtables", ROLE, NONE, CHECKS, SEM, FROM(6, 4), UNTIL(6, 14),
	  NEEDS("PER_VMA_LOCK") },
	{ "__split_vma", ROLE, NONE, CHECKS, SEM, FROM(6, 4), UNTIL(6, 14), NEEDS("PER_VMA_LOCK") },
	{ "vma_expand", ROLE, NONE, CHECKS, SEM, FROM(6, 4), UNTIL(6, 14), NEEDS("PER_VMA_LOCK") },
	{ "vma_shrink", ROLE, NONE, CHECKS, SEM, FROM(6, 4), UNTIL(6, 14), NEEDS("PER_VMA_LOCK") },
	{ "vma_merge_existing_range", ROLE, NONE, CHECKS, SEM, FROM(6, 12), UNTIL(6, 14),
	  NEEDS("PER_VMA_LOCK") },
	{ "vms_gather_munmap_vmas", ROLE, NONE, CHECKS, SEM, FROM(6, 12), UNTIL(6, 14),
	  NEEDS("PER_VMA_LOCK") },

#undef ROLE
#define ROLE "anon-vma"
	{ "__anon_vma_prepare", ROLE, NONE, CHECKS, SEM },
	{ "anon_vma_clone", ROLE, NONE, CHECKS, SEM },
	{ "anon_vma_fork", ROLE, NONE, CHECKS, SEM },
	{ "unlink_anon_vmas", ROLE, NONE, CHECKS, SEM },
	{ "__put_anon_vma", ROLE, NONE, CHECKS, SEM },
	{ "folio_lock_anon_vma_read", ROLE, NONE, CHECKS, SEM, FROM(5, 18) },
	{ "rmap_walk_anon", ROLE, NONE, CHECKS, SEM },
	{ "__vma_adjust", ROLE, NONE, CHECKS, SEM, UNTIL(6, 2) },
	{ "vma_prepare", ROLE, NONE, CHECKS, SEM, FROM(6, 3) },
	{ "expand_downwards", ROLE, NONE, CHECKS, SEM },
	{ "split_huge_page_to_list", ROLE, NONE, CHECKS, SEM, UNTIL(6, 7) },
	{ "split_huge_page_to_list_to_order", ROLE, NONE, CHECKS, SEM, FROM(6, 9) },
	{ "__folio_split", ROLE, NONE, CHECKS, SEM, FROM(6, 14), UNVERIFIED },
	{ "take_rmap_locks", ROLE, NONE, CHECKS, SEM, IN("move_page_tables") },
	{ "move_page_tables", ROLE, NONE, CHECKS, SEM },

	{ "do_brk_flags", ROLE, NONE, CHECKS, SEM, UNTIL(6, 2) },
	{ "vma_expand", ROLE, NONE, CHECKS, SEM, FROM(6, 1), UNTIL(6, 2) },

	/* A file's mappings. vma_prepare() and __vma_adjust() take both: counted as anon-vma. */
#undef ROLE
#define ROLE "i-mmap"
	{ "vma_link", ROLE, NONE, CHECKS, SEM },
	{ "vma_link_file", ROLE, NONE, TAKES, SEM, FROM(6, 9) },
	{ "unlink_file_vma", ROLE, NONE, CHECKS, SEM },
	{ "unlink_file_vma_batch_process", ROLE, NONE, CHECKS, SEM, FROM(6, 10),
	  IN("unlink_file_vma_batch_final") },
	{ "unlink_file_vma_batch_final", ROLE, NONE, CHECKS, SEM, FROM(6, 10) },
	{ "unlink_file_vma_batch_add", ROLE, NONE, CHECKS, SEM, FROM(6, 10) },
	{ "mmap_region", ROLE, NONE, CHECKS, SEM },
	{ "__mmap_region", ROLE, NONE, CHECKS, SEM, FROM(6, 12) },
	{ "unmap_mapping_pages", ROLE, NONE, CHECKS, SEM },
	{ "unmap_mapping_folio", ROLE, NONE, CHECKS, SEM, FROM(5, 17) },
	{ "rmap_walk_file", ROLE, NONE, CHECKS, SEM, IN("__rmap_walk_file") },
	{ "__rmap_walk_file", ROLE, NONE, CHECKS, SEM, FROM(6, 16), UNVERIFIED },

#undef ROLE
#define ROLE "page-table"
	{ "__pte_offset_map_lock", ROLE, NONE, CHECKS, SPIN, FROM(6, 5) },
	{ "pmd_lock", ROLE, NONE, TAKES, SPIN,
	  IN("do_huge_pmd_anonymous_page __split_huge_pmd pmd_install") },
	{ "pmd_install", ROLE, NONE, TAKES, SPIN },
	{ "__pte_alloc", ROLE, NONE, CHECKS, SPIN },
	{ "__pmd_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__pud_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__p4d_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__pte_alloc_kernel", ROLE, NONE, CHECKS, SPIN },
	{ "__anon_vma_prepare", ROLE, NONE, CHECKS, SPIN },
	{ "do_anonymous_page", ROLE, NONE, CHECKS, SPIN, IN("__handle_mm_fault handle_mm_fault") },
	{ "do_pte_missing", ROLE, NONE, CHECKS, SPIN, FROM(6, 12),
	  IN("__handle_mm_fault handle_mm_fault") },
	{ "do_pte_missing", ROLE, NONE, CHECKS, SPIN, FROM(6, 4), UNTIL(6, 11),
	  IN("__handle_mm_fault handle_mm_fault"), UNVERIFIED },
	{ "handle_pte_fault", ROLE, NONE, CHECKS, SPIN, IN("__handle_mm_fault handle_mm_fault") },
	{ "__handle_mm_fault", ROLE, NONE, CHECKS, SPIN },
	{ "handle_mm_fault", ROLE, NONE, CHECKS, SPIN },
	{ "do_wp_page", ROLE, NONE, CHECKS, SPIN },
	{ "wp_page_copy", ROLE, NONE, CHECKS, SPIN, IN("do_wp_page") },
	{ "do_swap_page", ROLE, NONE, CHECKS, SPIN },
	{ "finish_fault", ROLE, NONE, CHECKS, SPIN },
	{ "do_set_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "filemap_map_pages", ROLE, NONE, CHECKS, SPIN },
	{ "zap_pte_range", ROLE, NONE, CHECKS, SPIN, IN("unmap_page_range") },
	{ "unmap_page_range", ROLE, NONE, CHECKS, SPIN },
	{ "zap_huge_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "__pmd_trans_huge_lock", ROLE, NONE, TAKES, SPIN },
	{ "__pud_trans_huge_lock", ROLE, NONE, TAKES, SPIN },
	{ "do_huge_pmd_anonymous_page", ROLE, NONE, CHECKS, SPIN },
	{ "do_huge_pmd_wp_page", ROLE, NONE, CHECKS, SPIN },
	{ "do_huge_pmd_numa_page", ROLE, NONE, CHECKS, SPIN },
	{ "huge_pmd_set_accessed", ROLE, NONE, CHECKS, SPIN },
	{ "__split_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "copy_huge_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "copy_pte_range", ROLE, NONE, CHECKS, SPIN, IN("copy_page_range") },
	{ "copy_page_range", ROLE, NONE, CHECKS, SPIN },
	{ "change_pte_range", ROLE, NONE, CHECKS, SPIN, IN("change_protection") },
	{ "change_protection", ROLE, NONE, CHECKS, SPIN },
	{ "change_huge_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "move_ptes", ROLE, NONE, CHECKS, SPIN, IN("move_page_tables") },
	{ "move_page_tables", ROLE, NONE, CHECKS, SPIN },
	{ "move_huge_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "expand_downwards", ROLE, NONE, CHECKS, SPIN },
	{ "page_vma_mapped_walk", ROLE, NONE, CHECKS, SPIN },
	{ "folio_walk_start", ROLE, NONE, CHECKS, SPIN, FROM(6, 12) },
	{ "follow_page_mask", ROLE, NONE, CHECKS, SPIN, IN("follow_page_pte") },
	{ "follow_page_pte", ROLE, NONE, CHECKS, SPIN },
	{ "__get_locked_pte", ROLE, NONE, CHECKS, SPIN },
	{ "migration_entry_wait", ROLE, NONE, CHECKS, SPIN },
	{ "pmd_migration_entry_wait", ROLE, NONE, CHECKS, SPIN },
	{ "madvise_cold_or_pageout_pte_range", ROLE, NONE, CHECKS, SPIN, NEEDS("ADVISE_SYSCALLS") },
	{ "madvise_free_pte_range", ROLE, NONE, CHECKS, SPIN, NEEDS("ADVISE_SYSCALLS") },
	{ "swapin_walk_pmd_entry", ROLE, NONE, CHECKS, SPIN, NEEDS("SWAP") },
	{ "unuse_pte_range", ROLE, NONE, CHECKS, SPIN, NEEDS("SWAP") },
	{ "mlock_pte_range", ROLE, NONE, CHECKS, SPIN },
	{ "mincore_pte_range", ROLE, NONE, CHECKS, SPIN },
	{ "queue_folios_pte_range", ROLE, NONE, CHECKS, SPIN, FROM(6, 3), NEEDS("NUMA") },
	{ "smaps_pte_range", ROLE, NONE, CHECKS, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "pagemap_pmd_range", ROLE, NONE, CHECKS, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "clear_refs_pte_range", ROLE, NONE, CHECKS, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "collapse_huge_page", ROLE, NONE, CHECKS, SPIN, IN("hpage_collapse_scan_pmd") },
	{ "hpage_collapse_scan_pmd", ROLE, NONE, CHECKS, SPIN },
	{ "collapse_pte_mapped_thp", ROLE, NONE, CHECKS, SPIN },
	{ "remap_pfn_range", ROLE, NONE, CHECKS, SPIN },
	{ "__apply_to_page_range", ROLE, NONE, CHECKS, SPIN, IN("apply_to_page_range") },
	{ "apply_to_page_range", ROLE, NONE, CHECKS, SPIN },
	/* The list of page directories (x86). */
	{ "pgd_alloc", ROLE, NONE, TAKES, SPIN },
	{ "pgd_free", ROLE, NONE, TAKES, SPIN },

	/* The list of address spaces that khugepaged scans. */
#undef ROLE
#define ROLE "khugepaged"
	{ "khugepaged", ROLE, NONE, CHECKS, SPIN },
	{ "__khugepaged_enter", ROLE, NONE, TAKES, SPIN },
	{ "__khugepaged_exit", ROLE, NONE, TAKES, SPIN },

	/* Statistics and structure of memory control groups. */
#undef ROLE
#define ROLE "memcg"
	{ "cgroup_rstat_updated", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 15) },
	{ "__cgroup_rstat_updated", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 15),
	  IN("cgroup_rstat_updated") },
	{ "css_rstat_updated", ROLE, NONE, CHECKS, SPIN, FROM(6, 16), UNVERIFIED },
	{ "cgroup_rstat_flush", ROLE, NONE, TAKES, SPIN, UNTIL(6, 15) },
	{ "cgroup_rstat_flush_locked", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 15) },
	{ "css_rstat_flush", ROLE, NONE, TAKES, SPIN, FROM(6, 16), UNVERIFIED },
	{ "__cgroup_rstat_lock", ROLE, NONE, CHECKS, SPIN, FROM(6, 10), UNTIL(6, 15) },
	{ "folio_memcg_lock", ROLE, NONE, CHECKS, SPIN, FROM(5, 16), UNTIL(6, 11),
	  NEEDS("MEMCG_V1") },
	{ "obj_cgroup_release", ROLE, NONE, CHECKS, SPIN, FROM(6, 1), NEEDS("MEMCG_KMEM") },
	{ "mem_cgroup_css_offline", ROLE, NONE, CHECKS, SPIN, NEEDS("MEMCG") },

	/* Lists of slabs with free objects. */
#undef ROLE
#define ROLE "slab"
	{ "slob_alloc", ROLE, ALLOC, CHECKS, SPIN, UNTIL(6, 3), NEEDS("SLOB") },
	{ "slob_free", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 3), NEEDS("SLOB") },
	{ "get_partial_node", ROLE, ALLOC, CHECKS, SPIN, NEEDS("SLUB") },
	{ "__slab_alloc_node", ROLE, ALLOC, CHECKS, SPIN, NEEDS("SLUB_TINY") },
	{ "___slab_alloc", ROLE, ALLOC, CHECKS, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "free_to_partial_list", ROLE, FREE, CHECKS, SPIN, FROM(6, 2), NEEDS("SLUB") },
	{ "__slab_free", ROLE, FREE, CHECKS, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "__unfreeze_partials", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 7), NEEDS("SLUB_CPU_PARTIAL"),
	  IN("put_cpu_partial") },
	{ "__put_partials", ROLE, FREE, CHECKS, SPIN, FROM(6, 8), NEEDS("SLUB_CPU_PARTIAL") },
	{ "put_cpu_partial", ROLE, FREE, CHECKS, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "deactivate_slab", ROLE, FREE, CHECKS, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "__kmem_cache_do_shrink", ROLE, NONE, TAKES, SPIN, NEEDS("SLUB") },
	{ "__pcs_replace_empty_main", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 18), UNVERIFIED },
	{ "__pcs_replace_full_main", ROLE, FREE, CHECKS, SPIN, FROM(6, 18), UNVERIFIED },
	{ "barn_put_full_sheaf", ROLE, FREE, TAKES, SPIN, FROM(6, 18), UNVERIFIED },
	{ "barn_get_empty_sheaf", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 18), UNVERIFIED },

	/* Swap devices, their clusters, and the cache of pages being swapped. */
#undef ROLE
#define ROLE "swap"
	{ "get_swap_pages", ROLE, ALLOC, CHECKS, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "folio_alloc_swap", ROLE, ALLOC, CHECKS, SPIN, FROM(5, 18), NEEDS("SWAP") },
	{ "alloc_swap_scan_cluster", ROLE, ALLOC, CHECKS, SPIN, FROM(6, 12), NEEDS("SWAP") },
	{ "swapcache_free_entries", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "__swap_entry_free", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 11), NEEDS("SWAP") },
	{ "swap_free_nr", ROLE, FREE, CHECKS, SPIN, FROM(6, 10), NEEDS("SWAP") },
	{ "cluster_swap_free_nr", ROLE, FREE, CHECKS, SPIN, FROM(6, 12), UNTIL(6, 13),
	  NEEDS("SWAP") },
	{ "free_swap_and_cache", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 8), NEEDS("SWAP") },
	{ "free_swap_and_cache_nr", ROLE, FREE, CHECKS, SPIN, FROM(6, 9), NEEDS("SWAP") },
	{ "free_swap_slot", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "put_swap_folio", ROLE, FREE, CHECKS, SPIN, FROM(6, 1), NEEDS("SWAP") },
	{ "__swap_duplicate", ROLE, NONE, CHECKS, SPIN, NEEDS("SWAP") },
	{ "swp_swapcount", ROLE, NONE, CHECKS, SPIN, NEEDS("SWAP") },
	{ "add_to_swap_cache", ROLE, ALLOC, CHECKS, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "delete_from_swap_cache", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "clear_shadow_from_swap_cache", ROLE, FREE, CHECKS, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "si_swapinfo", ROLE, NONE, CHECKS, SPIN, NEEDS("SWAP") },
#undef ROLE
};
/* clang-format on */

const size_t role_table_functions_count = ARRAY_SIZE(role_table_functions);
