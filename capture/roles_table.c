/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that take the locks of memory management, by role. Written from the
 * sources of 6.1 and 6.12 and from what their kernels showed when they ran (also
 * as Debian builds them); 5.15, 6.6 and 6.18 from memory and from the symbols of
 * 6.18. A row without .from and .until holds for all of 5.15 to 6.18.
 *
 * Before a row: is every entry of the function one acquisition (TAKES), or does
 * it look first (CHECKS)? Where one function takes locks of two roles, they must
 * be of different kinds.
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
	{ "deferred_split_scan", ROLE, NONE, TAKES, SPIN },
	{ "split_huge_page_to_list", ROLE, NONE, TAKES, SPIN, UNTIL(6, 7) },
	{ "split_huge_page_to_list_to_order", ROLE, NONE, TAKES, SPIN, FROM(6, 9) },
	{ "__folio_split", ROLE, NONE, TAKES, SPIN, FROM(6, 14), UNVERIFIED },
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
	{ "lru_note_cost", ROLE, NONE, TAKES, SPIN, UNTIL(6, 12) },
	{ "lru_note_cost_unlock_irq", ROLE, NONE, TAKES, SPIN, FROM(6, 18), UNVERIFIED },
	{ "shrink_active_list", ROLE, NONE, TAKES, SPIN },
	{ "shrink_inactive_list", ROLE, NONE, TAKES, SPIN, IN("shrink_lruvec") },
	{ "shrink_lruvec", ROLE, NONE, TAKES, SPIN },
	{ "move_folios_to_lru", ROLE, NONE, TAKES, SPIN, FROM(6, 1) },
	{ "isolate_migratepages_block", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION") },
	{ "prepare_scan_control", ROLE, NONE, TAKES, SPIN, FROM(6, 7), IN("shrink_node") },
	{ "prepare_scan_count", ROLE, NONE, TAKES, SPIN, FROM(6, 1), UNTIL(6, 6),
	  IN("shrink_node") },
	{ "shrink_node", ROLE, NONE, TAKES, SPIN },
	/* Multi-generational LRU. */
	{ "evict_folios", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  IN("shrink_lruvec shrink_one try_to_shrink_lruvec") },
	{ "shrink_one", ROLE, NONE, TAKES, SPIN, FROM(6, 3), IN("shrink_node") },
	{ "try_to_shrink_lruvec", ROLE, NONE, TAKES, SPIN, FROM(6, 3), IN("shrink_lruvec") },
	{ "inc_max_seq", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  IN("try_to_inc_max_seq evict_folios shrink_one shrink_lruvec try_to_shrink_lruvec") },
	{ "try_to_inc_max_seq", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  IN("shrink_lruvec evict_folios shrink_one try_to_shrink_lruvec") },
	{ "walk_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  IN("try_to_inc_max_seq inc_max_seq evict_folios shrink_one try_to_shrink_lruvec") },

	/* The list of address spaces that the multi-generational LRU walks: a lock of its own. */
#undef ROLE
#define ROLE "lru-gen"
	{ "lru_gen_add_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_del_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_migrate_mm", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("LRU_GEN_WALKS_MMU") },
	{ "iterate_mm_list_nowalk", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  NEEDS("LRU_GEN_WALKS_MMU") },
	{ "lru_gen_rotate_memcg", ROLE, NONE, TAKES, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },
	{ "lru_gen_online_memcg", ROLE, NONE, TAKES, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },
	{ "lru_gen_release_memcg", ROLE, NONE, TAKES, SPIN, FROM(6, 3), NEEDS("LRU_GEN") },

	/* zone->lock, by what it is taken for. */
#undef ROLE
#define ROLE "zone-alloc"
	{ "rmqueue_bulk", ROLE, NONE, TAKES, SPIN, IN("__rmqueue_pcplist") },
	{ "__rmqueue_pcplist", ROLE, NONE, TAKES, SPIN },
	{ "rmqueue_buddy", ROLE, NONE, TAKES, SPIN, FROM(6, 1),
	  IN("get_page_from_freelist rmqueue") },
	{ "rmqueue", ROLE, NONE, TAKES, SPIN, IN("get_page_from_freelist") },
	{ "get_page_from_freelist", ROLE, NONE, TAKES, SPIN },
	{ "reserve_highatomic_pageblock", ROLE, NONE, TAKES, SPIN, IN("get_page_from_freelist") },
	{ "unreserve_highatomic_pageblock", ROLE, NONE, TAKES, SPIN },
	{ "alloc_contig_pages", ROLE, NONE, TAKES, SPIN, UNTIL(6, 9), NEEDS("CONTIG_ALLOC") },
	{ "alloc_contig_pages_noprof", ROLE, NONE, TAKES, SPIN, FROM(6, 10),
	  NEEDS("CONTIG_ALLOC") },
#undef ROLE
#define ROLE "zone-free"
	{ "free_one_page", ROLE, NONE, TAKES, SPIN,
	  IN("free_unref_page __free_pages_ok free_unref_page_list") },
	{ "__free_pages_ok", ROLE, NONE, TAKES, SPIN },
	{ "free_pcppages_bulk", ROLE, NONE, TAKES, SPIN },
	{ "free_unref_page", ROLE, NONE, TAKES, SPIN, UNTIL(6, 13) },
	{ "free_unref_page_list", ROLE, NONE, TAKES, SPIN, UNTIL(6, 8) },
	{ "free_unref_folios", ROLE, NONE, TAKES, SPIN, FROM(6, 9) },
	{ "__free_frozen_pages", ROLE, NONE, TAKES, SPIN, FROM(6, 14), UNVERIFIED },
	{ "split_free_page", ROLE, NONE, TAKES, SPIN, UNTIL(6, 8) },
	/* The same lock, neither the one nor the other: compaction, isolation, watermarks. */
#undef ROLE
#define ROLE "zone"
	{ "isolate_freepages_block", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION") },
	{ "fast_isolate_freepages", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION"),
	  IN("compaction_alloc compact_zone") },
	{ "compaction_alloc", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION") },
	{ "fast_find_migrateblock", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION"),
	  IN("compact_zone") },
	{ "compact_zone", ROLE, NONE, TAKES, SPIN, NEEDS("COMPACTION") },
	{ "balance_pgdat", ROLE, NONE, TAKES, SPIN },
	{ "setup_per_zone_wmarks", ROLE, NONE, TAKES, SPIN },
	{ "set_migratetype_isolate", ROLE, NONE, TAKES, SPIN, NEEDS("MEMORY_ISOLATION") },
	{ "unset_migratetype_isolate", ROLE, NONE, TAKES, SPIN, NEEDS("MEMORY_ISOLATION") },
	{ "walk_zones_in_node", ROLE, NONE, TAKES, SPIN, NEEDS("PROC_FS") },
	/* Pages of one CPU; allocation and freeing only try its lock, which is not counted. */
#undef ROLE
#define ROLE "pcp"
	{ "drain_pages_zone", ROLE, NONE, TAKES, SPIN, FROM(6, 1) },
	{ "drain_pages", ROLE, NONE, TAKES, SPIN, FROM(6, 1), IN("drain_pages_zone") },
	{ "drain_zone_pages", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("NUMA") },
	{ "decay_pcp_high", ROLE, NONE, TAKES, SPIN, FROM(6, 7) },

	/* mmap_lock of an address space; to try counts as to take. */
#undef ROLE
#define ROLE "mmap-lock"
	{ "do_user_addr_fault", ROLE, NONE, TAKES, SEM, IN("exc_page_fault") },
	{ "exc_page_fault", ROLE, NONE, TAKES, SEM },
	{ "lock_mm_and_find_vma", ROLE, NONE, TAKES, SEM, FROM(6, 1) },
	{ "__vm_munmap", ROLE, NONE, TAKES, SEM },
	{ "vm_munmap", ROLE, NONE, TAKES, SEM },
	{ "vm_mmap_pgoff", ROLE, NONE, TAKES, SEM },
	{ "do_madvise", ROLE, NONE, TAKES, SEM, NEEDS("ADVISE_SYSCALLS") },
	{ "madvise_lock", ROLE, NONE, TAKES, SEM, FROM(6, 14), NEEDS("ADVISE_SYSCALLS"),
	  UNVERIFIED },
	{ "madvise_vma_behavior", ROLE, NONE, TAKES, SEM, NEEDS("ADVISE_SYSCALLS") },
	{ "__do_sys_brk", ROLE, NONE, TAKES, SEM, IN("__x64_sys_brk") },
	{ "__x64_sys_brk", ROLE, NONE, TAKES, SEM },
	{ "vm_brk_flags", ROLE, NONE, TAKES, SEM },
	{ "do_mprotect_pkey", ROLE, NONE, TAKES, SEM },
	{ "__do_sys_mremap", ROLE, NONE, TAKES, SEM, IN("__x64_sys_mremap do_mremap") },
	{ "__x64_sys_mremap", ROLE, NONE, TAKES, SEM },
	{ "do_mremap", ROLE, NONE, TAKES, SEM, FROM(6, 16), UNVERIFIED },
	{ "dup_mmap", ROLE, NONE, TAKES, SEM, IN("copy_process") },
	{ "copy_process", ROLE, NONE, TAKES, SEM },
	{ "exit_mmap", ROLE, NONE, TAKES, SEM },
	{ "exit_mm", ROLE, NONE, TAKES, SEM, IN("do_exit") },
	{ "do_exit", ROLE, NONE, TAKES, SEM },
	{ "acct_collect", ROLE, NONE, TAKES, SEM, NEEDS("BSD_PROCESS_ACCT") },
	{ "exec_mmap", ROLE, NONE, TAKES, SEM, IN("begin_new_exec") },
	{ "begin_new_exec", ROLE, NONE, TAKES, SEM },
	{ "alloc_bprm", ROLE, NONE, TAKES, SEM },
	{ "setup_arg_pages", ROLE, NONE, TAKES, SEM },
	{ "get_arg_page", ROLE, NONE, TAKES, SEM },
	{ "map_vdso", ROLE, NONE, TAKES, SEM },
	{ "expand_stack", ROLE, NONE, TAKES, SEM, FROM(6, 1) },
	{ "do_mlock", ROLE, NONE, TAKES, SEM },
	{ "__x64_sys_munlock", ROLE, NONE, TAKES, SEM },
	{ "__x64_sys_mlockall", ROLE, NONE, TAKES, SEM },
	{ "__x64_sys_munlockall", ROLE, NONE, TAKES, SEM },
	{ "__mm_populate", ROLE, NONE, TAKES, SEM },
	{ "__get_user_pages_locked", ROLE, NONE, TAKES, SEM,
	  IN("__gup_longterm_locked get_user_pages_unlocked") },
	{ "__gup_longterm_locked", ROLE, NONE, TAKES, SEM },
	{ "get_user_pages_unlocked", ROLE, NONE, TAKES, SEM },
	{ "get_user_pages_remote", ROLE, NONE, TAKES, SEM },
	{ "fixup_user_fault", ROLE, NONE, TAKES, SEM },
	{ "fault_in_safe_writeable", ROLE, NONE, TAKES, SEM },
	{ "__access_remote_vm", ROLE, NONE, TAKES, SEM },
	{ "prctl_set_mm", ROLE, NONE, TAKES, SEM },
	{ "__do_sys_prctl", ROLE, NONE, TAKES, SEM, IN("__x64_sys_prctl") },
	{ "__x64_sys_prctl", ROLE, NONE, TAKES, SEM },
	{ "m_start", ROLE, NONE, TAKES, SEM, NEEDS("PROC_FS") },
	{ "pagemap_read", ROLE, NONE, TAKES, SEM, NEEDS("PROC_PAGE_MONITOR") },
	{ "show_smaps_rollup", ROLE, NONE, TAKES, SEM, NEEDS("PROC_PAGE_MONITOR") },
	{ "__khugepaged_exit", ROLE, NONE, TAKES, SEM },
	{ "collapse_huge_page", ROLE, NONE, TAKES, SEM, IN("hpage_collapse_scan_pmd") },
	{ "hpage_collapse_scan_pmd", ROLE, NONE, TAKES, SEM },
	{ "khugepaged", ROLE, NONE, TAKES, SEM },
	{ "madvise_collapse", ROLE, NONE, TAKES, SEM, FROM(6, 1) },
	{ "ksys_shmdt", ROLE, NONE, TAKES, SEM, NEEDS("SYSVIPC") },
	{ "do_shmat", ROLE, NONE, TAKES, SEM, NEEDS("SYSVIPC") },
	/* The lock of one mapping, since 6.4 (a semaphore until 6.14). */
#undef ROLE
#define ROLE "vma-lock"
	{ "lock_vma_under_rcu", ROLE, NONE, TAKES, SEM, FROM(6, 4), NEEDS("PER_VMA_LOCK") },
	{ "__vma_start_write", ROLE, NONE, TAKES, SEM, FROM(6, 4), NEEDS("PER_VMA_LOCK") },

#undef ROLE
#define ROLE "anon-vma"
	{ "__anon_vma_prepare", ROLE, NONE, TAKES, SEM },
	{ "anon_vma_clone", ROLE, NONE, TAKES, SEM },
	{ "anon_vma_fork", ROLE, NONE, TAKES, SEM },
	{ "unlink_anon_vmas", ROLE, NONE, TAKES, SEM },
	{ "__put_anon_vma", ROLE, NONE, TAKES, SEM },
	{ "folio_lock_anon_vma_read", ROLE, NONE, TAKES, SEM, FROM(5, 18) },
	{ "rmap_walk_anon", ROLE, NONE, TAKES, SEM },
	{ "__vma_adjust", ROLE, NONE, TAKES, SEM, UNTIL(6, 2) },
	{ "vma_prepare", ROLE, NONE, TAKES, SEM, FROM(6, 3) },
	{ "expand_downwards", ROLE, NONE, TAKES, SEM },
	{ "split_huge_page_to_list", ROLE, NONE, TAKES, SEM, UNTIL(6, 7) },
	{ "split_huge_page_to_list_to_order", ROLE, NONE, TAKES, SEM, FROM(6, 9) },
	{ "__folio_split", ROLE, NONE, TAKES, SEM, FROM(6, 14), UNVERIFIED },
	{ "take_rmap_locks", ROLE, NONE, TAKES, SEM, IN("move_page_tables") },
	{ "move_page_tables", ROLE, NONE, TAKES, SEM },

	/* A file's mappings. vma_prepare() and __vma_adjust() take both: counted as anon-vma. */
#undef ROLE
#define ROLE "i-mmap"
	{ "vma_link", ROLE, NONE, TAKES, SEM },
	{ "vma_link_file", ROLE, NONE, TAKES, SEM, FROM(6, 9) },
	{ "unlink_file_vma", ROLE, NONE, TAKES, SEM },
	{ "unlink_file_vma_batch_process", ROLE, NONE, TAKES, SEM, FROM(6, 10) },
	{ "mmap_region", ROLE, NONE, TAKES, SEM },
	{ "__mmap_region", ROLE, NONE, TAKES, SEM, FROM(6, 12) },
	{ "unmap_mapping_pages", ROLE, NONE, TAKES, SEM },
	{ "unmap_mapping_folio", ROLE, NONE, TAKES, SEM, FROM(5, 17) },
	{ "rmap_walk_file", ROLE, NONE, TAKES, SEM, IN("__rmap_walk_file") },
	{ "__rmap_walk_file", ROLE, NONE, TAKES, SEM, FROM(6, 16), UNVERIFIED },

#undef ROLE
#define ROLE "page-table"
	{ "__pte_offset_map_lock", ROLE, NONE, TAKES, SPIN, FROM(6, 5), UNTIL(6, 12) },
	{ "pte_offset_map_lock", ROLE, NONE, TAKES, SPIN, FROM(6, 13), UNVERIFIED },
	{ "pmd_lock", ROLE, NONE, TAKES, SPIN,
	  IN("do_huge_pmd_anonymous_page __split_huge_pmd pmd_install") },
	{ "pmd_install", ROLE, NONE, TAKES, SPIN },
	{ "__pte_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__pmd_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__pud_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__p4d_alloc", ROLE, NONE, TAKES, SPIN },
	{ "__pte_alloc_kernel", ROLE, NONE, TAKES, SPIN },
	{ "__anon_vma_prepare", ROLE, NONE, TAKES, SPIN },
	{ "do_anonymous_page", ROLE, NONE, TAKES, SPIN, IN("__handle_mm_fault handle_mm_fault") },
	{ "handle_pte_fault", ROLE, NONE, TAKES, SPIN, IN("__handle_mm_fault handle_mm_fault") },
	{ "__handle_mm_fault", ROLE, NONE, TAKES, SPIN },
	{ "handle_mm_fault", ROLE, NONE, TAKES, SPIN },
	{ "do_wp_page", ROLE, NONE, TAKES, SPIN },
	{ "wp_page_copy", ROLE, NONE, TAKES, SPIN, IN("do_wp_page") },
	{ "do_swap_page", ROLE, NONE, TAKES, SPIN },
	{ "finish_fault", ROLE, NONE, TAKES, SPIN },
	{ "do_set_pmd", ROLE, NONE, TAKES, SPIN },
	{ "filemap_map_pages", ROLE, NONE, TAKES, SPIN },
	{ "zap_pte_range", ROLE, NONE, TAKES, SPIN, IN("unmap_page_range") },
	{ "unmap_page_range", ROLE, NONE, TAKES, SPIN },
	{ "zap_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "__pmd_trans_huge_lock", ROLE, NONE, TAKES, SPIN },
	{ "__pud_trans_huge_lock", ROLE, NONE, TAKES, SPIN },
	{ "do_huge_pmd_anonymous_page", ROLE, NONE, TAKES, SPIN },
	{ "do_huge_pmd_wp_page", ROLE, NONE, TAKES, SPIN },
	{ "do_huge_pmd_numa_page", ROLE, NONE, TAKES, SPIN },
	{ "huge_pmd_set_accessed", ROLE, NONE, TAKES, SPIN },
	{ "__split_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "copy_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "copy_pte_range", ROLE, NONE, TAKES, SPIN, IN("copy_page_range") },
	{ "copy_page_range", ROLE, NONE, TAKES, SPIN },
	{ "change_pte_range", ROLE, NONE, TAKES, SPIN, IN("change_protection") },
	{ "change_protection", ROLE, NONE, TAKES, SPIN },
	{ "change_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "move_ptes", ROLE, NONE, TAKES, SPIN, IN("move_page_tables") },
	{ "move_page_tables", ROLE, NONE, TAKES, SPIN },
	{ "move_huge_pmd", ROLE, NONE, TAKES, SPIN },
	{ "expand_downwards", ROLE, NONE, TAKES, SPIN },
	{ "page_vma_mapped_walk", ROLE, NONE, TAKES, SPIN },
	{ "folio_walk_start", ROLE, NONE, TAKES, SPIN, FROM(6, 12) },
	{ "follow_page_mask", ROLE, NONE, TAKES, SPIN, IN("follow_page_pte") },
	{ "follow_page_pte", ROLE, NONE, TAKES, SPIN },
	{ "__get_locked_pte", ROLE, NONE, TAKES, SPIN },
	{ "migration_entry_wait", ROLE, NONE, TAKES, SPIN },
	{ "pmd_migration_entry_wait", ROLE, NONE, TAKES, SPIN },
	{ "madvise_cold_or_pageout_pte_range", ROLE, NONE, TAKES, SPIN, NEEDS("ADVISE_SYSCALLS") },
	{ "madvise_free_pte_range", ROLE, NONE, TAKES, SPIN, NEEDS("ADVISE_SYSCALLS") },
	{ "swapin_walk_pmd_entry", ROLE, NONE, TAKES, SPIN, NEEDS("SWAP") },
	{ "unuse_pte_range", ROLE, NONE, TAKES, SPIN, NEEDS("SWAP") },
	{ "mlock_pte_range", ROLE, NONE, TAKES, SPIN },
	{ "mincore_pte_range", ROLE, NONE, TAKES, SPIN },
	{ "queue_folios_pte_range", ROLE, NONE, TAKES, SPIN, FROM(6, 3), NEEDS("NUMA") },
	{ "smaps_pte_range", ROLE, NONE, TAKES, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "pagemap_pmd_range", ROLE, NONE, TAKES, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "clear_refs_pte_range", ROLE, NONE, TAKES, SPIN, NEEDS("PROC_PAGE_MONITOR") },
	{ "collapse_huge_page", ROLE, NONE, TAKES, SPIN, IN("hpage_collapse_scan_pmd") },
	{ "hpage_collapse_scan_pmd", ROLE, NONE, TAKES, SPIN },
	{ "collapse_pte_mapped_thp", ROLE, NONE, TAKES, SPIN },
	{ "remap_pfn_range", ROLE, NONE, TAKES, SPIN },
	{ "__apply_to_page_range", ROLE, NONE, TAKES, SPIN, IN("apply_to_page_range") },
	{ "apply_to_page_range", ROLE, NONE, TAKES, SPIN },
	/* The list of page directories (x86). */
	{ "pgd_alloc", ROLE, NONE, TAKES, SPIN },
	{ "pgd_free", ROLE, NONE, TAKES, SPIN },

	/* Statistics and structure of memory control groups. */
#undef ROLE
#define ROLE "memcg"
	{ "cgroup_rstat_updated", ROLE, NONE, CHECKS, SPIN, UNTIL(6, 15) },
	{ "css_rstat_updated", ROLE, NONE, CHECKS, SPIN, FROM(6, 16), UNVERIFIED },
	{ "cgroup_rstat_flush", ROLE, NONE, TAKES, SPIN, UNTIL(6, 15) },
	{ "cgroup_rstat_flush_locked", ROLE, NONE, TAKES, SPIN, UNTIL(6, 15) },
	{ "css_rstat_flush", ROLE, NONE, TAKES, SPIN, FROM(6, 16), UNVERIFIED },
	{ "__cgroup_rstat_lock", ROLE, NONE, TAKES, SPIN, FROM(6, 10), UNTIL(6, 15) },
	{ "folio_memcg_lock", ROLE, NONE, CHECKS, SPIN, FROM(5, 16), UNTIL(6, 12),
	  NEEDS("MEMCG_V1") },
	{ "obj_cgroup_release", ROLE, NONE, TAKES, SPIN, FROM(6, 1), NEEDS("MEMCG_KMEM") },
	{ "mem_cgroup_css_offline", ROLE, NONE, TAKES, SPIN, NEEDS("MEMCG") },

	/* Lists of slabs with free objects. */
#undef ROLE
#define ROLE "slab"
	{ "slob_alloc", ROLE, ALLOC, TAKES, SPIN, UNTIL(6, 3), NEEDS("SLOB") },
	{ "slob_free", ROLE, FREE, TAKES, SPIN, UNTIL(6, 3), NEEDS("SLOB") },
	{ "get_partial_node", ROLE, ALLOC, CHECKS, SPIN, NEEDS("SLUB") },
	{ "__slab_alloc_node", ROLE, ALLOC, TAKES, SPIN, NEEDS("SLUB_TINY") },
	{ "___slab_alloc", ROLE, ALLOC, TAKES, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "free_to_partial_list", ROLE, FREE, TAKES, SPIN, FROM(6, 2), NEEDS("SLUB") },
	{ "__slab_free", ROLE, FREE, CHECKS, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "__unfreeze_partials", ROLE, FREE, TAKES, SPIN, UNTIL(6, 7), NEEDS("SLUB_CPU_PARTIAL"),
	  IN("put_cpu_partial") },
	{ "__put_partials", ROLE, FREE, TAKES, SPIN, FROM(6, 8), NEEDS("SLUB_CPU_PARTIAL") },
	{ "put_cpu_partial", ROLE, FREE, TAKES, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "deactivate_slab", ROLE, FREE, TAKES, SPIN, NEEDS("SLUB_CPU_PARTIAL") },
	{ "__kmem_cache_do_shrink", ROLE, NONE, TAKES, SPIN, NEEDS("SLUB") },
	{ "__pcs_replace_empty_main", ROLE, ALLOC, TAKES, SPIN, FROM(6, 18), UNVERIFIED },
	{ "__pcs_replace_full_main", ROLE, FREE, TAKES, SPIN, FROM(6, 18), UNVERIFIED },
	{ "barn_put_full_sheaf", ROLE, FREE, TAKES, SPIN, FROM(6, 18), UNVERIFIED },
	{ "barn_get_empty_sheaf", ROLE, ALLOC, TAKES, SPIN, FROM(6, 18), UNVERIFIED },

	/* Swap devices, their clusters, and the cache of pages being swapped. */
#undef ROLE
#define ROLE "swap"
	{ "get_swap_pages", ROLE, ALLOC, TAKES, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "folio_alloc_swap", ROLE, ALLOC, TAKES, SPIN, FROM(5, 18), NEEDS("SWAP") },
	{ "alloc_swap_scan_cluster", ROLE, ALLOC, TAKES, SPIN, FROM(6, 12), NEEDS("SWAP") },
	{ "swapcache_free_entries", ROLE, FREE, TAKES, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "__swap_entry_free", ROLE, FREE, TAKES, SPIN, UNTIL(6, 11), NEEDS("SWAP") },
	{ "swap_free_nr", ROLE, FREE, TAKES, SPIN, FROM(6, 10), NEEDS("SWAP") },
	{ "cluster_swap_free_nr", ROLE, FREE, TAKES, SPIN, FROM(6, 12), UNTIL(6, 13),
	  NEEDS("SWAP") },
	{ "free_swap_and_cache", ROLE, FREE, TAKES, SPIN, UNTIL(6, 8), NEEDS("SWAP") },
	{ "free_swap_and_cache_nr", ROLE, FREE, TAKES, SPIN, FROM(6, 9), NEEDS("SWAP") },
	{ "free_swap_slot", ROLE, FREE, TAKES, SPIN, UNTIL(6, 13), NEEDS("SWAP") },
	{ "put_swap_folio", ROLE, FREE, TAKES, SPIN, FROM(6, 1), NEEDS("SWAP") },
	{ "__swap_duplicate", ROLE, NONE, TAKES, SPIN, NEEDS("SWAP") },
	{ "swp_swapcount", ROLE, NONE, TAKES, SPIN, NEEDS("SWAP") },
	{ "add_to_swap_cache", ROLE, ALLOC, TAKES, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "delete_from_swap_cache", ROLE, FREE, TAKES, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "clear_shadow_from_swap_cache", ROLE, FREE, TAKES, SPIN, UNTIL(6, 17), NEEDS("SWAP") },
	{ "si_swapinfo", ROLE, NONE, TAKES, SPIN, NEEDS("SWAP") },
#undef ROLE
};
/* clang-format on */

const size_t role_table_functions_count = ARRAY_SIZE(role_table_functions);
