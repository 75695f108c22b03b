/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of calls: how each that returned becomes operations. */

#include <sys/prctl.h>

#include "replay/compile_core.h"

#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#define PR_GET_MEMORY_MERGE 68
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif

/* Only what concerns memory. The name behind PR_SET_VMA's pointer is not known: it is cleared. */
int call_prctl(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	uint64_t option = call->arg[0];
	uint64_t operands[4] = { option, call->arg[1], 0, 0 };
	unsigned error = result_is_error(call->result) ? (unsigned)-call->result : 0;
	struct access access = { 0, 0, ACCESS_USE };
	struct piece p = { 0 };
	int r;

	if (option == PR_SET_VMA) {
		access.start = call->arg[2];
		access.end = call->arg[2] + page_up(c, call->arg[3]);
		if (call->arg[1] != PR_SET_VMA_ANON_NAME || error || access.start >= access.end ||
		    access.end > USER_END || !place_whole(c, sp, access.start, access.end, &p))
			return refuse_call(c, t, sp, call);
		operands[2] = p.offset;
		operands[3] = call->arg[3];
	} else if (option != PR_SET_THP_DISABLE && option != PR_GET_THP_DISABLE &&
	           option != PR_SET_MEMORY_MERGE && option != PR_GET_MEMORY_MERGE) {
		return refuse_call(c, t, sp, call);
	}
	r = op_open(c, t, sp, call->enter, &access, 1);
	if (r >= 0)
		r = op_emit(c, t,
		            plan_head(PLAN_PRCTL, error ? PLAN_UNCHECKED : 0, error, 0, p.anchor),
		            operands, 4);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.calls[CALL_PRCTL]++;
	return r;
}

/* Memory limits of the recording: no operation, and so not replayed. */
static int note_limit(struct compile *c, struct ctask *t, struct cspace *sp,
                      const struct paired_call *call)
{
	c->counts.refused[call->call]++;
	return 0;
}

/* A segment is made with its first attachment. */
static int note_segment(struct compile *c, struct ctask *t, struct cspace *sp,
                        const struct paired_call *call)
{
	return 0;
}

static call_fn *const rows[CALL_COUNT] = {
	[CALL_MMAP] = call_mmap,
	[CALL_MUNMAP] = call_munmap,
	[CALL_MREMAP] = call_mremap,
	[CALL_MADVISE] = call_madvise,
	[CALL_PROCESS_MADVISE] = refuse_call,
	[CALL_MPROTECT] = call_mprotect,
	[CALL_PKEY_MPROTECT] = call_mprotect,
	[CALL_BRK] = call_brk,
	[CALL_MLOCK] = call_mlock,
	[CALL_MLOCK2] = call_mlock,
	[CALL_MUNLOCK] = call_mlock,
	[CALL_MLOCKALL] = call_mlockall,
	[CALL_MUNLOCKALL] = call_munlockall,
	[CALL_MBIND] = call_mbind,
	[CALL_SET_MEMPOLICY] = refuse_call,
	[CALL_SET_MEMPOLICY_HOME_NODE] = refuse_call,
	[CALL_MSEAL] = call_mseal,
	[CALL_REMAP_FILE_PAGES] = refuse_call,
	[CALL_USERFAULTFD] = refuse_call,
	[CALL_PRCTL] = call_prctl,
	[CALL_SHMGET] = note_segment,
	[CALL_SHMAT] = call_shmat,
	[CALL_SHMDT] = call_shmdt,
	[CALL_SETRLIMIT] = note_limit,
	[CALL_WAIT4] = call_wait4,
	[CALL_WAITID] = call_waitid,
};

int call_commit(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call)
{
	int r = rows[call->call](c, t, sp, call);

	if (r >= 0)
		space_account(c, sp);
	return r;
}

bool call_has_operation(unsigned call)
{
	return call < CALL_COUNT && rows[call];
}
