/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * By whom a lock was reached. The innermost function that is known decides: it is
 * the nearest, and histograms of the kernel keep sixteen frames only. Reclaim
 * inside a fault is reclaim.
 */

#include <fnmatch.h>
#include <string.h>

#include "capture/roles.h"
#include "common/cleanup.h"

static const struct {
	const char *pattern; /* of fnmatch(), on names without compiler suffixes */
	const char *path;
} paths[] = {
	{ "shrink_node*", "reclaim" },
	{ "shrink_lruvec", "reclaim" },
	{ "shrink_slab*", "reclaim" },
	{ "do_shrink_slab", "reclaim" },
	{ "shrink_*_list", "reclaim" },
	{ "evict_folios", "reclaim" },
	{ "try_to_free_*pages", "reclaim" },
	{ "balance_pgdat", "reclaim" },
	{ "kswapd", "reclaim" },
	{ "compact_zone*", "compaction" },
	{ "kcompactd*", "compaction" },
	{ "migrate_pages*", "migration" },
	{ "*collapse_*", "collapse" },
	{ "khugepaged*", "collapse" },
	{ "exit_mmap", "exit" },
	{ "mmput", "exit" },
	{ "do_exit", "exit" },
	{ "*madvise*", "madvise" },
	{ "*_munmap*", "munmap" },
	{ "*_sys_munmap", "munmap" },
	{ "do_vmi_unmap*", "munmap" },
	{ "unmap_region", "munmap" },
	{ "vms_*", "munmap" },
	{ "*mremap*", "mremap" },
	{ "move_page_tables", "mremap" },
	{ "move_vma", "mremap" },
	{ "*mprotect*", "mprotect" },
	{ "*_sys_brk", "brk" },
	{ "do_brk_flags", "brk" },
	{ "dup_mm*", "fork" },
	{ "copy_process", "fork" },
	{ "bprm_*", "exec" },
	{ "begin_new_exec", "exec" },
	{ "load_elf_binary", "exec" },
	{ "do_mmap", "mmap" },
	{ "vm_mmap_pgoff", "mmap" },
	{ "*_mlock*", "mlock" },
	{ "__mm_populate", "populate" },
	{ "*handle_mm_fault", "fault" },
	{ "do_user_addr_fault", "fault" },
	{ "exc_page_fault", "fault" },
	{ "*_swapoff", "swapoff" },
	{ "lru_add_drain_*cpu", "drain" },
	{ "handle_softirqs", "softirq" },
	{ "__do_softirq", "softirq" },
	{ "process_one_work", "workqueue" },
	{ "filemap_*", "file" },
	{ "vfs_*", "file" },
	{ "truncate_*", "file" },
};

static const char *path_of(const char *function)
{
	char name[128];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(function, "."), function);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		if (!fnmatch(paths[i].pattern, name, 0))
			return paths[i].path;
	return NULL;
}

const char *role_path_of_stack(const char *const *functions, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *path = path_of(functions[i]);

		if (path)
			return path;
	}
	return "other";
}
