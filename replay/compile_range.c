/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that change or use what is mapped: madvise, mprotect, mlock and their like. */

#include <linux/mempolicy.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "replay/compile_core.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE 103
#endif
#define PROT_SEM_BIT 0x8u /* PROT_SEM: without effect on any architecture we replay on */
#define MCL_ALL (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)

/*
 * Beside mappings that the kernel places, only what is mapped has a place: it
 * may have put others into the holes. Cuts the piece to what is mapped from its
 * start on, or to the hole there.
 */
static void cut_to_mapped(const struct cspace *sp, struct piece *p)
{
	const struct region *n = space_find(sp->model, p->start);
	uint64_t end = p->start;

	if (!n || n->start > p->start) {
		p->outside = true;
		if (n && n->start < p->end)
			p->end = n->start;
		return;
	}
	for (; n && n->start <= end && end < p->end; n = space_find(sp->model, end))
		end = n->end;
	if (end < p->end)
		p->end = end;
}

static int emit_one(struct compile *c, struct ctask *t, const struct range_op *op,
                    const struct piece *p, unsigned cont, uint64_t length)
{
	uint64_t operands[3] = { p->offset, length, op->extra };

	return op_emit(c, t, plan_head(op->kind, op->flags | cont, op->error, op->small, p->anchor),
	               operands, op->kind == PLAN_MBIND ? 3 : 2);
}

int range_emit(struct compile *c, struct ctask *t, const struct cspace *sp,
               const struct range_op *op)
{
	bool holes = sp->anchors.count && !op->error &&
	             !space_mapped(sp->model, op->start, op->end) &&
	             place_holes_taken(c, sp, op->start, op->end);
	unsigned cont = 0;
	struct piece p;
	int r = 0;

	if (holes && !space_mapped_bytes(sp->model, op->start, op->end)) {
		place_hole(c, op->start, &p);
		if (op->end - op->start < HOLE_BYTES)
			return emit_one(c, t, op, &p, 0, op->length);
	} else if (!holes && place_whole(c, sp, op->start, op->end, &p)) {
		return emit_one(c, t, op, &p, 0, op->length);
	}
	for (uint64_t at = op->start; r >= 0 && at < op->end;) {
		place_piece(c, sp, at, op->end, &p);
		if (holes && !p.outside)
			cut_to_mapped(sp, &p);
		at = p.end;
		if (p.outside)
			continue;
		/* The last piece keeps a length that is no whole number of pages. */
		r = emit_one(c, t, op, &p, cont,
		             p.end == op->end ? op->length - (p.start - op->start)
		                              : p.end - p.start);
		c->counts.split += cont != 0;
		cont = PLAN_CONT;
	}
	c->counts.skipped += !cont;
	return r;
}

int range_call(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call, const struct range_op *op, enum access_kind kind)
{
	struct access access = { op->start, op->end, kind };
	uint64_t operand = call->call, skipped = c->counts.skipped;
	int r = op_open(c, t, sp, call->enter, &access, 1);

	if (r >= 0)
		r = range_emit(c, t, sp, op);
	if (r >= 0 && c->counts.skipped != skipped)
		r = op_emit(c, t, plan_head(PLAN_REFUSED, 0, 0, 0, 0), &operand, 1);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.calls[call->call]++;
	return r;
}

/*
 * Start, length and errno of a call on a range. Returns 0 with the operation to
 * make, or 1 where it was dealt with: refused because a replay could succeed
 * where the recording failed and would then change memory, or left out.
 */
static int range_begin(struct compile *c, struct ctask *t, struct cspace *sp,
                       const struct paired_call *call, struct range_op *op, bool harmless)
{
	uint64_t start = call->arg[0], length = call->arg[1];
	int r;

	op->start = page_down(c, start);
	op->length = length;
	op->error = result_is_error(call->result) ? (unsigned)-call->result : 0;
	op->end = page_up(c, start + length);
	if (start < USER_END && length < USER_END && op->end <= USER_END && start == op->start) {
		if (!op->error && op->start < op->end) {
			r = flight_settle_made(c, t, sp, op->start, op->end);
			if (r >= 0)
				r = space_need(c, t, sp, op->start, op->end, PROT_READ | PROT_WRITE,
				               call->enter);
			return r;
		}
		if (op->error == ENOMEM && !space_mapped(sp->model, op->start, op->end))
			return 0;
		if (!op->error || op->error == EINVAL)
			return 0;
		op->flags |= PLAN_UNCHECKED;
		if (harmless)
			return 0;
	} else if (op->error == EINVAL && start < USER_END && start != op->start) {
		/* Misaligned: refused wherever it goes, as long as the low bits stay. */
		struct piece p;
		uint64_t operands[3];

		place_hole(c, start, &p);
		operands[0] = p.offset;
		operands[1] = length;
		operands[2] = op->extra;
		r = op_open(c, t, sp, call->enter, NULL, 0);
		if (r >= 0)
			r = op_emit(c, t, plan_head(op->kind, op->flags, EINVAL, op->small, 0),
			            operands, op->kind == PLAN_MBIND ? 3 : 2);
		c->counts.calls[call->call]++;
		return r < 0 ? r : 1;
	}
	r = refuse_call(c, t, sp, call);
	return r < 0 ? r : 1;
}

static bool advice_allowed(uint64_t advice)
{
	return advice <= MADV_DONTNEED || (advice >= MADV_FREE && advice <= MADV_COLLAPSE) ||
	       advice == MADV_GUARD_INSTALL || advice == MADV_GUARD_REMOVE;
}

/* What the advice leaves behind in the model. */
static int advise_model(struct cspace *sp, const struct range_op *op)
{
	switch (op->small) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_REMOVE:
	case MADV_GUARD_INSTALL:
		return space_discard(sp->model, op->start, op->end);
	case MADV_HUGEPAGE:
		return ranges_set(&sp->huge, op->start, op->end, 1);
	case MADV_NOHUGEPAGE:
		return ranges_set(&sp->huge, op->start, op->end, 2);
	case MADV_DONTFORK:
		return ranges_set(&sp->no_fork, op->start, op->end, 1);
	case MADV_DOFORK:
		return ranges_cut(&sp->no_fork, op->start, op->end);
	default:
		return 0;
	}
}

static enum access_kind advise_access(unsigned advice)
{
	switch (advice) {
	case MADV_DONTNEED:
	case MADV_DONTNEED_LOCKED:
	case MADV_FREE:
	case MADV_REMOVE:
	case MADV_GUARD_INSTALL:
	case MADV_GUARD_REMOVE:
		return ACCESS_CONTENTS;
	case MADV_WILLNEED:
	case MADV_COLD:
	case MADV_PAGEOUT:
	case MADV_POPULATE_READ:
	case MADV_POPULATE_WRITE:
	case MADV_COLLAPSE:
		return ACCESS_USE;
	default: /* stays with the mapping, for what touches it later */
		return ACCESS_PROTECT;
	}
}

int call_madvise(struct compile *c, struct ctask *t, struct cspace *sp,
                 const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MADVISE, .small = (unsigned)call->arg[2] & 0xff };
	int r;

	if (!advice_allowed(call->arg[2]))
		return refuse_call(c, t, sp, call);
	r = range_begin(c, t, sp, call, &op, true);
	if (r)
		return r < 0 ? r : 0;
	r = range_call(c, t, sp, call, &op, advise_access(op.small));
	/* ENOMEM says that there were holes; the advice went to what is mapped. */
	if (r < 0 || (op.error && op.error != ENOMEM))
		return r;
	return advise_model(sp, &op);
}

int call_mprotect(struct compile *c, struct ctask *t, struct cspace *sp,
                  const struct paired_call *call)
{
	uint64_t prot = call->arg[2] & ~(uint64_t)PROT_SEM_BIT;
	struct range_op op = { .kind = PLAN_MPROTECT, .small = prot & 7 };
	int r;

	if (prot & ~(uint64_t)(PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN | PROT_GROWSUP))
		return refuse_call(c, t, sp, call);
	op.small |= (prot & PROT_GROWSDOWN ? 8 : 0) | (prot & PROT_GROWSUP ? 16 : 0);
	/* Keys are left out, so that a bad key would not fail. */
	c->counts.emulated += call->call == CALL_PKEY_MPROTECT;
	if (call->call == CALL_PKEY_MPROTECT && call->result == (uint64_t)-EINVAL &&
	    !(call->arg[0] & (c->page - 1)))
		return refuse_call(c, t, sp, call);
	r = range_begin(c, t, sp, call, &op, false);
	if (r)
		return r < 0 ? r : 0;
	r = range_call(c, t, sp, call, &op, ACCESS_PROTECT);
	if (r < 0 || (op.error && op.error != ENOMEM))
		return r;
	if (op.error) { /* it went as far as the first hole */
		const struct region *n = space_find(sp->model, op.start);

		for (op.end = op.start; n && n->start <= op.end; n = space_find(sp->model, op.end))
			op.end = n->end;
	}
	return space_protect(sp->model, op.start, op.end, prot & 7);
}

static int lock_model(struct compile *c, struct cspace *sp, const struct range_op *op)
{
	const struct region *n;
	uint64_t added;
	int r = space_lock(sp->model, op->start, op->end, op->kind != PLAN_MUNLOCK);

	if (op->kind == PLAN_MUNLOCK || (op->kind == PLAN_MLOCK2 && op->small))
		return r;
	for (n = space_find(sp->model, op->start); r >= 0 && n && n->start < op->end;
	     n = space_find(sp->model, n->end)) {
		uint64_t start = n->start > op->start ? n->start : op->start;
		uint64_t end = n->end < op->end ? n->end : op->end;

		if (!n->prot)
			continue;
		r = space_touch_range(sp->model, start, end, &added);
		if (r >= 0 && n->file)
			r = files_touch(c, n->file, n->offset + (start - n->start), end - start);
	}
	return r;
}

int call_mlock(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MLOCK };
	struct paired_call aligned = *call;
	int r;

	if (call->call == CALL_MUNLOCK)
		op.kind = PLAN_MUNLOCK;
	if (call->call == CALL_MLOCK2) {
		op.kind = PLAN_MLOCK2;
		op.small = (unsigned)call->arg[2] & 0xff;
	}
	/* These take any start and mean its page. */
	aligned.arg[0] = page_down(c, call->arg[0]);
	aligned.arg[1] += call->arg[0] - aligned.arg[0];
	r = range_begin(c, t, sp, &aligned, &op, true);
	if (r)
		return r < 0 ? r : 0;
	r = range_call(c, t, sp, call, &op, ACCESS_PROTECT);
	return r < 0 || op.error ? r : lock_model(c, sp, &op);
}

/* All regions as the model has them now; each piece is an operation of its own. */
static int lock_all(struct compile *c, struct ctask *t, struct cspace *sp,
                    const struct paired_call *call, struct range_op *op)
{
	const struct region *n = space_find(sp->model, 0);
	int r = 0;

	if (!n)
		return refuse_call(c, t, sp, call);
	for (; r >= 0 && n; n = space_find(sp->model, op->end)) {
		struct access access = { n->start, n->end, ACCESS_PROTECT };

		op->start = n->start;
		op->end = n->end;
		op->length = n->end - n->start;
		r = op_open(c, t, sp, call->enter, &access, 1);
		if (r >= 0)
			r = range_emit(c, t, sp, op);
		if (r >= 0)
			r = op_close(c, t, sp, &access, 1);
		if (r >= 0)
			r = lock_model(c, sp, op);
		c->counts.split += op->flags != 0;
		op->flags = PLAN_CONT;
	}
	c->counts.calls[call->call]++;
	return r;
}

int call_mlockall(struct compile *c, struct ctask *t, struct cspace *sp,
                  const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MLOCK };

	if (call->result || call->arg[0] & ~(uint64_t)MCL_ALL)
		return refuse_call(c, t, sp, call);
	sp->lock_future = call->arg[0] & MCL_FUTURE;
	if (call->arg[0] & MCL_ONFAULT) {
		op.kind = PLAN_MLOCK2;
		op.small = MLOCK_ONFAULT;
	}
	if (call->arg[0] & MCL_CURRENT)
		return lock_all(c, t, sp, call, &op);
	c->counts.calls[CALL_MLOCKALL]++;
	c->counts.emulated++;
	return 0;
}

int call_munlockall(struct compile *c, struct ctask *t, struct cspace *sp,
                    const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MUNLOCK };

	if (call->result)
		return refuse_call(c, t, sp, call);
	sp->lock_future = false;
	return lock_all(c, t, sp, call, &op);
}

int call_mbind(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MBIND };
	int r;

	if (call->arg[2] != MPOL_DEFAULT && call->arg[2] != MPOL_LOCAL)
		return refuse_call(c, t, sp, call);
	op.extra = (uint32_t)call->arg[2] | (uint64_t)(uint32_t)call->arg[5] << 32;
	r = range_begin(c, t, sp, call, &op, true);
	if (r)
		return r < 0 ? r : 0;
	return range_call(c, t, sp, call, &op, ACCESS_PROTECT);
}

int call_mseal(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MSEAL };
	int r;

	if (!c->options->seal)
		return refuse_call(c, t, sp, call);
	r = range_begin(c, t, sp, call, &op, false);
	if (r)
		return r < 0 ? r : 0;
	return range_call(c, t, sp, call, &op, ACCESS_PROTECT);
}
