/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that map, hand over and unmap each other's memory. They play acts, a
 * giver and a taker each (handover_acts.c), and then all call at once.
 *
 * Threads meet in memory, never in a recorded call, so a replay knows nothing
 * of it but the memory itself.
 */

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>

#include "tests/programs/handover.h"

static struct pair pairs[PAIRS];

static _Thread_local sigjmp_buf survive;
static _Thread_local volatile sig_atomic_t surviving;

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

/*
 * Everyone calls at once. The leader maps much populated memory, for which it
 * holds the lock of the space long. Meanwhile one wants to unmap what the others
 * touch, and then those want to map, each its own addresses, so that none needs
 * another's. All start when they can use a mapping that the leader made just before.
 *
 * RULE_FAULT_BEFORE_UNMAP: what is touched while another waits to unmap it came
 * first. A recording does not say which of these faults failed.
 */
struct crowd {
	_Atomic bool open, leaving, left;
	_Atomic unsigned done;
};

#define CROWD_PAGES 32 /* of each */

static struct crowd crowds[CROWDS];

static void wait_for(const _Atomic bool *flag)
{
	while (!atomic_load(flag))
		sched_yield();
}

static void lead_crowd(struct crowd *c, char *meeting, char *shared)
{
	char *big;

	map_pages(shared, ACTORS * CROWD_PAGES);
	map_pages(meeting, ACTORS);
	atomic_store(&c->open, true);
	big = map_at(NULL, 4 * BIG, PROT_READ | PROT_WRITE, MAP_POPULATE);
	unmap(big, 4 * BIG);
	while (atomic_load(&c->done) < ACTORS - 1)
		sched_yield();
	unmap(meeting, ACTORS * PAGE);
}

static void leave_crowd(struct crowd *c, char *meeting, char *shared)
{
	wait_for(&c->open);
	touch(meeting + PAGE, 1);
	atomic_store(&c->leaving, true);
	unmap(shared, ACTORS * CROWD_PAGES * PAGE);
	atomic_store(&c->left, true);
}

static void follow_crowd(struct crowd *c, char *meeting, char *shared, unsigned actor)
{
	wait_for(&c->open);
	touch(meeting + actor * PAGE, 1);
	wait_for(&c->leaving);
	for (int i = 0; i < CROWD_PAGES && !atomic_load(&c->left); i++)
		touch_if_there(shared + (actor * CROWD_PAGES + i) * PAGE);
	for (int i = 0; i < 6; i++) {
		char *at = map_pages(meeting + (1 + actor) * 32 * PAGE, 16);

		touch(at, 1);
		unmap(at, 16 * PAGE);
	}
}

static void crowd_round(unsigned actor, unsigned round)
{
	char *meeting = (char *)(ARENA - (round + 1) * ACT_SPAN), *shared = meeting + ROUND_SPAN;
	struct crowd *c = &crowds[round];

	if (actor == 0) {
		lead_crowd(c, meeting, shared);
		return;
	}
	if (actor == 1)
		leave_crowd(c, meeting, shared);
	else
		follow_crowd(c, meeting, shared, actor);
	atomic_fetch_add(&c->done, 1);
}

/* Givers on one CPU, takers on another: some schedulers would pack all on one. */
static void stand_apart(unsigned actor)
{
	cpu_set_t allowed, mine;
	int wanted, cpu = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) || CPU_COUNT(&allowed) < 2)
		return;
	for (wanted = (int)(actor % 2); !CPU_ISSET(cpu, &allowed) || wanted; cpu++)
		wanted -= CPU_ISSET(cpu, &allowed) != 0;
	CPU_ZERO(&mine);
	CPU_SET(cpu, &mine);
	if (sched_setaffinity(0, sizeof(mine), &mine))
		fail("sched_setaffinity");
}

static void *play(void *arg)
{
	unsigned actor = (unsigned)(uintptr_t)arg;
	struct turn t = { .pair = &pairs[actor / 2], .actor = actor };

	stand_apart(actor);
	t.work = map_pages(NULL, WORK_PAGES);
	for (t.act = 0; t.act < act_count; t.act++)
		for (t.round = 0; t.round < acts[t.act].rounds; t.round++)
			(actor % 2 ? acts[t.act].taker : acts[t.act].giver)(&t);
	for (t.round = 0; t.round < CROWDS; t.round++)
		crowd_round(actor, t.round);
	unmap(t.work, WORK_PAGES * PAGE);
	return NULL;
}

int main(void)
{
	struct sigaction action = { .sa_handler = survive_segv };
	pthread_t threads[ACTORS];

	if (sigaction(SIGSEGV, &action, NULL) < 0)
		fail("sigaction");
	for (uintptr_t i = 0; i < ACTORS; i++)
		if (pthread_create(&threads[i], NULL, play, (void *)i)) {
			fprintf(stderr, "handover: no thread\n");
			return 1;
		}
	for (int i = 0; i < ACTORS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
