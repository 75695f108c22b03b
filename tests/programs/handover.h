/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the acts of handover and its stage share. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define PAIRS 3
#define ACTORS (2 * PAIRS)
#define CROWDS 8
#define ROUNDS 16
#define BIG_ROUNDS 6 /* where much memory is unmapped */
#define ACT_SPAN (1UL << 30) /* of addresses, per pair and act */
#define ROUND_SPAN (1UL << 26)
#define ARENA 0x100000000000UL /* far below where kernels choose */
#define BIG (4UL << 20) /* unmapping it takes long enough for others to act meanwhile */
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

/* An act: what each side does in a round. */
struct act {
	void (*giver)(struct turn *t);
	void (*taker)(struct turn *t);
	unsigned rounds;
};

extern const struct act acts[];
extern const unsigned act_count;

static inline void fail(const char *what)
{
	perror(what);
	_exit(1);
}

static inline void post(struct signal_count *c)
{
	atomic_fetch_add(&c->posted, 1);
}

static inline bool is_posted(const struct signal_count *c)
{
	return atomic_load(&c->posted) > c->seen;
}

static inline void await(struct signal_count *c)
{
	c->seen++;
	for (unsigned looks = 0; atomic_load(&c->posted) < c->seen; looks++)
		if (looks > 200)
			sched_yield();
}

static inline char *map_at(char *where, size_t size, int prot, int more)
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

static inline char *map_pages(char *where, size_t pages)
{
	return map_at(where, pages * PAGE, PROT_READ | PROT_WRITE, 0);
}

static inline void unmap(char *at, size_t size)
{
	if (munmap(at, size) < 0)
		fail("munmap");
}

static inline void drop(char *at, size_t pages)
{
	if (madvise(at, pages * PAGE, MADV_DONTNEED) < 0)
		fail("madvise");
}

static inline void lock(char *at)
{
	if (mlock(at, LOCKED_PAGES * PAGE) < 0)
		fail("mlock");
}

static inline void touch(char *at, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(at + i * PAGE) = 1;
}

static inline void work(struct turn *t, size_t pages)
{
	if (t->worked + pages > WORK_PAGES) {
		drop(t->work, WORK_PAGES);
		t->worked = 0;
	}
	touch(t->work + t->worked * PAGE, pages);
	t->worked += pages;
}

/* An address that only this round of this act of this pair uses. */
static inline char *place(const struct turn *t, size_t pages)
{
	return (char *)(ARENA + (t->actor / 2 * 16UL + t->act) * ACT_SPAN + t->round * ROUND_SPAN +
	                pages * PAGE);
}
