/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads that map, hand over and unmap each other's memory. They play acts, a
 * giver and a taker each (handover_acts.c), and then all call at once.
 *
 * Threads meet in memory, never in a recorded call, so a replay knows nothing
 * of it but the memory itself.
 */

#include <pthread.h>
#include <signal.h>

#include "tests/programs/handover.h"

static struct pair pairs[PAIRS];

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
