/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The madvise storm of a threaded linker: ranges of 8 MiB that start at a huge
 * page, every page written to, dropped again with MADV_DONTNEED but for the
 * last five pages, which cuts the last huge page of each, and unmapped. With
 * --drop of whole huge pages nothing is cut.
 */

#include <errno.h>
#include <getopt.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096UL
#define HUGE_PAGE (2UL << 20)
#define RANGE (8UL << 20)
#define MAPPED (RANGE + HUGE_PAGE)
#define THREADS_MAX 64
#define STACK (64UL << 10) /* too small to become a huge page and be cut as well */

static unsigned long threads = 4, rounds = 8, drop = 0x7fb000;

static int one_range(void)
{
	char *at, *start;

	at = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	start = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	if (madvise(start, RANGE, MADV_HUGEPAGE) < 0)
		return -errno;
	for (size_t offset = 0; offset < RANGE; offset += PAGE)
		*(volatile char *)(start + offset) = 1;
	if (madvise(start, drop, MADV_DONTNEED) < 0)
		return -errno;
	return munmap(at, MAPPED) < 0 ? -errno : 0;
}

static void *storm(void *unused)
{
	(void)unused;
	for (unsigned long round = 0; round < rounds; round++) {
		int r = one_range();

		if (r < 0)
			return (void *)(intptr_t)r;
	}
	return NULL;
}

/* -EINVAL when an option is unknown or a number makes no sense. */
static int parse(int argc, char **argv)
{
	static const struct option options[] = {
		{ "threads", required_argument, NULL, 't' },
		{ "rounds", required_argument, NULL, 'r' },
		{ "drop", required_argument, NULL, 'd' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (c) {
		case 't':
			threads = strtoul(optarg, NULL, 10);
			break;
		case 'r':
			rounds = strtoul(optarg, NULL, 10);
			break;
		case 'd':
			drop = strtoul(optarg, NULL, 0);
			break;
		default:
			return -EINVAL;
		}
	}
	if (optind < argc || !threads || threads > THREADS_MAX || !rounds || drop > RANGE)
		return -EINVAL;
	return 0;
}

int main(int argc, char **argv)
{
	pthread_t started[THREADS_MAX];
	pthread_attr_t attributes;
	int status = 0;

	if (parse(argc, argv) < 0) {
		fprintf(stderr, "usage: storm [--threads=N] [--rounds=N] [--drop=BYTES]\n");
		return 2;
	}
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	for (unsigned long i = 0; i < threads; i++) {
		int r = pthread_create(&started[i], &attributes, storm, NULL);

		if (r) {
			fprintf(stderr, "storm: no thread: %s\n", strerror(r));
			return 1;
		}
	}
	for (unsigned long i = 0; i < threads; i++) {
		void *failed;

		pthread_join(started[i], &failed);
		if (failed) {
			fprintf(stderr, "storm: %s\n", strerror(-(int)(intptr_t)failed));
			status = 1;
		}
	}
	return status;
}
