/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Static checks of a plan; the simulation is in plan_simulate.c. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "common/bytes.h"
#include "replay/plan_check_core.h"

int plan_wrong(struct plan_checker *k, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(k->why, k->why_size, fmt, args);
	va_end(args);
	return -EINVAL;
}

static bool table_fits(const struct plan_checker *k, uint64_t at, uint64_t count, uint64_t size)
{
	uint64_t bytes, end;

	return at % 8 == 0 && mul_fits(count, size, &bytes) && add_fits(at, bytes, &end) &&
	       end <= k->header->bytes;
}

static int check_tables(struct plan_checker *k)
{
	const struct plan_header *h = k->header;

	if (h->magic != PLAN_MAGIC)
		return plan_wrong(k, "no plan");
	if (!table_fits(k, h->tasks, h->task_count, sizeof(struct plan_task)) ||
	    !table_fits(k, h->spaces, h->space_count, sizeof(struct plan_space)) ||
	    !table_fits(k, h->files, h->file_count, sizeof(struct plan_file)))
		return plan_wrong(k, "a table reaches beyond the plan");
	if (h->root_count > h->task_count || !h->root_count)
		return plan_wrong(k, "%u roots of %u tasks", h->root_count, h->task_count);
	k->tasks = plan_at(k->plan, h->tasks);
	k->spaces = plan_at(k->plan, h->spaces);
	return 0;
}

static bool in_window(uint64_t start, uint64_t length)
{
	uint64_t end;

	return start >= CLUSTER_BASE && add_fits(start, length, &end) && end <= CLUSTER_END;
}

static int check_space(struct plan_checker *k, uint32_t number)
{
	const struct plan_space *s = &k->spaces[number];
	const struct plan_map *maps;
	uint64_t last = 0;

	if (!table_fits(k, s->maps, s->map_count, sizeof(struct plan_map)) ||
	    s->task >= k->header->task_count)
		return plan_wrong(k, "space %u: maps or task out of bounds", number);
	if (s->brk_start && (!in_window(s->brk_start, 0) || s->brk < s->brk_start))
		return plan_wrong(k, "space %u: heap outside the window", number);
	maps = plan_at(k->plan, s->maps);
	for (uint32_t i = 0; i < s->map_count; i++) {
		const struct plan_map *m = &maps[i];

		if (!in_window(m->address, m->length) || !m->length ||
		    m->file > k->header->file_count || m->anchor >= k->header->anchor_count)
			return plan_wrong(k, "space %u: map %u out of bounds", number, i);
		if (m->address < last)
			return plan_wrong(k, "space %u: map %u overlaps the one before", number, i);
		last = m->address + m->length;
	}
	return 0;
}

static int check_files(struct plan_checker *k)
{
	const struct plan_file *files = plan_at(k->plan, k->header->files);

	for (uint32_t i = 0; i < k->header->file_count; i++) {
		const struct plan_file *f = &files[i];

		if (f->size % k->header->page_size ||
		    !table_fits(k, f->windows, f->window_count, sizeof(uint64_t)))
			return plan_wrong(k, "file %u: size or windows out of bounds", i + 1);
	}
	return 0;
}

/* Length of the range that the kernel will look at, 0 where it refuses before that. */
static uint64_t length_of(const uint64_t *op, uint32_t page)
{
	switch (plan_head_kind(*op)) {
	case PLAN_TOUCH:
		return 1;
	case PLAN_TOUCH_RUN:
		return ((uint32_t)op[2] - 1) * (op[2] >> 32) * page + 1;
	case PLAN_MUNMAP:
	case PLAN_MMAP:
	case PLAN_MADVISE:
	case PLAN_MPROTECT:
	case PLAN_MLOCK:
	case PLAN_MLOCK2:
	case PLAN_MUNLOCK:
	case PLAN_MBIND:
	case PLAN_MSEAL:
	case PLAN_SHMAT:
	case PLAN_MREMAP:
		return op[2];
	default:
		return 0;
	}
}

static bool has_address(const uint64_t *op)
{
	enum plan_kind kind = plan_head_kind(*op);

	if (plan_head_flags(*op) & PLAN_CHOOSE && kind != PLAN_MREMAP)
		return false;
	if (kind == PLAN_PRCTL)
		return false;
	return kind >= PLAN_TOUCH && kind <= PLAN_MSEAL && (kind != PLAN_BRK || op[1]);
}

static int check_address(struct plan_checker *k, uint32_t task, const uint64_t *op)
{
	uint32_t anchor = plan_head_index(*op);
	uint64_t length = length_of(op, k->header->page_size);

	if (plan_head_kind(*op) <= PLAN_PRCTL && anchor >= k->header->anchor_count)
		return plan_wrong(k, "task %u: anchor %u does not exist", task, anchor);
	if (!has_address(op))
		return 0;
	if (plan_head_errno(*op) && (length == 0 || length >= 1ULL << 47 || op[1] & 4095))
		length = 0; /* fails before any range is looked at */
	if (anchor ? op[1] > CLUSTER_END || length > CLUSTER_END : !in_window(op[1], length))
		return plan_wrong(k, "task %u: %s at 0x%" PRIx64 " leaves the window", task,
		                  plan_kind_name(plan_head_kind(*op)), op[1]);
	if (plan_head_kind(*op) != PLAN_MREMAP || plan_head_errno(*op))
		return 0;
	anchor = (uint32_t)(op[5] >> 32);
	if (anchor >= k->header->anchor_count ||
	    (!(plan_head_flags(*op) & PLAN_CHOOSE) && !anchor && !in_window(op[4], op[3])))
		return plan_wrong(k, "task %u: mremap goes outside", task);
	return 0;
}

static int check_index(struct plan_checker *k, uint32_t task, const uint64_t *op)
{
	const struct plan_header *h = k->header;
	uint32_t index = plan_head_index(*op);

	switch (plan_head_kind(*op)) {
	case PLAN_SPAWN:
	case PLAN_WAIT_CHILD:
		if (index >= h->task_count)
			return plan_wrong(k, "task %u: child %u does not exist", task, index);
		if (plan_head_kind(*op) == PLAN_SPAWN && k->tasks[index].parent != task)
			return plan_wrong(k, "task %u spawns %u, which is not its child", task,
			                  index);
		return 0;
	case PLAN_EXEC:
		return index < h->space_count
		               ? 0
		               : plan_wrong(k, "task %u: no space %u to exec", task, index);
	case PLAN_MMAP:
		return op[3] >> 32 <= h->file_count ? check_address(k, task, op)
		                                    : plan_wrong(k, "task %u: no such file", task);
	case PLAN_SHMAT:
		return op[3] < h->segment_count ? check_address(k, task, op)
		                                : plan_wrong(k, "task %u: no such segment", task);
	default:
		return check_address(k, task, op);
	}
}

static int check_stream(struct plan_checker *k, uint32_t number)
{
	const struct plan_task *t = &k->tasks[number];
	const uint64_t *words = plan_at(k->plan, t->words);
	uint64_t ordinal = 0, at = 0;

	if (!table_fits(k, t->words, t->word_count, 8) || !t->word_count)
		return plan_wrong(k, "task %u: its stream is out of bounds", number);
	if ((t->parent == PLAN_NONE) != (number < k->header->root_count) ||
	    (t->parent != PLAN_NONE && t->parent >= k->header->task_count) ||
	    t->space >= k->header->space_count || t->process >= k->header->task_count)
		return plan_wrong(k, "task %u: parent, process or space out of bounds", number);
	while (at < t->word_count && plan_head_kind(words[at]) != PLAN_END) {
		enum plan_kind kind = plan_head_kind(words[at]);
		int r;

		if (kind >= PLAN_KIND_COUNT || (kind == PLAN_MMAP && at + 3 >= t->word_count) ||
		    at + plan_operands(&words[at]) >= t->word_count)
			return plan_wrong(k, "task %u: its stream breaks off", number);
		r = kind >= PLAN_TOUCH ? check_index(k, number, &words[at]) : 0;
		if (r < 0)
			return r;
		ordinal += kind >= PLAN_TOUCH;
		at += 1 + plan_operands(&words[at]);
	}
	if (at + 1 != t->word_count || ordinal != t->operations)
		return plan_wrong(k, "task %u: %" PRIu64 " operations, its row says %" PRIu64,
		                  number, ordinal, t->operations);
	return 0;
}

int plan_check(const struct plan *plan, char *why, size_t size)
{
	struct plan_checker k = { plan, plan->header, NULL, NULL, why, size };
	int r = check_tables(&k);

	for (uint32_t i = 0; r >= 0 && i < k.header->space_count; i++)
		r = check_space(&k, i);
	if (r >= 0)
		r = check_files(&k);
	for (uint32_t i = 0; r >= 0 && i < k.header->task_count; i++)
		r = check_stream(&k, i);
	return r < 0 ? r : plan_simulate(&k);
}
