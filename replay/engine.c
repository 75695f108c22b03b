/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dispatch loop. It exists twice: the one for timing has nothing in it but
 * the operations, one store of the ordinal to the task's own cache line (so
 * that a stuck or killed task can be located), and the comparison of results.
 */

#include <asm/unistd.h>
#include <errno.h>
#include <sys/mman.h>

#include "replay/engine.h"

/* A run of touches shows its progress this often. */
#define RUN_CHUNK 65536
#define PAGE_BYTES 4096
#define HUGE_BYTES (2ULL << 20)

static inline __attribute__((always_inline)) unsigned error_of(uint64_t result)
{
	return result >= (uint64_t)-4095 ? (unsigned)-result : 0;
}

/* wrong: the call succeeded, but not as it did in the recording. */
static inline __attribute__((always_inline)) void check(struct engine *e, uint64_t head,
                                                        uint64_t result, bool wrong)
{
	if (likely(error_of(result) == plan_head_errno(head) && !wrong))
		return;
	if (!(plan_head_flags(head) & PLAN_UNCHECKED))
		engine_mismatch(e, result);
}

static inline __attribute__((always_inline)) void choose(struct engine *e, uint32_t anchor,
                                                         uint64_t result)
{
	if (error_of(result))
		return;
	__atomic_store_n(&e->bases[anchor], result, __ATOMIC_RELEASE);
}

/* Only for kinds whose index is an anchor. */
static inline __attribute__((always_inline)) uint64_t address_of(const struct engine *e,
                                                                 const uint64_t *op, uint64_t head)
{
	return e->bases[plan_head_index(head)] + op[1];
}

/*
 * mmap and munmap wait until the branches that chose them are decided. Measured on Zen 4 with
 * small mappings: without that, dozens of small functions of the kernel take 5 to 10% longer.
 * A row of jumps in the place of the fence helps as well, another place or size of the loop
 * does not, so it is what a wrong guess leaves to the kernel. madvise comes in rows that are
 * guessed well: there a fence would only cost its 2%.
 */
static inline __attribute__((always_inline)) unsigned do_mmap(struct engine *e, const uint64_t *op,
                                                              uint64_t head)
{
	uint32_t file = (uint32_t)(op[3] >> 32), anchor = plan_head_index(head);
	bool chosen = plan_head_flags(head) & PLAN_CHOOSE;
	uint64_t address = chosen ? 0 : e->bases[anchor] + op[1];
	uint64_t fd = file ? engine_state()->file_fd + file - 1 : (uint64_t)-1;
	uint64_t result;

	arch_settle_branches();
	result = raw_call6(__NR_mmap, address, op[2], plan_head_small(head), (uint32_t)op[3], fd,
	                   file ? op[4] : 0);
	if (chosen) {
		choose(e, anchor, result);
		e->self->placed_aligned += !file && op[2] > HUGE_BYTES - PAGE_BYTES &&
		                           !(result & (HUGE_BYTES - 1));
	}
	check(e, head, result, !chosen && !error_of(result) && result != address);
	return file ? 5 : 4;
}

static inline __attribute__((always_inline)) void do_mremap(struct engine *e, const uint64_t *op,
                                                            uint64_t head)
{
	uint32_t anchor = (uint32_t)(op[5] >> 32), flags = (uint32_t)op[5];
	bool chosen = plan_head_flags(head) & PLAN_CHOOSE;
	uint64_t from = address_of(e, op, head);
	uint64_t to = chosen ? 0 : e->bases[anchor] + op[4];
	uint64_t result = raw_call5(__NR_mremap, from, op[2], op[3], flags, to);

	if (chosen)
		choose(e, anchor, result);
	check(e, head, result, !chosen && !error_of(result) && result != to);
}

static inline __attribute__((always_inline)) void do_brk(struct engine *e, const uint64_t *op,
                                                         uint64_t head)
{
	uint64_t result = raw_call1(__NR_brk, op[1]);

	/* brk says no by returning the old break. */
	if (op[1] && result != op[1])
		result = (uint64_t)-ENOMEM;
	check(e, head, result, false);
}

static inline __attribute__((always_inline)) uint64_t do_mprotect(struct engine *e,
                                                                  const uint64_t *op, uint64_t head)
{
	unsigned small = plan_head_small(head);
	uint64_t prot = small & (PROT_READ | PROT_WRITE | PROT_EXEC);

	if (unlikely(small & 8))
		prot |= PROT_GROWSDOWN;
	if (unlikely(small & 16))
		prot |= PROT_GROWSUP;
	return raw_call3(__NR_mprotect, address_of(e, op, head), op[2], prot);
}

static _engine_ void touch_failed(struct engine *e, uint64_t head, uint64_t raised)
{
	if (raised == 7)
		e->self->sigbus++;
	else if (raised)
		e->self->segv++;
	if ((raised ? EFAULT : 0) != plan_head_errno(head) &&
	    !(plan_head_flags(head) & PLAN_UNCHECKED))
		engine_mismatch(e, raised);
}

static inline __attribute__((always_inline)) void do_touch(struct engine *e, uint64_t address,
                                                           uint64_t head)
{
	uint64_t raised;

	if (!(plan_head_small(head) & 1))
		raised = arch_touch_read(address);
	else if (likely(engine_state()->fill == FILL_ZERO))
		raised = arch_touch_write(address);
	else
		raised = engine_touch_fill(e, address);
	if (unlikely(raised || plan_head_errno(head)))
		touch_failed(e, head, raised);
}

/* Touches that store at most a zero, up to one that raises a signal; *address moves on. */
static inline __attribute__((always_inline)) uint64_t plain_run(uint64_t *address, uint64_t stride,
                                                                uint64_t end, uint64_t head)
{
	return plan_head_small(head) & 1 ? arch_touch_write_run(address, stride, end)
	                                 : arch_touch_read_run(address, stride, end);
}

/* The same when some are to fail, or do. */
static _engine_ void plain_chunk(struct engine *e, uint64_t *address, uint64_t stride, uint64_t end,
                                 uint64_t head)
{
	while (*address != end) {
		uint64_t raised = plain_run(address, stride, end, head);

		if (!raised)
			break;
		touch_failed(e, head, raised);
		*address += stride;
	}
}

/* In chunks, each counted when done. */
static _engine_ void touch_chunks(struct engine *e, uint64_t address, uint64_t stride,
                                  uint64_t left, uint64_t head)
{
	bool filled = plan_head_small(head) & 1 && engine_state()->fill != FILL_ZERO;

	while (left) {
		uint64_t chunk = left < RUN_CHUNK ? left : RUN_CHUNK;

		if (likely(!filled && !plan_head_errno(head)))
			plain_chunk(e, &address, stride, address + chunk * stride, head);
		else
			for (uint64_t i = 0; i < chunk; i++, address += stride)
				do_touch(e, address, head);
		e->self->touches += chunk;
		left -= chunk;
	}
}

/*
 * A short run that goes as it should stays in the loop: little code runs between its
 * faults and what follows them.
 */
static inline __attribute__((always_inline)) void do_touch_run(struct engine *e, const uint64_t *op,
                                                               uint64_t head)
{
	uint64_t address = address_of(e, op, head);
	uint64_t stride = (op[2] >> 32) * PAGE_BYTES;
	uint64_t count = (uint32_t)op[2], start = address;

	if (likely(count && count <= RUN_CHUNK && !plan_head_errno(head) &&
	           engine_state()->fill == FILL_ZERO)) {
		if (likely(!plain_run(&address, stride, address + count * stride, head))) {
			e->self->touches += count;
			return;
		}
		/* The one that failed, and those behind it. */
		e->self->touches += (address - start) / stride;
		count -= (address - start) / stride;
	}
	touch_chunks(e, address, stride, count, head);
}

/* What gives up the stream, or another task's: not timed as calls. Returns false at its end. */
static inline __attribute__((always_inline)) bool do_task(struct engine *e, const uint64_t *op,
                                                          uint64_t head, enum plan_kind kind,
                                                          unsigned *operands)
{
	uint32_t index = plan_head_index(head);

	switch (kind) {
	case PLAN_SPAWN:
		*operands = 1;
		check(e, head, engine_spawn(e, op[1], index), false);
		return true;
	case PLAN_WAIT_CHILD:
		*operands = 0;
		check(e, head, engine_wait_child(e, index), false);
		return true;
	case PLAN_EXEC:
		engine_exec(e, index, op + 1);
	case PLAN_REFUSED:
		*operands = 1;
		e->self->refused++;
		return true;
	case PLAN_EXIT:
		return false;
	default:
		engine_fail(e->task, FAILURE_KIND, (int)kind);
		return false;
	}
}

/* One operation with an ordinal; its words, 0 at the end of the stream. */
static inline __attribute__((always_inline)) unsigned
do_operation(struct engine *e, const uint64_t *op, uint64_t head, enum plan_kind kind)
{
	unsigned words;

	switch (kind) {
	case PLAN_TOUCH:
		do_touch(e, address_of(e, op, head), head);
		e->self->touches++;
		return 2;
	case PLAN_TOUCH_RUN:
		do_touch_run(e, op, head);
		return 3;
	case PLAN_MMAP:
		return do_mmap(e, op, head);
	case PLAN_MUNMAP:
		arch_settle_branches();
		check(e, head, raw_call2(__NR_munmap, address_of(e, op, head), op[2]), false);
		return 3;
	case PLAN_MADVISE:
		check(e, head,
		      raw_call3(__NR_madvise, address_of(e, op, head), op[2],
		                plan_head_small(head)),
		      false);
		return 3;
	case PLAN_MPROTECT:
		check(e, head, do_mprotect(e, op, head), false);
		return 3;
	case PLAN_BRK:
		do_brk(e, op, head);
		return 2;
	case PLAN_MREMAP:
		do_mremap(e, op, head);
		return 6;
	case PLAN_MLOCK:
	case PLAN_MLOCK2:
	case PLAN_MUNLOCK:
	case PLAN_MSEAL:
		check(e, head, engine_call_rare(e, op), false);
		return 3;
	case PLAN_MBIND:
	case PLAN_SHMAT:
		check(e, head, engine_call_rare(e, op), false);
		return 4;
	case PLAN_SHMDT:
		check(e, head, engine_call_rare(e, op), false);
		return 2;
	case PLAN_PRCTL:
		check(e, head, engine_call_rare(e, op), false);
		return 5;
	default:
		return do_task(e, op, head, kind, &words) ? words + 1 : 0;
	}
}

static inline __attribute__((always_inline)) bool kind_is_timed(enum plan_kind kind)
{
	return kind >= PLAN_TOUCH && kind < PLAN_REFUSED;
}

static inline __attribute__((always_inline)) void run(struct engine *e, const bool timed)
{
	const uint64_t *op = e->op;

	for (;;) {
		uint64_t head = *op, begun = 0;
		enum plan_kind kind = plan_head_kind(head);
		unsigned words;

		if (unlikely(kind < PLAN_TOUCH)) {
			if (kind == PLAN_END)
				return;
			if (kind == PLAN_WAIT)
				engine_wait(e, (uint32_t)(head >> 8 & 0xffffff), head >> 32);
			else
				engine_sleep(e, head >> 8);
			op++;
			continue;
		}
		e->self->operations = ++e->ordinal;
		if (timed && kind_is_timed(kind))
			begun = engine_time_begin(e, kind);
		words = do_operation(e, op, head, kind);
		if (timed && kind_is_timed(kind))
			engine_time_end(e, kind, begun);
		if (unlikely(!words)) {
			e->op = op; /* PLAN_EXIT: published when the window is closed */
			return;
		}
		if (plan_head_flags(head) & PLAN_NOTIFY)
			engine_publish(e->self, e->ordinal);
		op += words;
	}
}

_engine_ void engine_run(struct engine *e)
{
	run(e, false);
}

_engine_ void engine_run_timed(struct engine *e)
{
	run(e, true);
}
