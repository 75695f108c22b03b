/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries of histograms, added up by role, side and path. */

#include <string.h>

#include "capture/entries.h"
#include "capture/hist.h"
#include "capture/roles.h"
#include "common/cleanup.h"

/* Of the flags of every event (enum trace_flag_type): in a hard or soft interrupt. */
#define IN_INTERRUPT 0x18
/* The semaphore's or mutex's own spinlock, taken when somebody has to wait. */
#define INTERNAL "lock-internals"
#define MISSED_TOLERATED 0.005

/* Roles of which the way in is of interest; costs a walk of the stack for each entry. */
static const char *const stack_roles[] = { "deferred-split" };

static bool role_wants_stack(const char *role)
{
	for (size_t i = 0; i < ARRAY_SIZE(stack_roles); i++)
		if (!strcmp(stack_roles[i], role))
			return true;
	return false;
}

bool entries_wants_stack(const char *caller, uint16_t kernel)
{
	const struct role_function *row = role_of_function(caller, kernel);

	return role_is_helper(caller) || (row && role_wants_stack(row->role));
}

static int count(struct lock_figures *f, const char *role, enum role_side side, const char *path,
                 double hits)
{
	struct lock_figure *figure = lock_figures_at(f, role, side, path);

	if (!figure)
		return -ENOMEM;
	figure->acquisitions = (figure->acquisitions < 0 ? 0 : figure->acquisitions) + hits;
	return 0;
}

/* NULL: unresolved. */
static int count_role(struct entries_sum *s, const char *caller, const char *role, unsigned flags,
                      double hits)
{
	bool interrupt = flags & IN_INTERRUPT;
	int r = 0;

	s->total += hits;
	s->interrupts += interrupt ? hits : 0;
	if (!role) {
		s->unresolved += hits;
		role = "unresolved";
		r = lock_figures_unresolved(s->figures, caller, hits);
	}
	if (r >= 0)
		r = count(s->figures, role, ROLE_SIDE_NONE, NULL, hits);
	if (r >= 0 && interrupt && role_is_memory(role))
		r = count(&s->in_interrupts, role, ROLE_SIDE_NONE, NULL, hits);
	/* One lock, two roles: their sum is what lock_stat has. */
	if (r >= 0 && (!strcmp(role, "zone-alloc") || !strcmp(role, "zone-free")))
		r = count(s->figures, "zone", ROLE_SIDE_NONE, NULL, hits);
	return r;
}

static int add_caller(struct entries_sum *s, const struct hist_entry *e)
{
	const char *const stack[] = { s->point, e->caller };
	const struct role_function *row = NULL;
	const char *role;
	int r;

	if (s->stacks && role_is_helper(e->caller))
		return 0;
	role = role_name_of_stack(stack, 2, s->kernel, &row);
	if (role_is_lock_code(e->caller) && !role_is_helper(e->caller))
		role = INTERNAL;
	r = count_role(s, e->caller, role, e->flags, (double)e->hits);
	/* Sides of the others come with their stacks. */
	if (r >= 0 && row && row->side && !(s->stacks && role_wants_stack(row->role)))
		r = count(s->figures, row->role, row->side, NULL, (double)e->hits);
	return r;
}

/*
 * The stack as it was: the kernel's has frames of the probe on top, down to the function that
 * is probed, and with frame pointers it lacks the caller, whose frame that is not yet.
 */
static size_t mend_stack(const struct hist_entry *e, const char *point,
                         const char *stack[HIST_FRAMES + 2])
{
	size_t from = 0, count = 0;

	for (size_t i = 0; i < e->count && !from; i++)
		if (!strcmp(e->frames[i], point))
			from = i + 1;
	if (from < e->count && !strcmp(e->frames[from], e->caller))
		from++;
	stack[count++] = point;
	stack[count++] = e->caller;
	while (from < e->count)
		stack[count++] = e->frames[from++];
	return count;
}

static int add_stack(struct entries_sum *s, const struct hist_entry *e)
{
	const char *stack[HIST_FRAMES + 2], *role, *path;
	size_t frames = mend_stack(e, s->point, stack);
	const struct role_function *row;
	int r = 0;

	role = role_name_of_stack(stack, frames, s->kernel, &row);
	if (role_is_helper(e->caller))
		r = count_role(s, frames > 2 ? stack[2] : e->caller, role, 0, (double)e->hits);
	if (r < 0 || !row)
		return r;
	path = role_path_of_stack(stack, frames);
	if (row->side)
		r = count(s->figures, row->role, row->side, NULL, (double)e->hits);
	if (r >= 0)
		r = count(s->figures, row->role, row->side, path, (double)e->hits);
	return r;
}

int entries_add(void *data, const struct hist_entry *e)
{
	struct entries_sum *s = data;

	return e->by_flags ? add_caller(s, e) : add_stack(s, e);
}

uint64_t entries_missed(const struct entries_sum *s, uint64_t missed)
{
	double dropped = 0;

	/* No interrupt was seen: nothing to judge them by. */
	if (s->interrupts <= 0)
		return missed;
	for (size_t i = 0; i < s->in_interrupts.count; i++) {
		const struct lock_figure *in = &s->in_interrupts.items[i];
		const struct lock_figure *all =
			lock_figures_at(s->figures, in->role, ROLE_SIDE_NONE, NULL);
		double lost = (double)missed * in->acquisitions / s->interrupts;

		if (all && lost >= 0.5 && lost > MISSED_TOLERATED * all->acquisitions)
			dropped += lost;
	}
	return (uint64_t)(dropped + 0.5);
}

void entries_finish(struct entries_sum *s, uint64_t missed)
{
	s->figures->dropped += entries_missed(s, missed);
	s->figures->unresolved = s->total > 0 ? s->unresolved / s->total : 0;
	lock_figures_clear(&s->in_interrupts);
}
