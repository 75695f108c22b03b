/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that map, hand over and unmap each other's memory. Every act is there
 * for one rule of the replay order (replay/plan.h): it is played by a giver and
 * a taker, and the one that must come second in a replay has nothing to do
 * before, the other a lot. So a replay that leaves the rule out has them the
 * wrong way round: a touch of memory that is not there, a mapping over memory
 * that still is, a drop of memory that is locked.
 *
 * Threads meet in memory, never in a recorded call, so a replay knows nothing
 * of it but the memory itself.
 */

#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define PAIRS 3
#define ROUNDS 16
#define BIG_ROUNDS 6 /* where much memory is unmapped */
#define ACT_SPAN (1UL << 30) /* of addresses, per pair and act */
#define ROUND_SPAN (1UL << 26)
#define ARENA 0x100000000000UL /* far below where kernels choose */
#define BIG (8UL << 20) /* unmapping it takes long enough for others to act meanwhile */
#define WORK_PAGES 2048
#define CONTENTS_PAGES 96
#define LOCKED_PAGES 2

/* Counts up; the other side waits for as many as it has seen plus one. */
struct signal_count {
	_Atomic unsigned posted;
	unsigned seen;
};

struct pair {
	struct signal_count given, taken;
};

/* One side of one round. */
struct turn {
	struct pair *pair;
	unsigned actor, act, round;
	char *work; /* memory of its own, touched to take time */
	size_t worked; /* pages */
};

static struct pair pairs[PAIRS];
static _Thread_local sigjmp_buf survive;
static _Thread_local volatile sig_atomic_t surviving;

static void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static void post(struct signal_count *c)
{
	atomic_fetch_add(&c->posted, 1);
}

static void await(struct signal_count *c)
{
	c->seen++;
	for (unsigned looks = 0; atomic_load(&c->posted) < c->seen; looks++)
		if (looks > 200)
			sched_yield();
}

static char *map_at(char *where, size_t size, int prot, int more)
{
	char *at = mmap(where, size, prot, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);

	if (at == MAP_FAILED)
		fail("mmap");
	if (where && at != where) {
		fprintf(stderr, "handover: %p was not free\n", (void *)where);
		_exit(1);
	}
	return at;
}

static char *map_pages(char *where, size_t pages)
{
	return map_at(where, pages * PAGE, PROT_READ | PROT_WRITE, 0);
}

static void unmap(char *at, size_t size)
{
	if (munmap(at, size) < 0)
		fail("munmap");
}

static void drop(char *at, size_t pages)
{
	if (madvise(at, pages * PAGE, MADV_DONTNEED) < 0)
		fail("madvise");
}

static void lock(char *at)
{
	if (mlock(at, LOCKED_PAGES * PAGE) < 0)
		fail("mlock");
}

static void touch(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(at + i * PAGE) = 1;
}

/* For memory that another thread may have unmapped by now. */
static void touch_if_there(char *at)
{
	if (!sigsetjmp(survive, 1)) {
		surviving = 1;
		touch(at, 1);
	}
	surviving = 0;
}

static void survive_segv(int sig)
{
	if (surviving)
		siglongjmp(survive, 1);
	signal(sig, SIG_DFL); /* a mistake of this program: die of it */
}

static void work(struct turn *t, size_t pages)
{
	if (t->worked + pages > WORK_PAGES) {
		drop(t->work, WORK_PAGES);
		t->worked = 0;
	}
	touch(t->work + t->worked * PAGE, pages);
	t->worked += pages;
}

/* An address that only this round of this act of this pair uses. */
static char *place(const struct turn *t, size_t pages)
{
	return (char *)(ARENA + (t->actor / 2 * 16UL + t->act) * ACT_SPAN + t->round * ROUND_SPAN +
	                pages * PAGE);
}

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

/* RULE_FAULT_BEFORE_UNMAP: touched after some work, while it is being unmapped. */
static void give_and_unmap(struct turn *t)
{
	map_at(place(t, 0), 2 * BIG, PROT_READ | PROT_WRITE, MAP_POPULATE);
	map_pages(place(t, 2 * BIG / PAGE), 1);
	map_pages(place(t, 4 * BIG / PAGE), 1);
	post(&t->pair->given);
	unmap(place(t, 0), 2 * BIG + PAGE);
	await(&t->pair->taken);
	unmap(place(t, 4 * BIG / PAGE), PAGE);
}

static void take_while_it_goes(struct turn *t)
{
	await(&t->pair->given);
	touch(place(t, 4 * BIG / PAGE), 1);
	work(t, 12);
	touch_if_there(place(t, 2 * BIG / PAGE));
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

static const struct act {
	void (*giver)(struct turn *t);
	void (*taker)(struct turn *t);
	unsigned rounds;
} acts[] = {
	{ .giver = give_mapping, .taker = take_mapping, .rounds = ROUNDS },
	{ .giver = give_until_used, .taker = take_and_use, .rounds = ROUNDS },
	{ .giver = give_twice, .taker = take_and_unmap, .rounds = ROUNDS },
	{ .giver = give_while_unmapping, .taker = take_while_unmapping, .rounds = BIG_ROUNDS },
	{ .giver = give_and_unmap, .taker = take_while_it_goes, .rounds = BIG_ROUNDS },
	{ .giver = give_access, .taker = take_access, .rounds = ROUNDS },
	{ .giver = give_and_drop, .taker = take_again, .rounds = ROUNDS },
	{ .giver = give_to_child, .taker = take_in_child, .rounds = ROUNDS },
	{ .giver = give_to_move, .taker = take_and_move, .rounds = ROUNDS },
};

#define ACTS (sizeof(acts) / sizeof(acts[0]))

/*
 * Everyone calls at once: the leader unmaps much, and while it does, all others
 * want to map. They start when they can use a mapping that the leader has made.
 */
static _Atomic unsigned crowd_open, crowd_done;

static void crowd_round(unsigned actor, unsigned round)
{
	char *meeting = (char *)(ARENA - (round + 1) * ACT_SPAN), *big;

	if (!actor) {
		big = map_at(NULL, BIG, PROT_READ | PROT_WRITE, MAP_POPULATE);
		map_pages(meeting, 2 * PAIRS);
		atomic_store(&crowd_open, round + 1);
		unmap(big, BIG);
		while (atomic_load(&crowd_done) < (round + 1) * (2 * PAIRS - 1))
			sched_yield();
		unmap(meeting, 2 * PAIRS * PAGE);
		return;
	}
	while (atomic_load(&crowd_open) <= round)
		sched_yield();
	touch(meeting + actor * PAGE, 1);
	for (int i = 0; i < 6; i++) {
		char *at = map_pages(NULL, 16);

		touch(at, 1);
		unmap(at, 16 * PAGE);
	}
	atomic_fetch_add(&crowd_done, 1);
}

static void *play(void *arg)
{
	unsigned actor = (unsigned)(uintptr_t)arg;
	struct turn t = { .pair = &pairs[actor / 2], .actor = actor };

	t.work = map_pages(NULL, WORK_PAGES);
	for (t.act = 0; t.act < ACTS; t.act++)
		for (t.round = 0; t.round < acts[t.act].rounds; t.round++)
			(actor % 2 ? acts[t.act].taker : acts[t.act].giver)(&t);
	for (t.round = 0; t.round < BIG_ROUNDS; t.round++)
		crowd_round(actor, t.round);
	unmap(t.work, WORK_PAGES * PAGE);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = survive_segv };
	pthread_t threads[2 * PAIRS];

	if (sigaction(SIGSEGV, &action, NULL) < 0)
		fail("sigaction");
	for (uintptr_t i = 0; i < 2 * PAIRS; i++)
		if (pthread_create(&threads[i], NULL, play, (void *)i)) {
			fprintf(stderr, "handover: no thread\n");
			return 1;
		}
	for (int i = 0; i < 2 * PAIRS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
