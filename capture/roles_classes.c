/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lock classes of /proc/lock_stat by role. The kernel cuts names at 37 characters
 * (39 without subclass), so a class that is named by a long expression is known
 * by its beginning. Names are how the lock is spelled where it is initialised.
 */

#include "capture/roles_table.h"
#include "common/cleanup.h"

#define K ROLE_KERNEL

const struct role_class role_table_classes[] = {
	/* Of a memory control group (a per-CPU expression since 5.17), and of a node. */
	{ "*deferred_split_queue.split_qu*", "deferred-split" },
	{ "&ds_queue->split_queue_lock", "deferred-split" },
	{ "&(&pgdat->deferred_split_queue)*", "deferred-split", .unverified = true },
	/* The list_lru of 2026 shares the class of all list_lrus: no role by class there. */
	{ "&lruvec->lru_lock", "lru" },
	{ "&mm_list->lock", "lru-gen" },
	{ "&memcg->mm_list.lock", "lru-gen", .until = K(6, 7) },
	{ "&pgdat->memcg_lru.lock", "lru-gen" },
	/* One class for both sides; told apart by the function that took it only. */
	{ "&zone->lock", "zone" },
	{ "&pcp->lock", "pcp" },
	{ "&mm->mmap_lock", "mmap-lock" },
	{ "&vma->vm_lock->lock", "vma-lock" },
	{ "vma_lock", "vma-lock", .from = K(6, 15), .unverified = true },
	{ "&anon_vma->rwsem", "anon-vma" },
	{ "&mapping->i_mmap_rwsem", "i-mmap" },
	{ "ptlock_ptr(*", "page-table" },
	{ "&mm->page_table_lock", "page-table" },
	{ "init_mm.page_table_lock", "page-table" },
	{ "pgd_lock", "page-table" },
	{ "cgroup_rstat_lock", "memcg" },
	{ "per_cpu_ptr(&cgroup_rstat_cpu_lock*", "memcg" },
	{ "&memcg->move_lock", "memcg", .unverified = true },
	{ "objcg_lock", "memcg", .unverified = true },
	{ "slob_lock", "slab", .until = K(6, 3) },
	{ "&n->list_lock", "slab" },
	{ "&barn->lock", "slab", .from = K(6, 18), .unverified = true },
	{ "&p->lock", "swap", .unverified = true },
	{ "swap_lock", "swap", .unverified = true },
	{ "swap_avail_lock", "swap", .unverified = true },
	{ "&ci->lock", "swap", .unverified = true },
	{ "&((cluster_info + ci)->lock)", "swap", .unverified = true },

	/* What is not memory management, with the roles of roles_other.c. */
	{ "key", "counters" },
	{ "&rq->__lock", "sched" },
	{ "&p->pi_lock", "sched" },
	{ "&p->alloc_lock", "tasks" },
	{ "&rt_b->rt_runtime_lock", "sched" },
	{ "&rt_rq->rt_runtime_lock", "sched" },
	{ "&dl_b->lock", "sched" },
	{ "&cfs_rq->removed.lock", "sched" },
	{ "&x->wait", "sched" },
	{ "&*wait", "sched" },
	{ "&*_wait_*", "sched" },
	{ "&*_wq*", "sched" },
	{ "&stopper->lock", "sched" },
	{ "&sem->wait_lock", "sched" },
	{ "&pool->lock", "workqueue" },
	{ "wq_*", "workqueue" },
	{ "hrtimer_bases.lock", "time" },
	{ "&base->lock", "time" },
	{ "*timekeeper_lock", "time" },
	{ "&tk_core.lock", "time" },
	{ "jiffies_lock", "time" },
	{ "*clock*_lock", "time" },
	{ "tick_broadcast_lock", "time" },
	{ "rcu_node_*", "rcu" },
	{ "&rcu_state*", "rcu" },
	{ "*krc.lock*", "rcu" },
	{ "&sighand->siglock", "tasks" },
	{ "&sig->*", "tasks" },
	{ "&newf->file_lock", "tasks" },
	{ "tasklist_lock", "tasks" },
	{ "pidmap_lock", "tasks" },
	{ "css_set_lock", "tasks" },
	{ "*cgroup*rwsem", "tasks" },
	{ "&signal->*", "tasks" },
	{ "&fs->lock", "vfs" },
	{ "&dentry->d_lock", "vfs" },
	{ "*i_lock_key*", "vfs" },
	{ "*i_mutex*_key*", "vfs" },
	{ "&lockref->lock", "vfs" },
	{ "&f->f_lock", "vfs" },
	{ "&f->f_pos_lock", "vfs" },
	{ "mount_lock", "vfs" },
	{ "&xa->lock", "page-cache" },
	{ "&pipe->*", "vfs" },
	{ "&port_lock_key", "console" },
	{ "&port->*", "console" },
	{ "&tty->*", "console" },
	{ "&ldata->*", "console" },
	{ "*console*", "console" },
	{ "&irq_desc_lock_class", "irq" },
	{ "*irq_desc*lock*", "irq" },
	{ "*vmap*lock", "vmalloc" },
	{ "&vn->*", "vmalloc" },
	{ "purge_vmap*", "vmalloc" },
	{ "input_pool.lock", "other" },
	{ "*crng*lock", "other" },
	{ "batched_entropy*", "other" },
};

const size_t role_table_classes_count = ARRAY_SIZE(role_table_classes);
