/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words of operations: how many there are, and what they say in text. */

#include <inttypes.h>
#include <stdio.h>

#include "replay/compile.h"

/* What each kind looks like: operand words, and how they are shown. */
static const struct kind_row {
	const char *name;
	uint8_t operands;
	uint8_t shown; /* operand words printed as numbers, after the address */
} rows[PLAN_KIND_COUNT] = {
	[PLAN_END] = { "end", 0, 0 },
	[PLAN_WAIT] = { "wait", 0, 0 },
	[PLAN_TIME] = { "time", 0, 0 },
	[PLAN_TOUCH] = { "touch", 1, 1 },
	[PLAN_TOUCH_RUN] = { "touch run", 2, 2 },
	[PLAN_MMAP] = { "mmap", 3, 2 },
	[PLAN_MUNMAP] = { "munmap", 2, 2 },
	[PLAN_MREMAP] = { "mremap", 5, 5 },
	[PLAN_MADVISE] = { "madvise", 2, 2 },
	[PLAN_MPROTECT] = { "mprotect", 2, 2 },
	[PLAN_BRK] = { "brk", 1, 1 },
	[PLAN_MLOCK] = { "mlock", 2, 2 },
	[PLAN_MLOCK2] = { "mlock2", 2, 2 },
	[PLAN_MUNLOCK] = { "munlock", 2, 2 },
	[PLAN_MBIND] = { "mbind", 3, 2 },
	[PLAN_SHMAT] = { "shmat", 3, 2 },
	[PLAN_SHMDT] = { "shmdt", 1, 1 },
	[PLAN_MSEAL] = { "mseal", 2, 2 },
	[PLAN_PRCTL] = { "prctl", 4, 4 },
	[PLAN_REFUSED] = { "refused", 1, 0 },
	[PLAN_SPAWN] = { "clone", 1, 1 },
	[PLAN_EXEC] = { "exec", 0, 0 },
	[PLAN_EXIT] = { "exit", 0, 0 },
	[PLAN_WAIT_CHILD] = { "wait4", 0, 0 },
};

unsigned plan_operands(const uint64_t *op)
{
	enum plan_kind kind = plan_head_kind(*op);

	if (kind >= PLAN_KIND_COUNT)
		return 0;
	return rows[kind].operands + (kind == PLAN_MMAP && op[3] >> 32 ? 1u : 0u);
}

const char *plan_kind_name(enum plan_kind kind)
{
	return kind < PLAN_KIND_COUNT ? rows[kind].name : "unknown";
}

const uint64_t *plan_find(const struct plan *plan, uint32_t task, uint64_t ordinal)
{
	const struct plan_task *row =
		(const struct plan_task *)plan_at(plan, plan->header->tasks) + task;
	const uint64_t *word, *end;
	uint64_t at = 0;

	if (task >= plan->header->task_count)
		return NULL;
	word = plan_at(plan, row->words);
	end = word + row->word_count;
	for (; word < end; word += 1 + plan_operands(word)) {
		if (plan_head_kind(*word) < PLAN_TOUCH)
			continue;
		if (++at == ordinal)
			return word;
	}
	return NULL;
}

static unsigned shown(uint64_t head)
{
	enum plan_kind kind = plan_head_kind(head);

	return kind < PLAN_KIND_COUNT ? rows[kind].shown : 0;
}

static int append(char *out, size_t size, int at, const char *fmt, uint64_t value)
{
	if (at < 0 || (size_t)at >= size)
		return at;
		/* fmt is one of the constants below. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	return at + snprintf(out + at, size - (size_t)at, fmt, value);
#pragma GCC diagnostic pop
}

void plan_describe(const struct plan *plan, uint32_t task, uint64_t ordinal, char *out, size_t size)
{
	const struct plan_task *row;
	const uint64_t *op;
	int at;

	if (task >= plan->header->task_count) {
		snprintf(out, size, "task number %u", task);
		return;
	}
	row = (const struct plan_task *)plan_at(plan, plan->header->tasks) + task;
	op = plan_find(plan, task, ordinal);
	if (!op) {
		snprintf(out, size, "task %u, before its first operation", row->recorded_id);
		return;
	}
	at = snprintf(out, size, "task %u, operation %" PRIu64 ": %s(", row->recorded_id, ordinal,
	              plan_kind_name(plan_head_kind(*op)));
	for (unsigned i = 0; i < shown(*op); i++)
		at = append(out, size, at, i ? ", 0x%" PRIx64 : "0x%" PRIx64, op[1 + i]);
	if (plan_head_small(*op))
		at = append(out, size, at, "; %" PRIu64, plan_head_small(*op));
	append(out, size, at, ")", 0);
}
