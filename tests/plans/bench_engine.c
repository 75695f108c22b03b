/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The engine against loops in C that make the same calls at the same addresses.
 * Pairs are interleaved; prints the median of native time over replay time, which is the
 * engine's rate as a share of the native one, and a lower 95% bound of it.
 */

#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/command.h"
#include "common/cleanup.h"
#include "replay/execute.h"
#include "tests/plans/plan_build.h"

extern const struct command command_replay_space;

#define PAGE 4096ULL
#define BASE CLUSTER_BASE
#define RW (PROT_READ | PROT_WRITE)
#define FLAGS (MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE)
#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)
#define MAX_PAIRS 99

static struct build build;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t op_mmap(uint32_t t, uint64_t address, uint64_t length)
{
	return build_op(&build, t, plan_head(PLAN_MMAP, 0, 0, RW, 0), 3, address, length,
	                (uint64_t)FLAGS);
}

static uint64_t op_range(uint32_t t, enum plan_kind kind, uint64_t address, uint64_t length,
                         unsigned small)
{
	return build_op(&build, t, plan_head(kind, 0, 0, small, 0), 2, address, length);
}

static uint64_t op_touch(uint32_t t, uint64_t address)
{
	return build_op(&build, t, plan_head(PLAN_TOUCH, 0, 0, 1, 0), 1, address);
}

static void map_native(uint64_t address, uint64_t length)
{
	if (mmap((void *)address, length, RW, FLAGS, -1, 0) != (void *)address)
		abort();
}

/* page_fault1: map, write every page, unmap. */
#define FAULT_BYTES (128ULL << 20)
#define FAULT_ROUNDS 31

static void faults_plan(void)
{
	uint32_t t = build_root(&build);

	for (unsigned r = 0; r < FAULT_ROUNDS; r++) {
		op_mmap(t, BASE, FAULT_BYTES);
		for (uint64_t at = 0; at < FAULT_BYTES; at += PAGE)
			op_touch(t, BASE + at);
		op_range(t, PLAN_MUNMAP, BASE, FAULT_BYTES, 0);
	}
	build_op(&build, t, PLAN_EXIT, 0);
}

static void faults_native(void)
{
	for (unsigned r = 0; r < FAULT_ROUNDS; r++) {
		map_native(BASE, FAULT_BYTES);
		for (uint64_t at = 0; at < FAULT_BYTES; at += PAGE)
			*(volatile char *)(BASE + at) = 0;
		munmap((void *)BASE, FAULT_BYTES);
	}
}

#define STORM_LENGTH 0x7fb000ULL
#define STORM_CALLS 1000000

/* madvise over ranges of huge pages: one in 4000 calls finds one to cut, the others nothing. */
static void storm_plan(void)
{
	uint32_t t = build_root(&build);

	op_mmap(t, BASE, 8ULL << 20);
	op_range(t, PLAN_MADVISE, BASE, 8ULL << 20, MADV_HUGEPAGE);
	for (unsigned i = 0; i < STORM_CALLS; i++) {
		if (i % 4000 == 0)
			for (unsigned h = 0; h < 4; h++)
				op_touch(t, BASE + h * (2ULL << 20));
		op_range(t, PLAN_MADVISE, BASE, STORM_LENGTH, MADV_DONTNEED);
	}
	build_op(&build, t, PLAN_EXIT, 0);
}

static void storm_native(void)
{
	map_native(BASE, 8ULL << 20);
	madvise((void *)BASE, 8ULL << 20, MADV_HUGEPAGE);
	for (unsigned i = 0; i < STORM_CALLS; i++) {
		if (i % 4000 == 0)
			for (unsigned h = 0; h < 4; h++)
				*(volatile char *)(BASE + h * (2ULL << 20)) = 0;
		madvise((void *)BASE, STORM_LENGTH, MADV_DONTNEED);
	}
}

#define SMALL_ROUNDS 500000

static void small_plan(void)
{
	uint32_t t = build_root(&build);

	for (unsigned i = 0; i < SMALL_ROUNDS; i++) {
		op_mmap(t, BASE, 4 * PAGE);
		op_range(t, PLAN_MUNMAP, BASE, 4 * PAGE, 0);
	}
	build_op(&build, t, PLAN_EXIT, 0);
}

static void small_native(void)
{
	for (unsigned i = 0; i < SMALL_ROUNDS; i++) {
		map_native(BASE, 4 * PAGE);
		munmap((void *)BASE, 4 * PAGE);
	}
}

/* Two threads: one maps and the other touches and unmaps, 64 regions at a time. */
#define HAND_ROUNDS 2000
#define HAND_REGIONS 64
#define REGION (16 * PAGE)

static uint64_t region(unsigned round, unsigned i)
{
	return BASE + ((round & 1) * HAND_REGIONS + i) * REGION;
}

static void hand_plan(void)
{
	uint32_t a = build_root(&build), b = build_child(&build, a, THREAD);
	uint64_t mapped, freed[2] = { 0, 0 };

	build_op(&build, a, plan_head(PLAN_SPAWN, 0, 0, 0, b), 1, (uint64_t)THREAD);
	for (unsigned r = 0; r < HAND_ROUNDS; r++) {
		if (freed[r & 1])
			build_wait(&build, a, b, freed[r & 1]);
		for (unsigned i = 0; i < HAND_REGIONS; i++)
			mapped = op_mmap(a, region(r, i), REGION);
		build_wait(&build, b, a, mapped);
		for (unsigned i = 0; i < HAND_REGIONS; i++) {
			for (unsigned p = 0; p < 4; p++)
				op_touch(b, region(r, i) + p * PAGE);
			freed[r & 1] = op_range(b, PLAN_MUNMAP, region(r, i), REGION, 0);
		}
	}
	build_op(&build, b, PLAN_EXIT, 0);
	build_op(&build, a, PLAN_EXIT, 0);
}

static uint32_t hand_mapped __attribute__((aligned(64)));
static uint32_t hand_freed __attribute__((aligned(64)));

/* The same wait as the engine's, so that the pair differs in the dispatch only. */
static void wait_native(uint32_t *word, uint32_t value)
{
	uint32_t seen;

	for (unsigned i = 0; i < 200; i++) {
		if (__atomic_load_n(word, __ATOMIC_ACQUIRE) >= value)
			return;
		__builtin_ia32_pause();
	}
	while ((seen = __atomic_load_n(word, __ATOMIC_ACQUIRE)) < value)
		syscall(SYS_futex, word, FUTEX_WAIT, seen, NULL);
}

static void post_native(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, word, FUTEX_WAKE, 1);
}

static void *hand_other(void *unused)
{
	for (unsigned r = 0; r < HAND_ROUNDS; r++) {
		wait_native(&hand_mapped, r + 1);
		for (unsigned i = 0; i < HAND_REGIONS; i++) {
			for (unsigned p = 0; p < 4; p++)
				*(volatile char *)(region(r, i) + p * PAGE) = 0;
			munmap((void *)region(r, i), REGION);
		}
		post_native(&hand_freed, r + 1);
	}
	return NULL;
}

static void hand_native(void)
{
	pthread_t other;

	hand_mapped = hand_freed = 0;
	pthread_create(&other, NULL, hand_other, NULL);
	for (unsigned r = 0; r < HAND_ROUNDS; r++) {
		if (r >= 2)
			wait_native(&hand_freed, r - 1);
		for (unsigned i = 0; i < HAND_REGIONS; i++)
			map_native(region(r, i), REGION);
		post_native(&hand_mapped, r + 1);
	}
	pthread_join(other, NULL);
}

static const struct bench {
	const char *name;
	void (*plan)(void);
	void (*native)(void);
} benches[] = {
	{ "faults", faults_plan, faults_native },
	{ "storm", storm_plan, storm_native },
	{ "small", small_plan, small_native },
	{ "hand-over", hand_plan, hand_native },
};

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_usec * 1000;
}

/* In a process of its own, until it is reaped, as the replay is timed. */
static uint64_t time_native(const struct bench *b, uint64_t *cpu)
{
	struct rusage usage;
	int status, ready[2];
	char byte = 0;
	uint64_t from;
	pid_t pid;

	if (pipe(ready) < 0)
		abort();
	pid = fork();
	if (!pid) {
		if (read(ready[0], &byte, 1) == 1)
			b->native();
		_exit(0);
	}
	from = now();
	if (write(ready[1], &byte, 1) != 1 || wait4(pid, &status, 0, &usage) != pid || status)
		abort();
	from = now() - from;
	close(ready[0]);
	close(ready[1]);
	*cpu = timeval_ns(&usage.ru_utime) + timeval_ns(&usage.ru_stime);
	return from;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Of the median: the order statistic that the sign test leaves at 95%, for 15 pairs the fourth. */
static unsigned lower_rank(unsigned n)
{
	double sum = 0, term = 1;
	unsigned k;

	for (unsigned i = 0; i < n; i++)
		term /= 2;
	for (k = 0; k < n / 2; k++) {
		sum += term;
		if (sum > 0.05)
			break;
		term = term * (n - k) / (k + 1);
	}
	return k ? k - 1 : 0;
}

static int run_bench(const struct bench *b, unsigned pairs)
{
	const struct execute_options options = { .copies = 1 };
	struct execute_figures figures;
	struct plan plan;
	double ratio[MAX_PAIRS], cpu_ratio[MAX_PAIRS];
	int r = 0;

	b->plan();
	build_finish(&build, &plan);
	for (unsigned i = 0; i < pairs && r >= 0; i++) {
		uint64_t cpu, native = time_native(b, &cpu);

		r = execute_run(&plan, &options, &figures);
		if (figures.mismatches)
			r = -EBADMSG;
		ratio[i] = (double)native / (double)figures.elapsed;
		cpu_ratio[i] = (double)cpu / (double)(figures.user + figures.system);
	}
	qsort(ratio, pairs, sizeof(*ratio), compare);
	qsort(cpu_ratio, pairs, sizeof(*cpu_ratio), compare);
	if (r >= 0)
		printf("%-10s %8llu operations, rate %.3f of native, lower bound %.3f, by cpu time "
		       "%.3f, "
		       "%.1f plan bytes each\n",
		       b->name, (unsigned long long)figures.operations, ratio[pairs / 2],
		       ratio[lower_rank(pairs)], cpu_ratio[pairs / 2],
		       (double)plan.header->bytes / (double)figures.operations);
	fflush(stdout);
	build_free(&build, &plan);
	return r;
}

int main(int argc, char **argv)
{
	unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 15;

	if (argc > 1 && !strcmp(argv[1], "replay-space"))
		return command_replay_space.run(argc - 1, argv + 1);
	if (!pairs || pairs > MAX_PAIRS)
		pairs = 15;
	for (size_t i = 0; i < ARRAY_SIZE(benches); i++) {
		if (argc > 2 && strcmp(argv[2], benches[i].name))
			continue;
		if (run_bench(&benches[i], pairs) < 0)
			return 1;
	}
	return 0;
}
