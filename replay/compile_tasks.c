/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tasks come, take up other programs, wait for each other and go.
 *
 * A parent in vfork goes on when its child execs or exits, and its next event
 * can be earlier than the child's exec or exit event (the kernel wakes it in
 * between). The child's exec is put first then, since the replayed parent waits
 * for it too; where the child is in no exec, the parent is made not to wait.
 */

#include <linux/sched.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "replay/compile_core.h"

#define CLONE_ALLOWED                                                                              \
	(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_VFORK | CLONE_THREAD |          \
	 CLONE_SYSVSEM)

static struct ctask *leader_of(struct compile *c, const struct ctask *t)
{
	return &c->tasks[t->process];
}

/* A fork waits for what all others did in the space, and they wait for it. */
static int fork_barrier(struct compile *c, struct ctask *t, struct cspace *sp)
{
	uint32_t kept = 0;
	int r = 0;

	if (!(c->options->rules & RULE_FORK) || c->options->order == ORDER_SERIAL)
		return 0;
	for (uint32_t i = 0; r >= 0 && i < sp->member_count; i++) {
		struct ctask *m = &c->tasks[sp->members[i]];

		r = emit_wait(c, t, m->number, m->ordinal);
		if (!m->exited && m->space == t->space)
			sp->members[kept++] = m->number;
	}
	sp->member_count = kept;
	return r;
}

/*
 * A child knows what its parent knew; of the dead only a little is worth copying,
 * and of a crowd nothing: forgetting costs waits, copying a chain of forks the
 * square of its length.
 */
#define KNOWN_COPIED 64
#define KNOWN_CROWD 512

static int inherit(struct compile *c, const struct ctask *t, struct ctask *child)
{
	struct map_entry *e;
	int r = map_set(&child->known, t->number, t->ordinal);

	if (t->known.count > KNOWN_CROWD)
		return r;
	for (size_t i = 0; r >= 0 && (e = map_next(&t->known, &i));)
		if (t->known.count < KNOWN_COPIED || !c->tasks[e->key].exited)
			r = map_set(&child->known, e->key, e->value);
	return r;
}

static void child_begin(struct compile *c, struct ctask *t, struct ctask *child, uint64_t flags)
{
	const struct lineage_task *l = lineage_task(c->lineage, child->number);

	child->born = true;
	child->space = child->first_space = l->space;
	child->clone_flags = flags;
	child->parent = t->number;
	child->process = flags & CLONE_THREAD ? t->process : child->number;
	leader_of(c, child)->threads++;
	if (flags & CLONE_VFORK) {
		t->spawn_word = t->word_count - 1;
		t->vfork_child = child->number;
		child->vfork_parent = t->number;
	}
}

int task_spawn(struct compile *c, struct ctask *t, const struct event *e)
{
	uint32_t number = lineage_find(c->lineage, (uint32_t)e->arg[0]);
	struct ctask *child = &c->tasks[number];
	uint64_t flags = e->arg[1] & CLONE_ALLOWED;
	bool copies = !(flags & CLONE_VM);
	struct cspace *sp;
	int r;

	if (number == NONE || child->born || number == t->number)
		return 0;
	if (copies)
		flags &= ~(uint64_t)(CLONE_THREAD | CLONE_SIGHAND);
	if (!(flags & CLONE_SIGHAND) || lineage_task(c->lineage, number)->process == number)
		flags &= ~(uint64_t)CLONE_THREAD;
	flight_end(c, t); /* a task that clones is in no other call */
	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	r = op_open(c, t, sp, e->time, NULL, 0);
	if (r >= 0 && copies)
		r = fork_barrier(c, t, sp);
	if (r >= 0)
		r = op_emit(c, t, plan_head(PLAN_SPAWN, 0, 0, 0, child->plan), &flags, 1);
	if (r < 0)
		return r;
	child_begin(c, t, child, flags);
	r = inherit(c, t, child);
	if (r < 0)
		return r;
	if (!copies) {
		sp->shared = true;
		return space_join(sp, number);
	}
	sp->barrier++;
	sp->barrier_task = t->number;
	sp->barrier_ordinal = t->ordinal;
	r = space_copy(c, sp, child->space);
	return r < 0 ? r : space_join(c->spaces[child->space], number);
}

/* The last task of a space frees it. */
static void space_left(struct compile *c, uint32_t space)
{
	if (!lineage_space(c->lineage, space)->users)
		space_drop(c, space);
}

/* Whoever waited in vfork for t goes on. Returns it if it was killed meanwhile and ends now. */
static struct ctask *release_parent(struct compile *c, struct ctask *t)
{
	struct ctask *parent;

	if (t->vfork_parent == NONE)
		return NULL;
	parent = &c->tasks[t->vfork_parent];
	t->vfork_parent = NONE;
	parent->vfork_child = NONE;
	return parent->exit_deferred ? parent : NULL;
}

static int process_ended(struct compile *c, struct ctask *leader)
{
	struct ctask *parent;
	int r;

	if (leader->parent == NONE)
		return 0;
	parent = leader_of(c, &c->tasks[leader->parent]);
	r = grow_list(&parent->ended, parent->ended_count, &parent->ended_room);
	if (r >= 0)
		parent->ended[parent->ended_count++] = leader->number;
	return r;
}

static bool merges(const struct region *b, const struct region *n)
{
	return b->end == n->start && b->file == n->file && b->prot == n->prot &&
	       b->map_flags == n->map_flags && b->locked == n->locked &&
	       (!n->file || b->offset + (b->end - b->start) == n->offset);
}

/* Neighbours that agree in everything are one mapping of the kernel's. */
static uint64_t count_mappings(const struct space *model)
{
	const struct region *n = space_find(model, 0), *next;
	uint64_t count = 0;

	for (; n; n = next) {
		next = space_find(model, n->end);
		count += !next || !merges(n, next);
	}
	return count;
}

static int emit_exit(struct compile *c, struct ctask *t, uint64_t time)
{
	struct ctask *leader = leader_of(c, t);
	struct cspace *sp;
	int r;

	flight_end(c, t);
	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	r = op_open(c, t, sp, time, NULL, 0);
	if (r >= 0)
		r = op_emit(c, t, plan_head(PLAN_EXIT, 0, 0, 0, 0), NULL, 0);
	if (r < 0)
		return r;
	if (!t->number)
		c->counts.mappings = count_mappings(sp->model);
	t->exited = true;
	space_left(c, t->space);
	return --leader->threads ? 0 : process_ended(c, leader);
}

int task_exit(struct compile *c, struct ctask *t, uint64_t time)
{
	int r = 0;

	for (; r >= 0 && t && !t->exited; t = release_parent(c, t)) {
		/* Killed while it waits: the replayed one cannot end before its child lets it. */
		t->exit_deferred = t->vfork_child != NONE;
		if (t->exit_deferred)
			break;
		r = emit_exit(c, t, time);
	}
	return r;
}

static int emit_exec(struct compile *c, struct ctask *t, uint64_t time)
{
	struct ctask *parent;
	struct cspace *sp;
	int r;

	flight_end(c, t);
	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	r = op_open(c, t, sp, time, NULL, 0);
	/* The kernel ends the other threads: what they did comes first. */
	for (uint32_t i = 0; r >= 0 && i < sp->member_count; i++) {
		struct ctask *m = &c->tasks[sp->members[i]];

		if (m->process != t->process || m == t)
			continue;
		if (c->options->order != ORDER_SERIAL)
			r = emit_wait(c, t, m->number, m->ordinal);
		flight_end(c, m);
		m->exited = true;
	}
	t->exec_word = t->word_count;
	if (r >= 0)
		r = op_emit(c, t, plan_head(PLAN_EXEC, 0, 0, 0, 0), NULL, 0);
	leader_of(c, t)->threads = 1;
	parent = release_parent(c, t);
	return r < 0 || !parent ? r : task_exit(c, parent, time);
}

int task_exec(struct compile *c, struct ctask *t, const struct event *e)
{
	uint32_t old = t->space;
	struct cspace *sp;
	int r = 0;

	if (!t->exec_forced)
		r = emit_exec(c, t, e->time);
	t->exec_forced = false;
	if (r < 0)
		return r;
	t->space = lineage_task(c->lineage, t->number)->space;
	t->words[t->exec_word] |= (uint64_t)c->group_of[t->space] << 32;
	space_left(c, old);
	sp = space_get(c, t->space, &r);
	if (!sp)
		return r;
	r = space_join(sp, t->number);
	return r < 0 ? r : touch_pending(c, t);
}

/* The parent goes on beside its child. */
static void stop_waiting(struct ctask *t, struct ctask *child)
{
	t->words[t->spawn_word] &= ~(uint64_t)CLONE_VFORK;
	child->clone_flags &= ~(uint64_t)CLONE_VFORK;
	t->vfork_child = child->vfork_parent = NONE;
}

int task_resume(struct compile *c, struct ctask *t, const struct event *e)
{
	struct ctask *child;

	if (t->vfork_child == NONE || e->kind == EVENT_EXIT)
		return 0;
	child = &c->tasks[t->vfork_child];
	if (!lineage_task(c->lineage, child->number)->execing || child->vfork_child != NONE ||
	    leader_of(c, child)->threads > 1) {
		stop_waiting(t, child);
		return 0;
	}
	child->exec_forced = true;
	return emit_exec(c, child, e->time);
}

void task_finish(struct compile *c, struct ctask *t)
{
	if (t->exec_forced)
		t->words[t->exec_word] |= (uint64_t)c->group_of[t->space] << 32;
	if (t->vfork_child != NONE)
		stop_waiting(t, &c->tasks[t->vfork_child]);
}

static int wait_for(struct compile *c, struct ctask *t, struct cspace *sp,
                    const struct paired_call *call, uint32_t index)
{
	struct ctask *leader = leader_of(c, t);
	struct ctask *child = &c->tasks[leader->ended[index]];
	int r;

	leader->ended[index] = leader->ended[--leader->ended_count];
	child->waited = true;
	r = op_open(c, t, sp, call->enter, NULL, 0);
	if (r >= 0)
		r = op_emit(c, t, plan_head(PLAN_WAIT_CHILD, 0, 0, 0, child->plan), NULL, 0);
	if (r >= 0)
		r = map_set(&t->known, child->number, child->ordinal);
	c->counts.calls[call->call]++;
	return r;
}

/* The ended child with that id, or NONE. Ids of another PID namespace match nobody. */
static uint32_t ended_child(struct compile *c, const struct ctask *leader, uint64_t id)
{
	for (uint32_t i = leader->ended_count; i-- > 0;)
		if (c->tasks[leader->ended[i]].recorded_id == id)
			return i;
	return NONE;
}

/* Without an id that is known: the only child that it can have been. */
static int wait_for_any(struct compile *c, struct ctask *t, struct cspace *sp,
                        const struct paired_call *call, uint32_t index)
{
	const struct ctask *leader = leader_of(c, t);

	if (index == NONE && leader->ended_count == 1)
		index = 0;
	if (index != NONE)
		return wait_for(c, t, sp, call, index);
	c->counts.skipped++;
	return 0;
}

int call_wait4(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call)
{
	const struct ctask *leader = leader_of(c, t);
	uint64_t id = call->result;
	uint32_t index;

	if (result_is_error(id) || !id)
		return 0;
	index = ended_child(c, leader, id);
	/* Stopped children come back too; only one that ended can be waited for here. */
	if (index == NONE && lineage_find(c->lineage, (uint32_t)id) != LINEAGE_NONE)
		return 0;
	return wait_for_any(c, t, sp, call, index);
}

int call_waitid(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call)
{
	const struct ctask *leader = leader_of(c, t);
	uint32_t index = NONE;

	if (call->result || !leader->ended_count)
		return 0;
	if (call->has_enter && (call->arg[2] & WNOWAIT || !(call->arg[2] & WEXITED)))
		return 0;
	if (call->has_enter && call->arg[0] == P_PID)
		index = ended_child(c, leader, call->arg[1]);
	return wait_for_any(c, t, sp, call, index);
}
