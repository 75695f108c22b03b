/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls between their enter and their leave. A call is taken into account at
 * its leave; earlier when memory that it unmaps is returned to another task, or
 * memory that it maps is used by another: its effect lies before those.
 */

#include "replay/compile_core.h"

static void set_gone(struct flight *f, uint64_t start, uint64_t end)
{
	f->gone = start;
	f->gone_end = end;
}

static void set_made(struct flight *f, uint64_t start, uint64_t end)
{
	f->made = start;
	f->made_end = end;
}

/* What the call unmaps and maps, so far as its arguments and known result say. */
static void foresee(const struct compile *c, struct flight *f, const struct cspace *sp)
{
	const struct paired_call *call = &f->call;
	const uint64_t *arg = call->arg;
	bool known = call->has_leave && !result_is_error(call->result);

	set_gone(f, 0, 0);
	set_made(f, 0, 0);
	if (call->has_leave && !known)
		return;
	switch (call->call) {
	case CALL_MUNMAP:
		set_gone(f, arg[0], arg[0] + page_up(c, arg[1]));
		break;
	case CALL_MREMAP:
		if (known)
			set_made(f, call->result, call->result + page_up(c, arg[2]));
		if (known && call->result != arg[0])
			set_gone(f, arg[0], arg[0] + page_up(c, arg[1]));
		else if (arg[2] < arg[1])
			set_gone(f, arg[0] + page_up(c, arg[2]), arg[0] + page_up(c, arg[1]));
		break;
	case CALL_MMAP:
		if (known)
			set_made(f, call->result, call->result + page_up(c, arg[1]));
		break;
	case CALL_BRK:
		if (known && sp->brk && arg[0] == call->result) {
			set_made(f, page_up(c, sp->brk), page_up(c, arg[0]));
			set_gone(f, page_up(c, arg[0]), page_up(c, sp->brk));
		}
		break;
	default:
		break;
	}
}

int flight_enter(struct compile *c, struct ctask *t, const struct paired_call *call)
{
	struct flight *f = &t->flight;
	int r = 0;

	flight_end(c, t);
	f->space = space_get(c, t->space, &r);
	if (!f->space)
		return r;
	f->call = *call;
	f->task = t;
	f->active = true;
	f->committed = false;
	f->previous = NULL;
	f->next = f->space->flights;
	if (f->next)
		f->next->previous = f;
	f->space->flights = f;
	foresee(c, f, f->space);
	/* A parent that waits for its child is not at work in the kernel. */
	f->counted = call->call != CALL_WAIT4 && call->call != CALL_WAITID;
	c->in_flight += f->counted;
	if (c->in_flight > c->counts.peak_calls)
		c->counts.peak_calls = c->in_flight;
	return 0;
}

static void unlink_flight(struct compile *c, struct flight *f)
{
	if (f->space) {
		if (f->previous)
			f->previous->next = f->next;
		else
			f->space->flights = f->next;
		if (f->next)
			f->next->previous = f->previous;
	}
	f->active = false;
	f->space = NULL;
	c->in_flight -= f->counted;
}

/* Of waits only the result is recorded; of other calls something is missing. */
static int leave_alone(struct compile *c, struct ctask *t, const struct paired_call *call)
{
	struct paired_call whole = *call;
	struct cspace *sp;
	int r;

	if (call->call != CALL_WAIT4 && call->call != CALL_WAITID) {
		c->counts.orphans++;
		return 0;
	}
	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	if (!whole.has_enter)
		whole.enter = whole.leave;
	return call_commit(c, t, sp, &whole);
}

int flight_leave(struct compile *c, struct ctask *t, const struct paired_call *call)
{
	struct flight *f = &t->flight;
	int r = 0;

	if (!f->active || f->call.call != call->call)
		return leave_alone(c, t, call);
	f->call.result = call->result;
	f->call.has_leave = true;
	if (!f->committed && f->space) {
		f->committed = true;
		r = call_commit(c, t, f->space, &f->call);
	}
	unlink_flight(c, f);
	return r;
}

void flight_end(struct compile *c, struct ctask *t)
{
	struct flight *f = &t->flight;

	if (!f->active)
		return;
	c->counts.orphans += !f->committed;
	unlink_flight(c, f);
}

/* One early call can make another early: beyond this it is no recording of a kernel's. */
#define MAX_DEPTH 64

static int commit_early(struct compile *c, struct flight *f, struct cspace *sp)
{
	int r;

	if (c->depth >= MAX_DEPTH)
		return 0;
	f->committed = true;
	if (!f->call.has_leave) {
		/* The leave lies beyond the pairer's window: what happened says success. */
		f->call.result = f->call.call == CALL_MREMAP ? f->call.arg[0] : 0;
	}
	c->depth++;
	r = call_commit(c, f->task, sp, &f->call);
	c->depth--;
	return r;
}

int flight_settle_gone(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end)
{
	int r = 0;

	for (struct flight *f = sp->flights; r >= 0 && f; f = f->next)
		if (!f->committed && f->task != t && f->gone < end && start < f->gone_end)
			r = commit_early(c, f, sp);
	return r;
}

int flight_settle_made(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end)
{
	int r = 0;

	if (!sp->flights || space_mapped(sp->model, start, end))
		return 0;
	for (struct flight *f = sp->flights; r >= 0 && f; f = f->next)
		if (!f->committed && f->call.has_leave && f->task != t && f->made < end &&
		    start < f->made_end)
			r = commit_early(c, f, sp);
	return r;
}
