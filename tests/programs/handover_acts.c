/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The acts of handover. Each is there for one rule of the replay order
 * (replay/plan.h): the side that must come second in a replay has nothing to do
 * before, the other a lot. So a replay that leaves the rule out has them the
 * wrong way round: a touch of memory that is not there, a mapping over memory
 * that still is, a drop of memory that is locked.
 */

#include <sys/wait.h>

#include "tests/programs/handover.h"

/* RULE_USE_AFTER_MAP: mapped late, used as soon as it is there. */
static void give_mapping(struct turn *t)
{
	work(t, 32);
	map_pages(place(t, 0), 4);
	post(&t->pair->given);
	await(&t->pair->taken);
	unmap(place(t, 0), 4 * PAGE);
}

static void take_mapping(struct turn *t)
{
	await(&t->pair->given);
	touch(place(t, 0), 4);
	post(&t->pair->taken);
}

/* RULE_UNMAP_AFTER_USE: used late, unmapped as soon as it was used. */
static void give_until_used(struct turn *t)
{
	map_pages(place(t, 0), 4);
	post(&t->pair->given);
	await(&t->pair->taken);
	unmap(place(t, 0), 4 * PAGE);
}

static void take_and_use(struct turn *t)
{
	await(&t->pair->given);
	work(t, 32);
	touch(place(t, 0), 4);
	post(&t->pair->taken);
}

/* RULE_MAP_AFTER_UNMAP: unmapped late by the taker, then mapped again at once. */
static void give_twice(struct turn *t)
{
	map_pages(place(t, 0), 8);
	post(&t->pair->given);
	await(&t->pair->taken);
	map_pages(place(t, 0), 8);
	unmap(place(t, 0), 8 * PAGE);
}

static void take_and_unmap(struct turn *t)
{
	await(&t->pair->given);
	work(t, 32);
	touch(place(t, 0), 2);
	unmap(place(t, 0), 8 * PAGE);
	post(&t->pair->taken);
}

/* The same where the calls overlap: the kernel gives out what is being unmapped. */
static void give_while_unmapping(struct turn *t)
{
	char *at = map_at(NULL, BIG, PROT_READ | PROT_WRITE, MAP_POPULATE);

	post(&t->pair->given);
	unmap(at, BIG);
	await(&t->pair->taken);
}

static void take_while_unmapping(struct turn *t)
{
	char *at;

	await(&t->pair->given);
	work(t, 4);
	at = map_at(NULL, BIG, PROT_READ | PROT_WRITE, 0);
	touch(at, 2);
	unmap(at, BIG);
	post(&t->pair->taken);
}

/* RULE_PROTECT: made accessible late, used at once; used late, made inaccessible at once. */
static void give_access(struct turn *t)
{
	map_at(place(t, 0), 4 * PAGE, PROT_NONE, 0);
	work(t, 64);
	if (mprotect(place(t, 0), 4 * PAGE, PROT_READ | PROT_WRITE) < 0)
		fail("mprotect");
	post(&t->pair->given);
	await(&t->pair->taken);
	if (mprotect(place(t, 0), 4 * PAGE, PROT_NONE) < 0)
		fail("mprotect");
	unmap(place(t, 0), 4 * PAGE);
}

static void take_access(struct turn *t)
{
	await(&t->pair->given);
	touch(place(t, 0), 1);
	work(t, 32);
	touch(place(t, 1), 3);
	post(&t->pair->taken);
}

/*
 * RULE_CONTENTS: dropped between two rounds of touches, each of which faults.
 * A locked page cannot be dropped, so it is also dropped as soon as it is
 * unlocked, which is late, and locked as soon as it was dropped.
 */
static void give_and_drop(struct turn *t)
{
	char *at = place(t, 0), *locked = place(t, CONTENTS_PAGES);

	map_pages(at, CONTENTS_PAGES + LOCKED_PAGES);
	lock(locked);
	post(&t->pair->given);
	await(&t->pair->taken);
	drop(at, CONTENTS_PAGES + LOCKED_PAGES);
	work(t, 32);
	drop(locked, LOCKED_PAGES);
	post(&t->pair->given);
	await(&t->pair->taken);
	unmap(at, (CONTENTS_PAGES + LOCKED_PAGES) * PAGE);
}

static void take_again(struct turn *t)
{
	await(&t->pair->given);
	touch(place(t, 0), CONTENTS_PAGES);
	if (munlock(place(t, CONTENTS_PAGES), LOCKED_PAGES * PAGE) < 0)
		fail("munlock");
	post(&t->pair->taken);
	await(&t->pair->given);
	lock(place(t, CONTENTS_PAGES));
	touch(place(t, 0), CONTENTS_PAGES);
	post(&t->pair->taken);
}

/* RULE_FORK: the child needs what was mapped late before, and what is unmapped at once after. */
static void give_to_child(struct turn *t)
{
	map_pages(place(t, 0), 2);
	work(t, 64);
	map_pages(place(t, 16), 2);
	post(&t->pair->given);
	await(&t->pair->taken);
	unmap(place(t, 0), 2 * PAGE);
	unmap(place(t, 16), 2 * PAGE);
}

static void take_in_child(struct turn *t)
{
	pid_t child;
	int status;

	await(&t->pair->given);
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		touch(place(t, 0), 2);
		touch(place(t, 16), 2);
		_exit(0);
	}
	post(&t->pair->taken);
	if (waitpid(child, &status, 0) != child || status) {
		fprintf(stderr, "handover: a child failed\n");
		_exit(1);
	}
}

/* Moved by the taker, used by the giver where it is then. */
static void give_to_move(struct turn *t)
{
	map_pages(place(t, 0), 4);
	touch(place(t, 0), 2);
	post(&t->pair->given);
	await(&t->pair->taken);
	touch(place(t, 66), 2);
	unmap(place(t, 64), 4 * PAGE);
}

static void take_and_move(struct turn *t)
{
	await(&t->pair->given);
	work(t, 32);
	if (mremap(place(t, 0), 4 * PAGE, 4 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, place(t, 64)) ==
	    MAP_FAILED)
		fail("mremap");
	post(&t->pair->taken);
}

const struct act acts[] = {
	{ .giver = give_mapping, .taker = take_mapping, .rounds = ROUNDS },
	{ .giver = give_until_used, .taker = take_and_use, .rounds = ROUNDS },
	{ .giver = give_twice, .taker = take_and_unmap, .rounds = ROUNDS },
	{ .giver = give_while_unmapping, .taker = take_while_unmapping, .rounds = BIG_ROUNDS },
	{ .giver = give_access, .taker = take_access, .rounds = ROUNDS },
	{ .giver = give_and_drop, .taker = take_again, .rounds = ROUNDS },
	{ .giver = give_to_child, .taker = take_in_child, .rounds = ROUNDS },
	{ .giver = give_to_move, .taker = take_and_move, .rounds = ROUNDS },
};

const unsigned act_count = sizeof(acts) / sizeof(acts[0]);
