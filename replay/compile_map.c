/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls that map files and memory: mmap and shmat, and shmdt. */

#include <linux/mman.h>
#include <sys/mman.h>
#include <sys/shm.h>

#include "replay/compile_core.h"

#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#define HUGETLB_SIZE_BITS (0x3fu << 26)
#define MAP_FLAGS_KNOWN                                                                            \
	(MAP_TYPE | MAP_FIXED | MAP_ANONYMOUS | MAP_32BIT | MAP_GROWSDOWN | MAP_DENYWRITE |        \
	 MAP_EXECUTABLE | MAP_LOCKED | MAP_NORESERVE | MAP_POPULATE | MAP_NONBLOCK | MAP_STACK |   \
	 MAP_HUGETLB | MAP_SYNC | MAP_FIXED_NOREPLACE | HUGETLB_SIZE_BITS)
#define MAX_SEGMENTS 4096
#define HUGE_LENGTH (1ULL << 47) /* no address space has room for it: ENOMEM wherever */

struct mapping {
	uint64_t start, end, length; /* length as recorded */
	uint64_t offset;
	uint32_t prot, flags, file;
};

/* What is allowed of the recorded flags; false: the call is refused. */
static bool allowed_flags(struct compile *c, uint64_t recorded, uint32_t *flags)
{
	uint32_t type = recorded & MAP_TYPE;

	if (recorded & ~(uint64_t)MAP_FLAGS_KNOWN)
		return false;
	if (type != MAP_SHARED && type != MAP_PRIVATE && type != MAP_SHARED_VALIDATE &&
	    type != MAP_DROPPABLE)
		return false;
	*flags = (uint32_t)recorded;
	if (*flags & MAP_HUGETLB && !c->options->hugetlb)
		return false;
	if (!(*flags & MAP_HUGETLB))
		*flags &= ~HUGETLB_SIZE_BITS;
	if (*flags & MAP_SYNC) { /* only for DAX files, which scratch files are not */
		*flags &= ~MAP_SYNC;
		c->counts.emulated++;
	}
	if (c->options->drop_map_stack)
		*flags &= ~MAP_STACK;
	return true;
}

/* The head's errno where the call failed. The kernel refuses these wherever they go. */
static bool fails_anywhere(const struct paired_call *call, int err)
{
	uint64_t length = call->arg[1], type = call->arg[3] & MAP_TYPE;

	if (err == EINVAL)
		return !length || !type || (call->arg[3] & MAP_FIXED && call->arg[0] & 4095);
	return err == ENOMEM && length >= HUGE_LENGTH;
}

/* Errors that come from descriptors and limits are not replayed; the others are. */
static int mmap_failed(struct compile *c, struct ctask *t, struct cspace *sp,
                       const struct paired_call *call)
{
	int err = (int)-call->result;
	uint64_t known = call->arg[3] & MAP_FLAGS_KNOWN & ~(uint64_t)(MAP_FIXED | MAP_HUGETLB);
	unsigned flags = PLAN_CHOOSE;
	uint32_t fixed = 0;
	struct piece piece = { .anchor = ANCHOR_SCRAP };
	uint64_t operands[3];
	int r;

	if (err == EEXIST && call->arg[3] & MAP_FIXED_NOREPLACE) {
		uint64_t end = call->arg[0] + page_up(c, call->arg[1]);

		if (end <= call->arg[0] || !place_whole(c, sp, call->arg[0], end, &piece) ||
		    !space_mapped_bytes(sp->model, call->arg[0], end))
			return refuse_call(c, t, sp, call);
		flags = 0;
		fixed = MAP_FIXED_NOREPLACE;
	} else if (!fails_anywhere(call, err)) {
		if (err != ENOMEM || call->arg[3] & MAP_HUGETLB)
			return refuse_call(c, t, sp, call);
		flags |= PLAN_UNCHECKED;
		known &= ~(uint64_t)(MAP_POPULATE | MAP_LOCKED); /* in case it succeeds */
	}
	if (err == EINVAL && call->arg[0] & (c->page - 1)) {
		place_hole(c, call->arg[0], &piece);
		flags = 0;
		fixed = MAP_FIXED;
	}
	operands[0] = piece.offset;
	operands[1] = call->arg[1];
	operands[2] = (known & ~(uint64_t)(MAP_FIXED_NOREPLACE | HUGETLB_SIZE_BITS)) | fixed;
	if (operands[2] & MAP_TYPE)
		operands[2] |= MAP_ANONYMOUS;
	r = op_open(c, t, sp, call->enter, NULL, 0);
	if (r < 0)
		return r;
	c->counts.calls[CALL_MMAP]++;
	return op_emit(c, t, plan_head(PLAN_MMAP, flags, err, call->arg[2] & 7, piece.anchor),
	               operands, 3);
}

static int emit_piece(struct compile *c, struct ctask *t, const struct mapping *m,
                      const struct piece *p, unsigned flags, uint32_t map_flags)
{
	uint64_t operands[4] = {
		flags & PLAN_CHOOSE ? 0 : p->offset,
		p->start == m->start && p->end == m->end ? m->length : p->end - p->start,
		map_flags | (uint64_t)m->file << 32,
		m->offset + (p->start - m->start),
	};

	return op_emit(c, t, plan_head(PLAN_MMAP, flags, 0, m->prot, p->anchor), operands,
	               m->file ? 4 : 3);
}

/* MAP_FIXED, or a hint that was followed: at its place, in pieces where anchors meet. */
static int emit_at_place(struct compile *c, struct ctask *t, struct cspace *sp,
                         const struct mapping *m)
{
	uint32_t flags = m->flags;
	unsigned cont = 0;
	int r = 0;

	if (!(flags & (MAP_FIXED | MAP_FIXED_NOREPLACE))) {
		/* A result on memory that counts as mapped: the trace has a gap, stay in step. */
		flags |= space_mapped_bytes(sp->model, m->start, m->end) ? MAP_FIXED
		                                                         : MAP_FIXED_NOREPLACE;
		r = place_fixed(c, sp, m->start, m->end);
	}
	for (uint64_t at = m->start; r >= 0 && at < m->end;) {
		struct piece p;

		place_piece(c, sp, at, m->end, &p);
		at = p.end;
		if (p.outside)
			continue;
		r = emit_piece(c, t, m, &p, cont, flags);
		c->counts.split += cont != 0;
		cont = PLAN_CONT;
	}
	return r;
}

static int emit_chosen(struct compile *c, struct ctask *t, struct cspace *sp,
                       const struct mapping *m)
{
	bool aligned = c->options->placement == PLACE_THP_ALIGNED && !m->file &&
	               m->end - m->start >= HUGE_PAGE;
	struct piece p;
	int r = place_choose(c, t, sp, m->start, m->end, aligned, &p);

	if (r < 0)
		return r;
	if (aligned)
		return emit_piece(c, t, m, &p, 0, m->flags | MAP_FIXED_NOREPLACE);
	return emit_piece(c, t, m, &p, PLAN_CHOOSE, m->flags);
}

static int model_map(struct compile *c, struct cspace *sp, const struct mapping *m)
{
	struct region region = {
		.start = m->start,
		.end = m->end,
		.offset = m->offset,
		.file = m->file,
		.prot = m->prot,
		.map_flags = m->flags,
		.locked = m->flags & MAP_LOCKED,
	};
	uint64_t added;
	int r = space_map(sp->model, &region);

	if (r >= 0)
		r = ranges_cut(&sp->gone, m->start, m->end);
	if (r >= 0)
		r = ranges_cut(&sp->huge, m->start, m->end);
	if (r >= 0)
		r = ranges_cut(&sp->done, m->start, m->end);
	if (r >= 0)
		r = ranges_cut(&sp->no_fork, m->start, m->end);
	if (r < 0 || !(m->flags & (MAP_POPULATE | MAP_LOCKED)) || !m->prot)
		return r;
	if (m->file)
		r = files_touch(c, m->file, m->offset, m->end - m->start);
	return r < 0 ? r : space_touch_range(sp->model, m->start, m->end, &added);
}

static int map_file(struct compile *c, struct ctask *t, const struct paired_call *call,
                    struct mapping *m)
{
	int r;

	if (m->flags & MAP_ANONYMOUS)
		return 0;
	r = files_of_descriptor(c, t, call->arg[4], &m->file);
	if (r < 0)
		return r;
	m->offset = page_down(c, call->arg[5]);
	return files_need(c, m->file, m->offset, m->end - m->start) ? 0 : 1;
}

int call_mmap(struct compile *c, struct ctask *t, struct cspace *sp, const struct paired_call *call)
{
	uint64_t length = page_up(c, call->arg[1]);
	struct mapping m = {
		.start = call->result,
		.end = call->result + length,
		.length = call->arg[1],
		.prot = call->arg[2] & 7,
	};
	struct access access = { m.start, m.end, ACCESS_MAP };
	bool fixed = call->arg[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE);
	bool chosen = c->options->placement != PLACE_TRACED && !fixed &&
	              page_down(c, call->arg[0]) != call->result;
	int r;

	if (result_is_error(call->result))
		return mmap_failed(c, t, sp, call);
	if (!length || length < call->arg[1] || m.start & (c->page - 1) || m.end <= m.start ||
	    m.end > USER_END)
		return skip_call(c, t, sp, call);
	if (!allowed_flags(c, call->arg[3], &m.flags))
		return refuse_call(c, t, sp, call);
	if (sp->lock_future)
		m.flags |= MAP_LOCKED;
	r = map_file(c, t, call, &m);
	if (r)
		return r < 0 ? r : refuse_call(c, t, sp, call);
	if (!(call->arg[3] & MAP_FIXED))
		r = flight_settle_gone(c, t, sp, m.start, m.end);
	if (r >= 0)
		r = op_open(c, t, sp, call->enter, &access, 1);
	if (r >= 0)
		r = chosen ? emit_chosen(c, t, sp, &m) : emit_at_place(c, t, sp, &m);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.calls[CALL_MMAP]++;
	if (!fixed && page_down(c, call->arg[0]) != call->result && !m.file &&
	    length >= HUGE_PAGE) {
		c->counts.placed_large++;
		c->counts.placed_aligned += !(m.start & (HUGE_PAGE - 1));
	}
	return r < 0 ? r : model_map(c, sp, &m);
}

/* A segment of the plan for a shmid of the recording; false: too many. */
static int segment_of(struct compile *c, uint64_t shmid, uint64_t *segment)
{
	uint64_t *place;
	bool added;
	int r = map_place(&c->segments, shmid, &place, &added);

	if (r < 0)
		return r;
	if (added)
		*place = c->segments.count - 1;
	*segment = *place;
	return *segment < MAX_SEGMENTS ? 0 : 1;
}

int call_shmat(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	const uint64_t *size = map_find(&c->shm_sizes, call->arg[0]);
	struct mapping m = { .start = call->result, .flags = MAP_SHARED };
	bool chosen = c->options->placement != PLACE_TRACED && !call->arg[1];
	unsigned read_only = call->arg[2] & SHM_RDONLY ? 1 : 0;
	struct access access;
	struct piece p;
	uint64_t operands[3];
	int r;

	if (result_is_error(call->result) || !size || !*size || m.start & (c->page - 1))
		return refuse_call(c, t, sp, call);
	m.end = m.start + page_up(c, *size);
	m.prot = read_only ? PROT_READ : PROT_READ | PROT_WRITE;
	access = (struct access){ m.start, m.end, ACCESS_MAP };
	r = segment_of(c, call->arg[0], &operands[2]);
	if (r || m.end <= m.start || m.end > USER_END)
		return r < 0 ? r : refuse_call(c, t, sp, call);
	r = flight_settle_gone(c, t, sp, m.start, m.end);
	if (r >= 0)
		r = op_open(c, t, sp, call->enter, &access, 1);
	if (r >= 0)
		r = chosen ? place_choose(c, t, sp, m.start, m.end, false, &p)
		           : place_fixed(c, sp, m.start, m.end);
	if (r < 0)
		return r;
	if (!chosen && !place_whole(c, sp, m.start, m.end, &p))
		return refuse_call(c, t, sp, call);
	operands[0] = chosen ? 0 : p.offset;
	operands[1] = *size;
	r = op_emit(c, t, plan_head(PLAN_SHMAT, chosen ? PLAN_CHOOSE : 0, 0, read_only, p.anchor),
	            operands, 3);
	if (r >= 0)
		r = op_close(c, t, sp, &access, 1);
	c->counts.calls[CALL_SHMAT]++;
	return r < 0 ? r : model_map(c, sp, &m);
}
