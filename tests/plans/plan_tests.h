/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tests of execution share: one plan at a time, its operations, its run. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "capture/settings.h"
#include "common/command.h"
#include "replay/execute.h"
#include "tests/plans/plan_build.h"

extern const struct command command_replay_space;

#define PAGE 4096ULL
#define BASE CLUSTER_BASE
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

static struct build build;
static struct plan plan;
static struct execute_figures figures;

static inline uint64_t op_mmap(uint32_t task, uint64_t address, uint64_t length)
{
	return build_op(&build, task, plan_head(PLAN_MMAP, 0, 0, RW, 0), 3, address, length,
	                (uint64_t)(ANON | MAP_FIXED_NOREPLACE));
}

static inline uint64_t op_touch(uint32_t task, uint64_t address, bool write)
{
	return build_op(&build, task, plan_head(PLAN_TOUCH, 0, 0, write, 0), 1, address);
}

static inline uint64_t op_munmap(uint32_t task, uint64_t address, uint64_t length)
{
	return build_op(&build, task, plan_head(PLAN_MUNMAP, 0, 0, 0, 0), 2, address, length);
}

static inline uint64_t op_madvise(uint32_t task, uint64_t address, uint64_t length, unsigned advice,
                                  unsigned error)
{
	return build_op(&build, task, plan_head(PLAN_MADVISE, 0, error, advice, 0), 2, address,
	                length);
}

static inline void op_spawn(uint32_t task, uint32_t child, uint64_t flags)
{
	build_op(&build, task, plan_head(PLAN_SPAWN, 0, 0, 0, child), 1, flags);
}

static inline void op_simple(uint32_t task, enum plan_kind kind, uint32_t index)
{
	build_op(&build, task, plan_head(kind, 0, 0, 0, index), 0);
}

static inline int run_with(const struct execute_options *options)
{
	build_finish(&build, &plan);
	return execute_run(&plan, options, &figures);
}

static inline int run(void)
{
	return run_with(&(struct execute_options){ .copies = 1, .timeout = 10000000000ULL });
}

static inline int teardown(void **state)
{
	build_free(&build, &plan);
	plan = (struct plan){ .fd = -1 };
	/* No child, zombie or alive, is ever left behind. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	return 0;
}

/* AddressSanitizer's shadow lies where plans go. */
#ifdef __SANITIZE_ADDRESS__
#define PLAN_TESTS_CANNOT_RUN 1
#else
#define PLAN_TESTS_CANNOT_RUN 0
#endif

/* The program is its own replay-space, as mmtape is. */
#define PLAN_TESTS_MAIN(tests)                                                                     \
	int main(int argc, char **argv)                                                            \
	{                                                                                          \
		if (argc > 1 && !strcmp(argv[1], "replay-space"))                                  \
			return command_replay_space.run(argc - 1, argv + 1);                       \
		if (PLAN_TESTS_CANNOT_RUN) {                                                       \
			puts("a build with AddressSanitizer cannot replay");                       \
			return 77;                                                                 \
		}                                                                                  \
		return cmocka_run_group_tests(tests, NULL, NULL);                                  \
	}
