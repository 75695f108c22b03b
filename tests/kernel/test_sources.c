/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources that work through perf events, on this kernel, around threads that contend. */

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/sources.h"
#include "common/cleanup.h"

#define SKIPPED 77
#define THREADS 8
#define ROUNDS 5000
#define NOBODY 65534

static const struct source_options options = { .exclusive = true };

/* Mapping and unmapping takes mmap_lock for writing, touching may take it for reading. */
static void *map_and_unmap(void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 16 * page;

	for (int i = 0; i < ROUNDS; i++) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		               0);

		if (p == MAP_FAILED)
			return NULL;
		p[0] = p[size - 1] = 1;
		munmap(p, size);
	}
	return NULL;
}

static void contend(void)
{
	pthread_t threads[THREADS];

	for (size_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, NULL), 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static const struct lock_figure *figure(const struct lock_figures *f, const char *role)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].role, role) && f->items[i].side == ROLE_SIDE_NONE &&
		    !f->items[i].path)
			return &f->items[i];
	fail_msg("no figure for %s", role);
	return NULL;
}

static void run(const struct source *s, void *source, void (*load)(void), struct lock_figures *f)
{
	*f = (struct lock_figures){ 0 };
	assert_int_equal(s->start(source), 0);
	load();
	assert_int_equal(s->stop(source), 0);
	assert_int_equal(s->read(source, f), 0);
	assert_true(f->unresolved >= 0 && f->unresolved <= 1);
}

static void nothing(void)
{
}

static void test_contention(void **state)
{
	const struct source *s = source_find("contention");
	struct lock_figures busy, idle;
	void *source;

	assert_int_equal(s->open(&source, &options), 0);
	run(s, source, contend, &busy);
	run(s, source, nothing, &idle);
	s->close(source);
	assert_true(figure(&busy, "mmap-lock")->contentions > 0);
	assert_true(figure(&busy, "mmap-lock")->wait > 0);
	assert_true(figure(&busy, "mmap-lock")->acquisitions < 0);
	/* Every start counts from zero. */
	assert_true(figure(&idle, "mmap-lock")->wait < figure(&busy, "mmap-lock")->wait);
	assert_int_equal(busy.dropped, 0);
	lock_figures_clear(&busy);
	lock_figures_clear(&idle);
}

static void test_profile(void **state)
{
	const struct source *s = source_find("profile");
	struct lock_figures f;
	double sum = 0;
	void *source;

	assert_int_equal(s->open(&source, &options), 0);
	run(s, source, contend, &f);
	s->close(source);
	assert_true(figure(&f, "mmap-lock")->share > 0);
	for (size_t i = 0; i < f.count; i++)
		if (f.items[i].side == ROLE_SIDE_NONE && !f.items[i].path)
			sum += f.items[i].share;
	assert_true(sum <= 1);
	assert_non_null(strstr(f.note, "samples by"));
	lock_figures_clear(&f);
}

/* Closed in the midst of counting, and opened again. */
static void test_close_while_counting(void **state)
{
	static const char *const names[] = { "contention", "profile" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct source *s = source_find(names[i]);
		void *source;

		for (int round = 0; round < 2; round++) {
			assert_int_equal(s->open(&source, &options), 0);
			assert_int_equal(s->start(source), 0);
			s->close(source);
		}
	}
}

static void test_needs_privilege(void **state)
{
	static const char *const names[] = { "contention", "profile", "lock_stat" };
	int status;
	pid_t child = fork();

	if (child == 0) {
		int bad = setgid(NOBODY) < 0 || setuid(NOBODY) < 0;

		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			char why[256] = "";
			int r = source_find(names[i])->check(&options, why, sizeof(why));

			bad |= r >= 0 || !strstr(why, ": ");
		}
		_exit(bad);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int can_run(const char *name)
{
	char why[256] = "";

	if (source_find(name)->check(&options, why, sizeof(why)) >= 0)
		return 1;
	printf("skipped: %s: %s\n", name, why);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_contention),
		cmocka_unit_test(test_profile),
		cmocka_unit_test(test_close_while_counting),
		cmocka_unit_test(test_needs_privilege),
	};

	if (geteuid() != 0) {
		printf("skipped: perf events of the whole machine need root\n");
		return SKIPPED;
	}
	if (!can_run("contention") || !can_run("profile"))
		return SKIPPED;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
