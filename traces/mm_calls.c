/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the recorded calls do to the memory of a space. */

#include <linux/mman.h>
#include <sys/mman.h>

#include "common/bytes.h"
#include "traces/mm.h"

static int call_mmap(struct mm *mm, const struct paired_call *c)
{
	const uint32_t flags = (uint32_t)c->arg[3];
	struct region r = {
		.start = c->result,
		.offset = c->arg[5],
		.file = flags & MAP_ANONYMOUS ? 0 : (uint32_t)c->cookie,
		.prot = (uint32_t)c->arg[2],
		.map_flags = flags,
		.locked = flags & MAP_LOCKED,
	};

	if (!add_fits(c->result, c->arg[1], &r.end))
		return 0;
	return mm_map(mm, &r, flags & MAP_POPULATE && !(flags & MAP_NONBLOCK));
}

static int call_madvise(struct mm *mm, const struct paired_call *c)
{
	/* Over holes the call fails, having done its work on what is mapped. */
	if (result_is_error(c->result) && c->result != (uint64_t)-ENOMEM)
		return 0;
	switch (c->arg[2]) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_REMOVE:
		return mm_discard(mm, c->arg[0], c->arg[1]);
	case MADV_HUGEPAGE:
	case MADV_NOHUGEPAGE:
		return mm_set_huge(mm, c->arg[0], c->arg[1], c->arg[2] == MADV_HUGEPAGE);
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
	case MADV_COLLAPSE:
		return mm_populate(mm, c->arg[0], c->arg[1]);
	default:
		return 0;
	}
}

static int call_mlockall(struct mm *mm, uint64_t flags)
{
	const bool populate = !(flags & MCL_ONFAULT);

	mm->lock_future = flags & MCL_FUTURE && populate;
	return flags & MCL_CURRENT ? mm_lock(mm, 0, UINT64_MAX, populate) : 0;
}

static int call_shm(struct mm *mm, const struct paired_call *c)
{
	const uint64_t *size;
	const struct region *found;
	struct region r = { .start = c->result,
		            .map_flags = MAP_SHARED,
		            .prot = PROT_READ | PROT_WRITE };

	if (c->call == CALL_SHMGET)
		return map_set(&mm->context->segments, c->result, c->arg[1]);
	if (c->call == CALL_SHMAT) {
		size = map_find(&mm->context->segments, c->arg[0] & UINT32_MAX);
		if (!size || !add_fits(c->result, *size, &r.end))
			return 0;
		return mm_map(mm, &r, false);
	}
	found = space_find(mm->space, c->arg[0]);
	if (!found || found->start != c->arg[0])
		return 0;
	return mm_unmap(mm, found->start, found->end - found->start);
}

int mm_call(struct mm *mm, const struct paired_call *c)
{
	if (c->call == CALL_MADVISE)
		return call_madvise(mm, c);
	if (result_is_error(c->result))
		return 0;
	switch (c->call) {
	case CALL_MMAP:
		return call_mmap(mm, c);
	case CALL_MUNMAP:
		return mm_unmap(mm, c->arg[0], c->arg[1]);
	case CALL_MREMAP:
		return mm_move(mm, c->arg[0], c->arg[1], c->result, c->arg[2],
		               c->arg[3] & MREMAP_DONTUNMAP);
	case CALL_MPROTECT:
	case CALL_PKEY_MPROTECT:
		return mm_protect(mm, c->arg[0], c->arg[1], (uint32_t)c->arg[2]);
	case CALL_BRK:
		return mm_set_brk(mm, c->result);
	case CALL_MLOCK:
		return mm_lock(mm, c->arg[0], c->arg[1], true);
	case CALL_MLOCK2:
		return mm_lock(mm, c->arg[0], c->arg[1], !(c->arg[2] & MLOCK_ONFAULT));
	case CALL_MUNLOCK:
		return mm_unlock(mm, c->arg[0], c->arg[1]);
	case CALL_MLOCKALL:
		return call_mlockall(mm, c->arg[0]);
	case CALL_MUNLOCKALL:
		mm->lock_future = false;
		return mm_unlock(mm, 0, UINT64_MAX);
	case CALL_SHMGET:
	case CALL_SHMAT:
	case CALL_SHMDT:
		return call_shm(mm, c);
	default:
		return 0;
	}
}
