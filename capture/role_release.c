/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that let locks go which others took, and what calls those that take them, from
 * the sources of 6.1 and 6.12.
 */

#include <string.h>

#include "capture/role_release.h"
#include "common/cleanup.h"

#define UNVERIFIED .unverified = true
#define CALLER .caller = true

/* clang-format off */
static const struct role_release rows[] = {
	/* unlock_page_lruvec_irqrestore(), inlined; the lock is taken in folio_lruvec_lock…(). */
	{ "folio_batch_move_lru", "lru" },
	{ "folios_put_refs", "lru" },
	{ "release_pages", "lru" },
	{ "__page_cache_release", "lru" },
	{ "isolate_migratepages_block", "lru", UNVERIFIED },
	{ "__folio_batch_add_and_move", "lru", CALLER },
	{ "folio_add_lru", "lru", CALLER },
	{ "folio_batch_add_and_move", "lru", CALLER },
	{ "lru_add_drain_cpu", "lru", CALLER },
	{ "free_pages_and_swap_cache", "lru", CALLER },
	{ "__folio_put", "lru", CALLER, UNVERIFIED },
	/* Calls folio_lruvec_lock_irqsave(). */
	{ "folio_lruvec_relock_irqsave", "lru", CALLER },
	/* Calls __pud_alloc(). */
	{ "pud_alloc", "page-table", CALLER },
	/* What calls get_page_from_freelist() and rmqueue_bulk(). */
	{ "__alloc_pages", "zone-alloc", CALLER },
	{ "__alloc_pages_noprof", "zone-alloc", CALLER },
	{ "__alloc_frozen_pages_noprof", "zone-alloc", CALLER, UNVERIFIED },
	/* What calls free_pcppages_bulk(). */
	{ "free_unref_page_commit", "zone-free", CALLER },
	{ "drain_pages_zone", "zone-free", CALLER },
	{ "drain_zone_pages", "zone-free", CALLER, UNVERIFIED },
	/* What calls slob_alloc(), slob_free() and, since 6.12, __slab_free(). */
	{ "slob_alloc_node", "slab", ROLE_SIDE_ALLOC, CALLER },
	{ "slab_free", "slab", ROLE_SIDE_FREE, CALLER },
	{ "__kmem_cache_free", "slab", ROLE_SIDE_FREE, CALLER },
	{ "__kmem_cache_free_bulk", "slab", ROLE_SIDE_FREE, CALLER },
	/* What calls deferred_split_folio() or takes a folio off the queue. */
	{ "do_huge_pmd_anonymous_page", "deferred-split", ROLE_SIDE_ALLOC, CALLER },
	{ "__do_huge_pmd_anonymous_page", "deferred-split", ROLE_SIDE_ALLOC, CALLER },
	{ "map_anon_folio_pmd", "deferred-split", ROLE_SIDE_ALLOC, CALLER, UNVERIFIED },
	{ "page_remove_rmap", "deferred-split", ROLE_SIDE_UNMAP, CALLER },
	{ "folio_remove_rmap_pmd", "deferred-split", ROLE_SIDE_UNMAP, CALLER },
	{ "folio_remove_rmap_ptes", "deferred-split", ROLE_SIDE_UNMAP, CALLER },
	{ "uncharge_folio", "deferred-split", ROLE_SIDE_FREE, CALLER },
	{ "destroy_large_folio", "deferred-split", ROLE_SIDE_FREE, CALLER },
	{ "__put_compound_page", "deferred-split", ROLE_SIDE_FREE, CALLER },
};
/* clang-format on */

static bool lets_go(const char *function)
{
	return strstr(function, "spin_unlock") && role_is_lock_code(function);
}

/* Of the first function that is not lock code. */
static const struct role_release *find_row(const char *const *functions, size_t count)
{
	size_t i = 0, length;

	while (i < count && role_is_lock_code(functions[i]))
		i++;
	if (i == count)
		return NULL;
	length = strcspn(functions[i], ".");
	for (size_t k = 0; k < ARRAY_SIZE(rows); k++)
		if (!strncmp(rows[k].function, functions[i], length) && !rows[k].function[length])
			return &rows[k];
	return NULL;
}

const struct role_release *role_of_release(const char *const *functions, size_t count)
{
	return count && lets_go(functions[0]) ? find_row(functions, count) : NULL;
}

const struct role_release *role_of_lost_caller(const char *const *functions, size_t count)
{
	return count && role_is_lock_code(functions[0]) ? find_row(functions, count) : NULL;
}
