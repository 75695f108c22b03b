/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The calls that are rare enough not to be inlined into the loop, and mismatches. */

#include <asm/unistd.h>
#include <errno.h>
#include <linux/prctl.h>
#include <sys/ipc.h>
#include <sys/shm.h>

#include "replay/engine.h"

#ifndef __NR_mseal
#define __NR_mseal 462
#endif
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif

_engine_ void engine_mismatch(struct engine *e, uint64_t got)
{
	struct state_header *state = engine_state();
	uint32_t at = __atomic_fetch_add(&state->mismatch_next, 1, __ATOMIC_RELAXED);

	e->self->mismatches++;
	if (at >= STATE_MISMATCHES)
		return;
	state->mismatch[at].ordinal = e->ordinal;
	state->mismatch[at].got = got;
	state->mismatch[at].task = e->task;
	__atomic_store_n(&state->mismatch[at].set, 1, __ATOMIC_RELEASE);
}

/*
 * A segment is removed as soon as somebody is attached to it, so nothing
 * outlives the run; Linux lets others attach by id as long as it is attached.
 */
static _engine_ uint64_t call_shmat(const uint64_t *op)
{
	uint64_t *slot = (uint64_t *)(STATE_BASE + engine_state()->segments) + op[3];
	bool choose = plan_head_flags(op[0]) & PLAN_CHOOSE;
	uint64_t *bases = (uint64_t *)(STATE_BASE + engine_state()->anchors);
	uint32_t anchor = plan_head_index(op[0]);
	uint64_t address = choose ? 0 : bases[anchor] + op[1];
	uint64_t flags = plan_head_small(op[0]) & 1 ? SHM_RDONLY : 0;
	uint64_t id = __atomic_load_n(slot, __ATOMIC_ACQUIRE), result = (uint64_t)-EINVAL;

	/* Kept plus one, so that 0 is none. */
	if (id)
		result = raw_call3(__NR_shmat, id - 1, address, flags);
	if (result == (uint64_t)-EINVAL || result == (uint64_t)-EIDRM) {
		id = raw_call3(__NR_shmget, IPC_PRIVATE, op[2], IPC_CREAT | 0600);
		if (id >= (uint64_t)-4095)
			return id;
		result = raw_call3(__NR_shmat, id, address, flags);
		raw_call3(__NR_shmctl, id, IPC_RMID, 0);
		__atomic_store_n(slot, id + 1, __ATOMIC_RELEASE);
	}
	if (choose && result < (uint64_t)-4095)
		bases[anchor] = result;
	return result;
}

static _engine_ uint64_t call_prctl(const struct engine *e, const uint64_t *op)
{
	uint64_t third = op[3] + e->bases[plan_head_index(op[0])];

	switch (op[1]) {
	case PR_SET_THP_DISABLE:
	case PR_GET_THP_DISABLE:
	case PR_SET_MEMORY_MERGE:
	case PR_GET_MEMORY_MERGE:
		return raw_call5(__NR_prctl, op[1], op[2], op[3], op[4], 0);
	case PR_SET_VMA:
		/* The recorded name was behind a pointer; one of ours has the same effect. */
		return raw_call5(__NR_prctl, op[1], op[2], third, op[4],
		                 (uint64_t)engine_state()->name);
	}
	return (uint64_t)-EINVAL;
}

_engine_ uint64_t engine_call_rare(const struct engine *e, const uint64_t *op)
{
	/* Every kind below has an anchor for index; prctl's is that of its third argument. */
	uint64_t address = e->bases[plan_head_index(op[0])] + op[1];

	switch (plan_head_kind(op[0])) {
	case PLAN_MLOCK:
		return raw_call2(__NR_mlock, address, op[2]);
	case PLAN_MLOCK2:
		return raw_call3(__NR_mlock2, address, op[2], plan_head_small(op[0]));
	case PLAN_MUNLOCK:
		return raw_call2(__NR_munlock, address, op[2]);
	case PLAN_MBIND:
		return raw_call6(__NR_mbind, address, op[2], (uint32_t)op[3], 0, 0, op[3] >> 32);
	case PLAN_SHMAT:
		return call_shmat(op);
	case PLAN_SHMDT:
		return raw_call1(__NR_shmdt, address);
	case PLAN_MSEAL:
		return raw_call3(__NR_mseal, address, op[2], 0);
	case PLAN_PRCTL:
		return call_prctl(e, op);
	default:
		return (uint64_t)-ENOSYS;
	}
}
