/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Maps anonymous memory, writes to every page of it, unmaps it, again and
 * again: the shape of load that page allocation and freeing are measured with.
 */

#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB (1UL << 20)
#define HUGE_PAGE (2 * MIB)

struct settings {
	size_t size;
	unsigned long iterations;
	int advice; /* MADV_HUGEPAGE, MADV_NOHUGEPAGE, or MADV_NORMAL: none is given */
};

static void write_pages(char *from, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t at = 0; at < size; at += page)
		*(volatile char *)(from + at) = 1;
}

/* With --huge the range written to starts at a huge page, in a mapping one larger. */
static int one_iteration(const struct settings *s)
{
	bool huge = s->advice == MADV_HUGEPAGE;
	size_t mapped = s->size + (huge ? HUGE_PAGE : 0);
	char *at, *start;

	at = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return -errno;
	start = at;
	if (huge)
		start = (char *)(((uintptr_t)at + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1));
	if (s->advice != MADV_NORMAL && madvise(start, s->size, s->advice) < 0)
		return -errno;
	write_pages(start, s->size);
	return munmap(at, mapped) < 0 ? -errno : 0;
}

/* A number of MiB, or with K, M or G behind it. 0 if it is neither. */
static size_t parse_size(const char *text)
{
	char *end;
	size_t n = strtoul(text, &end, 10);

	switch (*end) {
	case '\0':
	case 'M':
		return n * MIB;
	case 'K':
		return n << 10;
	case 'G':
		return n << 30;
	default:
		return 0;
	}
}

static int parse(struct settings *s, int argc, char **argv)
{
	static const struct option options[] = {
		{ "iterations", required_argument, NULL, 'n' },
		{ "size", required_argument, NULL, 's' },
		{ "huge", no_argument, NULL, 'H' },
		{ "small", no_argument, NULL, 'S' },
		{ 0 },
	};
	int c;

	while ((c = getopt_long(argc, argv, "n:s:", options, NULL)) >= 0) {
		switch (c) {
		case 'n':
			s->iterations = strtoul(optarg, NULL, 10);
			break;
		case 's':
			s->size = parse_size(optarg);
			break;
		case 'H':
			s->advice = MADV_HUGEPAGE;
			break;
		case 'S':
			s->advice = MADV_NOHUGEPAGE;
			break;
		default:
			return -EINVAL;
		}
	}
	return optind < argc || !s->size || !s->iterations ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	struct settings s = { .size = 128 * MIB, .iterations = 1, .advice = MADV_NORMAL };

	if (parse(&s, argc, argv) < 0) {
		fprintf(stderr,
		        "usage: pagefault1 [--size=SIZE] [--iterations=N] [--huge | --small]\n");
		return 2;
	}
	for (unsigned long i = 0; i < s.iterations; i++) {
		int r = one_iteration(&s);

		if (r < 0) {
			fprintf(stderr, "pagefault1: %s\n", strerror(-r));
			return 1;
		}
	}
	return 0;
}
