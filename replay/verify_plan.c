/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of operations from a plan. */

#include <string.h>
#include <sys/mman.h>

#include "common/bytes.h"
#include "replay/verify.h"

/* The recorded call that a kind of operation stands for; CALL_COUNT: none. */
static enum call plan_call(const uint64_t *op)
{
	static const uint8_t calls[PLAN_KIND_COUNT] = {
		[PLAN_MMAP] = CALL_MMAP + 1,         [PLAN_MUNMAP] = CALL_MUNMAP + 1,
		[PLAN_MREMAP] = CALL_MREMAP + 1,     [PLAN_MADVISE] = CALL_MADVISE + 1,
		[PLAN_MPROTECT] = CALL_MPROTECT + 1, [PLAN_BRK] = CALL_BRK + 1,
		[PLAN_MLOCK] = CALL_MLOCK + 1,       [PLAN_MLOCK2] = CALL_MLOCK2 + 1,
		[PLAN_MUNLOCK] = CALL_MUNLOCK + 1,   [PLAN_MBIND] = CALL_MBIND + 1,
		[PLAN_SHMAT] = CALL_SHMAT + 1,       [PLAN_SHMDT] = CALL_SHMDT + 1,
		[PLAN_MSEAL] = CALL_MSEAL + 1,       [PLAN_PRCTL] = CALL_PRCTL + 1,
	};
	enum plan_kind kind = plan_head_kind(op[0]);

	if (kind == PLAN_REFUSED)
		return (enum call)op[1];
	return kind < PLAN_KIND_COUNT && calls[kind] ? (enum call)(calls[kind] - 1) : CALL_COUNT;
}

static uint8_t plan_prot(unsigned small)
{
	return (uint8_t)(small & (PROT_READ | PROT_WRITE | PROT_EXEC));
}

static void plan_op_mmap(const uint64_t *op, struct verify_op *out)
{
	uint32_t flags = (uint32_t)op[3];

	out->length = op[2];
	out->prot = plan_prot(plan_head_small(op[0]));
	out->file = !(flags & MAP_ANONYMOUS);
	out->flags = flags & ~VERIFY_MMAP_IGNORED;
	if (!(plan_head_flags(op[0]) & PLAN_CHOOSE) && !out->error)
		out->alignment = op[1] & VERIFY_ALIGNMENT_MASK;
}

/* Lengths and flags; the call and the errno are set already. */
static void plan_op_operands(const uint64_t *op, const struct plan_space *space,
                             struct verify_op *out)
{
	switch (plan_head_kind(op[0])) {
	case PLAN_MMAP:
		plan_op_mmap(op, out);
		break;
	case PLAN_MREMAP:
		out->length = op[2];
		out->new_length = op[3];
		out->flags = (uint32_t)op[5] & ~(uint32_t)MREMAP_FIXED;
		break;
	case PLAN_MPROTECT:
		out->length = op[2];
		out->prot = plan_prot(plan_head_small(op[0]));
		break;
	case PLAN_BRK:
		out->length = op[1] && space ? op[1] - space->brk : 0;
		if (op[1] && space && op[1] < space->brk)
			out->length = VERIFY_BELOW;
		out->new_length = VERIFY_NO_LENGTH;
		out->error = 0;
		break;
	case PLAN_MBIND:
		out->length = op[2];
		out->flags = (uint32_t)op[3];
		break;
	case PLAN_PRCTL:
		out->flags = (uint32_t)op[1];
		out->length = op[1] == 0x53564d41 ? op[4] : 0;
		break;
	case PLAN_SHMAT:
	case PLAN_SHMDT:
	case PLAN_REFUSED:
		break;
	default:
		out->length = op[2];
		out->flags = plan_head_small(op[0]);
		break;
	}
}

static int plan_list_add(struct verify_list *list, const struct verify_op *op, bool merged)
{
	if (!merged)
		return verify_list_add(list, op);
	if (op->assumed)
		return 0;
	if (op->piece && list->count) {
		list->ops[list->count - 1].length += op->length;
		return 0;
	}
	return verify_list_add(list, op);
}

static int plan_task_list(struct verify_list *list, const struct plan *plan,
                          const struct plan_task *task, bool merged)
{
	const struct plan_space *spaces = plan_at(plan, plan->header->spaces);
	const uint64_t *op = plan_at(plan, task->words), *end = op + task->word_count;
	uint32_t space = task->space;
	uint64_t ordinal = 0;
	int r = 0;

	list->id = task->recorded_id;
	for (; op < end && r >= 0 && plan_head_kind(*op) != PLAN_END; op += 1 + plan_operands(op)) {
		unsigned flags = plan_head_flags(*op);
		enum plan_kind kind = plan_head_kind(*op);
		struct verify_op out = { .call = (uint16_t)plan_call(op),
			                 .alignment = VERIFY_NO_ALIGNMENT,
			                 .error = (uint8_t)plan_head_errno(*op) };

		if (kind == PLAN_WAIT || kind == PLAN_TIME)
			continue;
		out.number = ++ordinal;
		if (kind == PLAN_EXEC)
			space = plan_head_index(*op);
		if (out.call >= CALL_COUNT)
			continue;
		out.assumed = !!(flags & PLAN_ASSUMED);
		out.piece = !!(flags & PLAN_CONT);
		out.unchecked = !!(flags & PLAN_UNCHECKED);
		out.refused = kind == PLAN_REFUSED;
		plan_op_operands(op, space < plan->header->space_count ? &spaces[space] : NULL,
		                 &out);
		r = plan_list_add(list, &out, merged);
	}
	return r;
}

int verify_from_plan(struct verify_lists *out, const struct plan *plan, bool merged)
{
	const struct plan_task *tasks = plan_at(plan, plan->header->tasks);
	uint32_t count = plan->header->task_count;
	int r = count ? verify_lists_grow(out, count - 1) : 0;

	for (uint32_t i = 0; i < count && r >= 0; i++)
		r = plan_task_list(&out->tasks[i], plan, &tasks[i], merged);
	return r;
}
