/* SPDX-License-Identifier: GPL-2.0-or-later */
/* This kernel's real THP settings are changed and always come back, after SIGKILL too. */

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/counters.h"
#include "capture/journal.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"
#define SKIPPED 77

static const char *const watched[] = {
	THP_DIR "enabled",
	THP_DIR "hugepages-64kB/enabled",
	THP_DIR "khugepaged/pages_to_scan",
	THP_DIR "khugepaged/scan_sleep_millisecs",
	"/proc/sys/kernel/numa_balancing",
};

struct snapshot {
	char text[ARRAY_SIZE(watched)][128];
};

static struct snapshot take(void)
{
	struct snapshot s = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		if (sysfile_read_choice(watched[i], s.text[i], sizeof(s.text[i])) < 0)
			s.text[i][0] = '\0';
	return s;
}

static void assert_same(const struct snapshot *before)
{
	struct snapshot now = take();

	for (size_t i = 0; i < ARRAY_SIZE(watched); i++)
		assert_string_equal(now.text[i], before->text[i]);
}

static const char *another_mode(const struct snapshot *s)
{
	return strcmp(s->text[0], "never") ? "never" : "madvise";
}

static int change_all(struct settings_change *c, const struct snapshot *before)
{
	int r = settings_change_thp(c, another_mode(before));

	if (r >= 0 && before->text[1][0])
		r = settings_change_mthp(c, strcmp(before->text[1], "madvise") ? "64k=madvise"
		                                                               : "64k=never");
	return r < 0 ? r : settings_change_quiet(c);
}

static void test_restored_by_free(void **state)
{
	struct snapshot before = take(), during;
	struct settings_change *c;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(change_all(c, &before), 0);
	during = take();
	assert_string_equal(during.text[0], another_mode(&before));
	assert_string_equal(during.text[2], "1");
	settings_change_free(c);
	assert_same(&before);
}

/* The owner dies by `death` after its changes; the next start puts them back. */
static void die_and_recover(int death)
{
	struct snapshot before = take(), during;
	struct settings_change *c;
	int ready[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(death, SIG_DFL);
		if (settings_change_new(&c) < 0 || change_all(c, &before) < 0)
			_exit(1);
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	assert_int_equal(kill(pid, death), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	during = take();
	assert_string_equal(during.text[0], another_mode(&before));
	assert_int_equal(settings_recover(), 1);
	assert_same(&before);
}

static void test_restored_after_kill(void **state)
{
	die_and_recover(SIGKILL);
}

static void test_restored_after_fault(void **state)
{
	die_and_recover(SIGSEGV);
}

static void test_kernel_refuses_a_value(void **state)
{
	struct snapshot before = take();
	struct settings_change *c;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_file(c, THP_DIR "enabled", "sometimes"), -EINVAL);
	settings_change_free(c);
	assert_same(&before);
}

static void test_describe_and_counters(void **state)
{
	struct trace_meta *meta, *counters;

	assert_int_equal(trace_meta_new(&meta), 0);
	assert_int_equal(trace_meta_new(&counters), 0);
	assert_int_equal(settings_describe(meta), 0);
	assert_int_equal(counters_read(counters), 0);
	assert_string_equal(trace_meta_get(meta, META_THP), take().text[0]);
	assert_int_equal(trace_meta_get_u64(meta, META_PAGE_SIZE, 0), sysconf(_SC_PAGESIZE));
	assert_true(trace_meta_get_u64(counters, "pgfault", 0) > 0);
	trace_meta_free(meta);
	trace_meta_free(counters);
}

/* Another mmtape at work would see its settings change, and we its own. */
static bool others_at_work(void)
{
	struct journal_files files;
	bool alive = false;
	int lock = journal_lock();

	if (lock < 0)
		return lock != -ENOENT;
	if (journal_scan(lock, &files) == 0) {
		for (size_t i = 0; i < files.count; i++)
			alive |= files.files[i].alive;
		journal_files_clear(&files);
	}
	journal_unlock(lock);
	return alive;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_restored_by_free),
		cmocka_unit_test(test_restored_after_kill),
		cmocka_unit_test(test_restored_after_fault),
		cmocka_unit_test(test_kernel_refuses_a_value),
		cmocka_unit_test(test_describe_and_counters),
	};

	if (geteuid() != 0) {
		puts("skipped: needs root");
		return SKIPPED;
	}
	if (access(THP_DIR "enabled", W_OK) < 0) {
		puts("skipped: this kernel has no transparent huge pages");
		return SKIPPED;
	}
	if (settings_recover() < 0 || others_at_work()) {
		puts("skipped: another mmtape is running");
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
