/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hand-written loops of memory-management calls. A capture of this program is
 * what the benchmark replays; the time that it prints of a loop is what the replay is
 * held against. Addresses are fixed, so that both ask for the same ones, and
 * whether pages are huge is asked for here, so that no setting matters.
 */

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096UL
#define MIB (1UL << 20)
#define HUGE_PAGE (2 * MIB)
#define ARENA ((char *)0x100000000000UL) /* far from everything; a multiple of 1 GiB */

#define FAULT_BYTES (128 * MIB)
#define STORM_BYTES (4 * HUGE_PAGE) /* a thread stack of ld.lld, had it been aligned */
#define STORM_PIECE (2 * PAGE)
#define SMALL_LIVE 4096UL
#define SMALL_SLOTS 16384UL
#define SMALL_STRIDE (64 * PAGE)
#define HANDOVER_PAGES 16UL

#define check(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			fail(#condition);                                                          \
	} while (0)

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "native: %s: %s\n", what, strerror(errno));
	exit(1);
}

/*
 * Not libc's wrappers: on some processors (seen on a Zen 4) a call and return around
 * the system call makes the kernel's own returns a third slower, which would
 * flatter the replay.
 */
static inline long call6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	if (result < 0 && result >= -4095)
		errno = (int)-result;
	return result;
}

static inline void map_at(char *at, size_t length)
{
	check(call6(SYS_mmap, (long)at, (long)length, PROT_READ | PROT_WRITE,
	            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == (long)at);
}

static inline void unmap(char *at, size_t length)
{
	check(!call6(SYS_munmap, (long)at, (long)length, 0, 0, 0, 0));
}

static inline void advise(char *at, size_t length, int advice)
{
	check(!call6(SYS_madvise, (long)at, (long)length, advice, 0, 0, 0));
}

/* Zeros, as page_fault1 of will-it-scale writes, and a replay with --fill zero. */
static void write_pages(char *from, size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		*(volatile char *)(from + i * PAGE) = 0;
}

/* Every page of a large mapping, as in page_fault1 of will-it-scale. */
static uint64_t load_faults(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		map_at(ARENA, FAULT_BYTES);
		advise(ARENA, FAULT_BYTES, MADV_NOHUGEPAGE);
		write_pages(ARENA, FAULT_BYTES / PAGE);
		unmap(ARENA, FAULT_BYTES);
	}
	return rounds * (3 + FAULT_BYTES / PAGE);
}

/*
 * Huge pages, given back piece by piece: each piece is a partial unmap of one. They
 * are mapped anew each time, since what was cut is filled with small pages.
 */
static uint64_t load_storm(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		map_at(ARENA, STORM_BYTES);
		advise(ARENA, STORM_BYTES, MADV_HUGEPAGE);
		for (size_t at = 0; at < STORM_BYTES; at += HUGE_PAGE)
			write_pages(ARENA + at, 1);
		for (size_t at = 0; at < STORM_BYTES; at += STORM_PIECE)
			advise(ARENA + at, STORM_PIECE, MADV_DONTNEED);
		unmap(ARENA, STORM_BYTES);
	}
	return rounds * (3 + STORM_BYTES / HUGE_PAGE + STORM_BYTES / STORM_PIECE);
}

/* Region i: neighbours in time are far apart in space. */
static char *small_at(unsigned long i)
{
	return ARENA + i * 6151 % SMALL_SLOTS * SMALL_STRIDE;
}

static size_t small_length(unsigned long i)
{
	return (1 + i * 7 % 16) * PAGE;
}

/*
 * Regions of 1 to 16 pages, SMALL_LIVE of them at any time, none touched: calls alone.
 * With only a few regions at one place the speed would hang on how the kernel's tree
 * of mappings happens to be cut there (one mapping more or less elsewhere changes it
 * by half); these come and go all over the tree.
 */
static uint64_t load_small(unsigned long rounds)
{
	for (unsigned long i = 0; i < rounds; i++) {
		map_at(small_at(i), small_length(i));
		if (i >= SMALL_LIVE)
			unmap(small_at(i - SMALL_LIVE), small_length(i - SMALL_LIVE));
	}
	return 2 * rounds - (rounds < SMALL_LIVE ? rounds : SMALL_LIVE);
}

/* How far a thread has come; others look at it a while, then sleep on it. */
struct progress {
	_Alignas(64) _Atomic uint32_t value;
	_Atomic uint32_t waiters;
};

static struct progress maker, taker;
static unsigned spin;

static void progress_set(struct progress *p, uint32_t value)
{
	atomic_store(&p->value, value);
	if (atomic_load(&p->waiters))
		call6(SYS_futex, (long)&p->value, FUTEX_WAKE_PRIVATE, INT32_MAX, 0, 0, 0);
}

static void progress_await(struct progress *p, uint32_t value)
{
	uint32_t seen;

	for (unsigned i = 0; i < spin; i++) {
		if (atomic_load(&p->value) >= value)
			return;
		__builtin_ia32_pause();
	}
	atomic_fetch_add(&p->waiters, 1);
	while ((seen = atomic_load(&p->value)) < value)
		call6(SYS_futex, (long)&p->value, FUTEX_WAIT_PRIVATE, seen, 0, 0, 0);
	atomic_fetch_sub(&p->waiters, 1);
}

/* The other half of the pages, and the end of the mapping. */
static void *handover_take(void *rounds)
{
	for (uint32_t i = 0; i < *(unsigned long *)rounds; i++) {
		progress_await(&maker, 2 * i + 1);
		write_pages(ARENA + HANDOVER_PAGES / 2 * PAGE, HANDOVER_PAGES / 2);
		progress_await(&maker, 2 * i + 2);
		unmap(ARENA, HANDOVER_PAGES * PAGE);
		progress_set(&taker, i + 1);
	}
	return NULL;
}

/*
 * One thread maps and writes, the other writes and unmaps, and the address is
 * used again. The waits are those that a plan has: a use after its map, the
 * unmap after all uses, the next map after the unmap.
 */
static uint64_t load_handover(unsigned long rounds)
{
	pthread_t other;

	spin = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2000 : 0;
	errno = pthread_create(&other, NULL, handover_take, &rounds);
	check(!errno);
	for (uint32_t i = 0; i < rounds; i++) {
		progress_await(&taker, i);
		map_at(ARENA, HANDOVER_PAGES * PAGE);
		progress_set(&maker, 2 * i + 1);
		write_pages(ARENA, HANDOVER_PAGES / 2);
		progress_set(&maker, 2 * i + 2);
	}
	pthread_join(other, NULL);
	return rounds * (2 + HANDOVER_PAGES);
}

struct load {
	const char *name;
	uint64_t (*run)(unsigned long rounds); /* returns how many calls and touches it made */
};

static const struct load loads[] = {
	{ "faults", load_faults },
	{ "storm", load_storm },
	{ "small", load_small },
	{ "handover", load_handover },
};

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

static uint64_t now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* What the process that runs a load leaves to the one that times it. */
struct started {
	uint64_t at, cpu; /* ns, when the load began */
	uint64_t operations;
};

static _Noreturn void run_child(const struct load *load, unsigned long rounds,
                                struct started *shared)
{
	shared->cpu = now(CLOCK_PROCESS_CPUTIME_ID);
	shared->at = now(CLOCK_MONOTONIC);
	shared->operations = load->run(rounds);
	_exit(0);
}

/*
 * From the first operation to the end of the process, whose last mappings the exit
 * removes: what a replay counts.
 */
static void run_timed(const struct load *load, unsigned long rounds)
{
	struct started *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
	                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct rusage used;
	int status;
	pid_t child;
	uint64_t end;

	check(shared != MAP_FAILED);
	child = fork();
	check(child >= 0);
	if (!child)
		run_child(load, rounds, shared);
	check(wait4(child, &status, 0, &used) == child);
	end = now(CLOCK_MONOTONIC);
	if (status)
		exit(1);
	printf("{\"operations\": %ju, \"ns\": %ju, \"cpu_ns\": %ju}\n",
	       (uintmax_t)shared->operations, (uintmax_t)(end - shared->at),
	       (uintmax_t)(timeval_ns(&used.ru_utime) + timeval_ns(&used.ru_stime) - shared->cpu));
}

int main(int argc, char **argv)
{
	bool timed = argc > 1 && !strcmp(argv[1], "--timed");
	char **words = argv + timed;
	unsigned long rounds = argc == 3 + timed ? strtoul(words[2], NULL, 10) : 0;

	for (size_t i = 0; rounds && i < sizeof(loads) / sizeof(loads[0]); i++) {
		if (strcmp(words[1], loads[i].name))
			continue;
		if (timed)
			run_timed(&loads[i], rounds);
		else
			loads[i].run(rounds);
		return 0;
	}
	fprintf(stderr, "usage: native [--timed] (faults|storm|small|handover) ROUNDS\n");
	return 2;
}
