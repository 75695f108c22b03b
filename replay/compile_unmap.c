/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that unmap and move: munmap, mremap, brk, shmdt. */

#include <linux/mman.h>
#include <sys/mman.h>

#include "replay/compile_core.h"

#define HUGE_LENGTH (1ULL << 56) /* refused by any kernel */
/* The break is one value that all brk calls change: a range of its own orders them. */
#define BREAK_START (USER_END + HUGE_PAGE)

static int model_unmap(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end)
{
	int r = space_unmap(sp->model, start, end);

	if (r >= 0)
		r = ranges_set(&sp->gone, start, end, 1);
	if (r >= 0)
		r = ranges_cut(&sp->huge, start, end);
	if (r >= 0)
		r = ranges_cut(&sp->done, start, end);
	if (r >= 0)
		r = ranges_cut(&sp->no_fork, start, end);
	return r < 0 ? r : place_unmapped(c, t, sp, start, end);
}

/* Fails wherever it goes: a misaligned start, no length, or one beyond any address space. */
static int munmap_failed(struct compile *c, struct ctask *t, struct cspace *sp,
                         const struct paired_call *call)
{
	uint64_t start = call->arg[0], length = call->arg[1], operands[2];
	bool anywhere = start & (c->page - 1) || !length || length >= HUGE_LENGTH;
	struct piece p;
	int r;

	if (call->result != (uint64_t)-EINVAL || !anywhere)
		return refuse_call(c, t, sp, call);
	place_hole(c, start, &p);
	operands[0] = p.offset;
	operands[1] = length;
	r = op_open(c, t, sp, call->enter, NULL, 0);
	c->counts.calls[CALL_MUNMAP]++;
	return r < 0 ? r : op_emit(c, t, plan_head(PLAN_MUNMAP, 0, EINVAL, 0, 0), operands, 2);
}

int call_munmap(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call)
{
	struct range_op op = { .kind = PLAN_MUNMAP,
		               .start = call->arg[0],
		               .end = call->arg[0] + page_up(c, call->arg[1]),
		               .length = call->arg[1] };
	int r;

	if (result_is_error(call->result))
		return munmap_failed(c, t, sp, call);
	if (op.start & (c->page - 1) || op.end <= op.start || op.end > USER_END)
		return skip_call(c, t, sp, call);
	r = flight_settle_made(c, t, sp, op.start, op.end);
	if (r >= 0 && !space_mapped_bytes(sp->model, op.start, op.end) &&
	    op.length < HUGE_PAGE * 512)
		r = space_need(c, t, sp, op.start, op.end, PROT_READ | PROT_WRITE, call->enter);
	if (r >= 0)
		r = range_call(c, t, sp, call, &op, ACCESS_UNMAP);
	return r < 0 ? r : model_unmap(c, t, sp, op.start, op.end);
}

int call_shmdt(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	const struct region *n = space_find(sp->model, call->arg[0]);
	struct access access;
	struct piece p;
	int r;

	if (call->result || !n || n->start != call->arg[0])
		return refuse_call(c, t, sp, call);
	access = (struct access){ n->start, n->end, ACCESS_UNMAP };
	if (!place_whole(c, sp, access.start, access.end, &p))
		return refuse_call(c, t, sp, call);
	r = op_open(c, t, sp, call->enter, &access, 1);
	if (r >= 0)
		r = op_emit(c, t, plan_head(PLAN_SHMDT, 0, 0, 0, p.anchor), &p.offset, 1);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.calls[CALL_SHMDT]++;
	return r < 0 ? r : model_unmap(c, t, sp, access.start, access.end);
}

struct move {
	uint64_t old, old_end, to, to_end;
	uint64_t old_length, new_length; /* as recorded */
	uint32_t flags;
	bool moved, keep_old;
};

/* Errors that do not hang on limits; a success in their place would change memory. */
static int mremap_failed(struct compile *c, struct ctask *t, struct cspace *sp,
                         const struct paired_call *call, const struct move *m)
{
	uint64_t operands[5] = { 0, m->old_length, m->new_length, 0,
		                 call->arg[3] & MREMAP_MAYMOVE };
	int err = (int)-call->result;
	struct piece p;
	int r;

	if (err == EINVAL && (call->arg[0] & (c->page - 1) || !m->new_length)) {
		place_hole(c, call->arg[0], &p);
	} else if ((err == ENOMEM && !(call->arg[3] & (MREMAP_MAYMOVE | MREMAP_FIXED)) &&
	            m->old_end < m->to_end && m->to_end <= USER_END &&
	            c->options->placement == PLACE_TRACED &&
	            space_mapped_bytes(sp->model, m->old_end, m->to_end)) ||
	           (err == EFAULT && m->old < m->old_end && m->old_end <= USER_END &&
	            !space_mapped_bytes(sp->model, m->old, m->old_end))) {
		if (!place_whole(c, sp, m->old, m->old_end, &p))
			return refuse_call(c, t, sp, call);
	} else {
		return refuse_call(c, t, sp, call);
	}
	operands[0] = operands[3] = p.offset;
	r = op_open(c, t, sp, call->enter, NULL, 0);
	c->counts.calls[CALL_MREMAP]++;
	return r < 0 ? r : op_emit(c, t, plan_head(PLAN_MREMAP, 0, err, 0, p.anchor), operands, 5);
}

static bool move_possible(const struct compile *c, const struct move *m)
{
	if ((m->old | m->to) & (c->page - 1) || m->to >= m->to_end || m->to_end > USER_END)
		return false;
	if (m->old > m->old_end || m->old_end > USER_END)
		return false;
	return !m->moved || m->to_end <= m->old || m->old_end <= m->to;
}

/* The ranges it changes: what goes and what comes. */
static size_t move_accesses(const struct move *m, struct access *out)
{
	if (m->moved) {
		out[0] = (struct access){ m->old, m->old_end,
			                  m->keep_old ? ACCESS_CONTENTS : ACCESS_UNMAP };
		out[1] = (struct access){ m->to, m->to_end, ACCESS_MAP };
		return 2;
	}
	if (m->to_end < m->old_end) {
		out[0] = (struct access){ m->to_end, m->old_end, ACCESS_UNMAP };
		return 1;
	}
	out[0] = (struct access){ m->old, m->to_end, ACCESS_MAP };
	return 1;
}

static int emit_move(struct compile *c, struct ctask *t, struct cspace *sp, const struct move *m,
                     bool chosen, const struct piece *from)
{
	uint64_t operands[5] = { from->offset, m->old_length, m->new_length, 0, m->flags };
	struct piece to = *from;
	unsigned flags = chosen ? PLAN_CHOOSE : 0;
	int r = 0;

	if (chosen) {
		r = place_choose(c, t, sp, m->to, m->to_end, false, &to);
		to.offset = 0;
	} else if (m->moved) {
		if (!(m->flags & MREMAP_FIXED))
			r = place_fixed(c, sp, m->to, m->to_end);
		if (r >= 0 && !place_whole(c, sp, m->to, m->to_end, &to))
			return 1;
		operands[4] = m->flags | MREMAP_MAYMOVE | MREMAP_FIXED;
	} else if (c->options->placement != PLACE_TRACED && m->to_end > m->old_end) {
		flags |= PLAN_UNCHECKED; /* whether there is room behind it is the kernel's doing */
	}
	if (r < 0)
		return r;
	operands[3] = to.offset;
	operands[4] |= (uint64_t)to.anchor << 32;
	return op_emit(c, t, plan_head(PLAN_MREMAP, flags, 0, 0, from->anchor), operands, 5);
}

static int model_move(struct compile *c, struct ctask *t, struct cspace *sp, const struct move *m)
{
	const struct region *n;
	int r = space_move(sp->model, m->old, m->old_end - m->old, m->to, m->to_end - m->to,
	                   m->keep_old);

	if (r >= 0)
		r = ranges_cut(&sp->gone, m->to, m->to_end);
	if (r >= 0 && m->moved && !m->keep_old && m->old < m->old_end)
		r = model_unmap(c, t, sp, m->old, m->old_end);
	if (r >= 0 && !m->moved && m->to_end < m->old_end)
		r = model_unmap(c, t, sp, m->to_end, m->old_end);
	n = space_find(sp->model, m->to);
	if (n && n->file && n->start <= m->to)
		files_need(c, n->file, n->offset, n->end - n->start);
	return r < 0 ? r : 0;
}

/* An anchor's range grows or shrinks with its mapping. */
static int resize_anchor(struct cspace *sp, const struct move *m)
{
	const struct range *n = ranges_at(&sp->anchors, m->old);

	if (m->moved || !n || m->to_end <= m->old_end)
		return 0;
	return ranges_set(&sp->anchors, m->old, m->to_end, n->value);
}

int call_mremap(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call)
{
	struct move m = {
		.old = call->arg[0],
		.old_end = call->arg[0] + page_up(c, call->arg[1]),
		.to = call->result,
		.to_end = call->result + page_up(c, call->arg[2]),
		.old_length = call->arg[1],
		.new_length = call->arg[2],
		.flags = call->arg[3] & (MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP),
		.moved = call->result != call->arg[0],
		.keep_old = call->arg[3] & MREMAP_DONTUNMAP,
	};
	bool chosen = c->options->placement != PLACE_TRACED && m.flags & MREMAP_MAYMOVE &&
	              !(m.flags & MREMAP_FIXED) && (m.moved || m.to_end > m.old_end);
	struct access access[2];
	struct piece from;
	size_t count;
	int r;

	if (result_is_error(call->result)) {
		m.to_end = m.old + page_up(c, m.new_length);
		return mremap_failed(c, t, sp, call, &m);
	}
	if (!move_possible(c, &m))
		return skip_call(c, t, sp, call);
	r = flight_settle_made(c, t, sp, m.old, m.old_end);
	if (r >= 0)
		r = space_need(c, t, sp, m.old, m.old_end, PROT_READ | PROT_WRITE, call->enter);
	if (r >= 0 && !(m.flags & MREMAP_FIXED))
		r = flight_settle_gone(c, t, sp, m.to, m.to_end);
	if (r < 0)
		return r;
	if (!place_whole(c, sp, m.old, m.old == m.old_end ? m.old + 1 : m.old_end, &from))
		return refuse_call(c, t, sp, call);
	count = move_accesses(&m, access);
	r = op_open(c, t, sp, call->enter, access, count);
	if (r >= 0)
		r = resize_anchor(sp, &m);
	if (r >= 0)
		r = emit_move(c, t, sp, &m, chosen, &from);
	if (r)
		return r < 0 ? r : refuse_call(c, t, sp, call);
	r = op_close(c, t, sp, access, count);
	c->counts.calls[CALL_MREMAP]++;
	return r < 0 ? r : model_move(c, t, sp, &m);
}

/* Returns 1 where the break has no place in the replay. */
static int emit_brk(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t to,
                    uint64_t old_end, uint64_t new_end, bool failed)
{
	struct piece p = { 0 }, old;
	uint64_t operands[3];

	if (to && to < c->groups[sp->group].brk_start)
		p.offset = CLUSTER_BASE; /* below the heap: refused, wherever that is */
	else if (to)
		place_piece(c, sp, to, to + 1, &p);
	if (p.outside || p.anchor)
		return 1;
	if (!c->options->emulate_brk) {
		operands[0] = p.offset;
		return op_emit(
			c, t,
			plan_head(PLAN_BRK, failed ? PLAN_UNCHECKED : 0, failed ? ENOMEM : 0, 0, 0),
			operands, 1);
	}
	c->counts.emulated++;
	if (failed || !to || old_end == new_end)
		return 0;
	if (!place_whole(c, sp, old_end < new_end ? old_end : new_end,
	                 old_end < new_end ? new_end : old_end, &old))
		return 1;
	operands[0] = old.offset;
	operands[1] = old_end < new_end ? new_end - old_end : old_end - new_end;
	operands[2] = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
	if (old_end < new_end)
		return op_emit(c, t, plan_head(PLAN_MMAP, 0, 0, PROT_READ | PROT_WRITE, old.anchor),
		               operands, 3);
	return op_emit(c, t, plan_head(PLAN_MUNMAP, 0, 0, 0, old.anchor), operands, 2);
}

static int model_brk(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t old_end,
                     uint64_t new_end)
{
	struct region region = {
		.start = old_end,
		.end = new_end,
		.prot = PROT_READ | PROT_WRITE,
		.map_flags = MAP_PRIVATE | MAP_ANONYMOUS,
	};
	int r;

	if (new_end < old_end)
		return model_unmap(c, t, sp, new_end, old_end);
	r = space_map(sp->model, &region);
	return r < 0 ? r : ranges_cut(&sp->gone, old_end, new_end);
}

int call_brk(struct compile *c, struct ctask *t, struct cspace *sp, const struct paired_call *call)
{
	uint64_t to = call->arg[0], old_end, new_end;
	struct access access[2] = { { BREAK_START, BREAK_START + c->page, ACCESS_MAP } };
	bool failed = to && call->result != to;
	int r;

	if (!sp->brk)
		sp->brk = c->groups[sp->group].brk_start;
	if (!sp->brk || to >= USER_END || call->result >= USER_END)
		return skip_call(c, t, sp, call);
	old_end = page_up(c, sp->brk);
	/* What failed for a limit would succeed here and change memory. */
	if (failed && to > sp->brk && !space_mapped_bytes(sp->model, old_end, page_up(c, to)))
		return refuse_call(c, t, sp, call);
	new_end = failed || !to ? old_end : page_up(c, to);
	access[1] = old_end < new_end ? (struct access){ old_end, new_end, ACCESS_MAP }
	                              : (struct access){ new_end, old_end, ACCESS_UNMAP };
	r = flight_settle_gone(c, t, sp, old_end, new_end);
	if (r >= 0)
		r = op_open(c, t, sp, call->enter, access, 2);
	if (r >= 0)
		r = emit_brk(c, t, sp, to, old_end, new_end, failed);
	if (r > 0)
		return skip_call(c, t, sp, call);
	if (r >= 0)
		r = op_close(c, t, sp, access, 2);
	c->counts.calls[CALL_BRK]++;
	if (r < 0 || failed || !to)
		return r;
	sp->brk = to;
	return old_end == new_end ? 0 : model_brk(c, t, sp, old_end, new_end);
}
