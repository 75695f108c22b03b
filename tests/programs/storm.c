/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The madvise storm of a threaded linker: ranges of 8 MiB that start at a huge
 * page, every page written to, all but the last five pages dropped again with
 * MADV_DONTNEED, which cuts the last huge page of each.
 */

#include <getopt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define RANGE (8UL << 20)
#define DROPPED 0x7fb000UL
#define THREADS_MAX 64

static unsigned long rounds = 8;

static char *map_aligned(void)
{
	char *at = mmap(NULL, RANGE + HUGE_PAGE, PROT_READ | PROT_WRITE,
	                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	return (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
}

/* Returns its argument when something failed. */
static void *storm(void *arg)
{
	char *at = map_aligned();

	if (!at || madvise(at, RANGE, MADV_HUGEPAGE) < 0)
		return arg;
	for (unsigned long round = 0; round < rounds; round++) {
		for (size_t offset = 0; offset < RANGE; offset += PAGE)
			*(volatile char *)(at + offset) = 1;
		if (madvise(at, DROPPED, MADV_DONTNEED) < 0)
			return arg;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ 0 },
	};
	unsigned long threads = 4;
	pthread_t started[THREADS_MAX];
	int c, status = 0;

	while ((c = getopt_long(argc, argv, "t:r:", options, NULL)) >= 0) {
		if (c == 't')
			threads = strtoul(optarg, NULL, 10);
		else if (c == 'r')
			rounds = strtoul(optarg, NULL, 10);
		else
			threads = 0;
	}
	if (optind < argc || !threads || threads > THREADS_MAX || !rounds) {
		fprintf(stderr, "usage: storm [--threads=N] [--rounds=N]\n");
		return 2;
	}
	for (unsigned long i = 0; i < threads; i++)
		if (pthread_create(&started[i], NULL, storm, &status)) {
			perror("pthread_create");
			return 1;
		}
	for (unsigned long i = 0; i < threads; i++) {
		void *failed;

		pthread_join(started[i], &failed);
		if (failed)
			status = 1;
	}
	if (status)
		fprintf(stderr, "storm: a thread could not map or advise\n");
	return status;
}
