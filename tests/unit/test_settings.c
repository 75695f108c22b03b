/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings are changed through the journal and put back, in a /sys of our own. */

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/journal.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"

static char run_dir[64]; /* as capture/journal.h says */
static char root[] = "/tmp/mmtape-test-settings-XXXXXX";

static void full_path(char *out, size_t size, const char *path)
{
	assert_int_equal(sysfile_path(out, size, path), 0);
}

static void put_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	full_path(full, sizeof(full), path);
	for (char *p = full + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *want)
{
	char text[SYSFILE_MAX];

	assert_int_equal(sysfile_read_choice(path, text, sizeof(text)), 0);
	assert_string_equal(text, want);
}

static bool exists(const char *path)
{
	struct stat st;
	char full[512];

	full_path(full, sizeof(full), path);
	return lstat(full, &st) == 0;
}

static void journal_path(char *out, size_t size)
{
	full_path(out, size, run_dir);
	snprintf(out + strlen(out), size - strlen(out), "/1-0.journal");
}

static void put_journal(const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/1-0.journal", run_dir);
	put_file(path, text);
}

static size_t journal_count(void)
{
	struct journal_files files;
	int lock = journal_lock();
	size_t count;

	if (lock == -ENOENT)
		return 0;
	assert_true(lock >= 0);
	assert_int_equal(journal_scan(lock, &files), 0);
	count = files.count;
	journal_files_clear(&files);
	journal_unlock(lock);
	return count;
}

static int set_up(void **state)
{
	put_file(THP_DIR "enabled", "always [madvise] never\n");
	put_file(THP_DIR "hugepages-64kB/enabled", "always inherit madvise [never]\n");
	put_file(THP_DIR "khugepaged/scan_sleep_millisecs", "10000\n");
	put_file(THP_DIR "khugepaged/pages_to_scan", "4096\n");
	put_file("/proc/sys/kernel/numa_balancing", "1\n");
	put_file("/etc/passwd", "untouched\n");
	return 0;
}

/* A child that does `work` and then waits to be killed; *pid is ready when this returns. */
static pid_t start_owner(void (*work)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		work();
		if (write(ready[1], "r", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void kill_owner(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void change_some(void)
{
	struct settings_change *c;

	if (settings_change_new(&c) < 0 || settings_change_thp(c, "always") < 0 ||
	    settings_change_mthp(c, "64k=always") < 0 || settings_change_quiet(c) < 0)
		_exit(1);
}

static void assert_untouched(void)
{
	assert_file(THP_DIR "enabled", "madvise");
	assert_file(THP_DIR "hugepages-64kB/enabled", "never");
	assert_file(THP_DIR "khugepaged/scan_sleep_millisecs", "10000");
	assert_file(THP_DIR "khugepaged/pages_to_scan", "4096");
	assert_file("/proc/sys/kernel/numa_balancing", "1");
	assert_int_equal(journal_count(), 0);
}

static void test_change_and_free_restores(void **state)
{
	struct settings_change *c;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_thp(c, "always"), 0);
	assert_int_equal(settings_change_thp(c, "never"), 0);
	assert_int_equal(settings_change_mthp(c, "64K=inherit"), 0);
	assert_int_equal(settings_change_quiet(c), 0);
	assert_file(THP_DIR "enabled", "never");
	assert_file(THP_DIR "hugepages-64kB/enabled", "inherit");
	assert_file("/proc/sys/kernel/numa_balancing", "0");
	settings_change_free(c);
	assert_untouched();
}

static void test_kill_is_undone_by_recover(void **state)
{
	pid_t pid = start_owner(change_some);

	assert_file(THP_DIR "enabled", "always");
	assert_int_equal(settings_recover(), 0); /* it lives: nothing is taken from it */
	assert_file(THP_DIR "enabled", "always");
	kill_owner(pid);
	assert_int_equal(journal_count(), 1);
	assert_int_equal(settings_recover(), 1);
	assert_untouched();
	assert_int_equal(settings_recover(), 0);
}

static pid_t *child_of_owner; /* shared */

/* The child outlives the owner, with all its descriptors, until the test ends it. */
static void fork_a_child_too(void)
{
	pid_t pid;

	change_some();
	pid = fork();
	while (pid == 0)
		pause();
	*child_of_owner = pid;
}

static void test_a_living_child_does_not_keep_the_journal(void **state)
{
	pid_t pid;

	child_of_owner = mmap(NULL, sizeof(*child_of_owner), PROT_READ | PROT_WRITE,
	                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(child_of_owner != MAP_FAILED);
	pid = start_owner(fork_a_child_too);
	kill_owner(pid);
	assert_int_equal(kill(*child_of_owner, 0), 0);
	assert_int_equal(settings_recover(), 1);
	assert_untouched();
	assert_int_equal(kill(*child_of_owner, SIGKILL), 0);
}

static void test_child_that_frees_restores_nothing(void **state)
{
	struct settings_change *c;
	pid_t pid;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_thp(c, "always"), 0);
	pid = fork();
	if (pid == 0) {
		settings_change_free(c);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_file(THP_DIR "enabled", "always");
	assert_int_equal(journal_count(), 1);
	settings_change_free(c);
	assert_untouched();
}

static void test_same_setting_twice_restores_with_the_last(void **state)
{
	struct settings_change *c;
	pid_t pid = start_owner(change_some);

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_quiet(c), 0);
	assert_int_equal(settings_change_thp(c, "never"), -EBUSY);
	kill_owner(pid);
	assert_int_equal(settings_recover(), 1);
	assert_file(THP_DIR "enabled", "madvise");
	assert_file("/proc/sys/kernel/numa_balancing", "0"); /* ours still */
	settings_change_free(c);
	assert_untouched();
}

static void test_other_owner_still_running_keeps_its_setting(void **state)
{
	struct settings_change *c;
	pid_t pid;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_quiet(c), 0);
	pid = start_owner(change_some);
	settings_change_free(c);
	assert_file("/proc/sys/kernel/numa_balancing", "0");
	kill_owner(pid);
	assert_int_equal(settings_recover(), 1);
	assert_untouched();
}

static void test_change_before_recovery_keeps_the_first_value(void **state)
{
	struct settings_change *c;
	pid_t pid = start_owner(change_some);

	kill_owner(pid);
	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_thp(c, "never"), 0);
	settings_change_free(c);
	assert_file(THP_DIR "enabled", "madvise");
	assert_int_equal(settings_recover(), 1);
	assert_untouched();
}

static void test_refuses_what_it_could_not_undo(void **state)
{
	struct settings_change *c;

	assert_int_equal(settings_change_new(&c), 0);
	assert_int_equal(settings_change_file(c, "/etc/passwd", "x"), -EINVAL);
	assert_int_equal(settings_change_file(c, THP_DIR "../../../../etc/passwd", "x"), -EINVAL);
	assert_int_equal(settings_change_file(c, THP_DIR "hugepages-64kB/../enabled", "x"),
	                 -EINVAL);
	assert_int_equal(settings_change_file(c, THP_DIR "defrag", "always"), -ENOENT);
	assert_int_equal(settings_change_thp(c, "sometimes"), -EINVAL);
	assert_int_equal(settings_change_mthp(c, "64k"), -EINVAL);
	assert_int_equal(settings_change_mthp(c, "64k=perhaps"), -EINVAL);
	assert_int_equal(settings_change_mthp(c, "k=always"), -EINVAL);
	assert_int_equal(settings_change_mthp(c, "12k=always"), -ENOENT);
	settings_change_free(c);
	assert_untouched();
	assert_file("/etc/passwd", "untouched");
}

/* The owner is dead in each of these: nobody holds a lock on a file just written. */
static void test_hostile_journals_write_nothing_else(void **state)
{
	static const char *const texts[] = {
		"mmtape-journal 1\nset /etc/passwd x\n",
		"mmtape-journal 1\nset " THP_DIR "../../../../etc/passwd x\n",
		"mmtape-journal 1\nset " THP_DIR "enabled\n",
		"mmtape-journal 1\nset " THP_DIR "enabled \n",
		"mmtape-journal 1\nset " THP_DIR "enabled a b\n",
		"mmtape-journal 1\ninstance ../../x\ninstance mmtape/../x\ninstance x\n",
		"mmtape-journal 1\ncgroup /a/../mmtape-1\ncgroup /a/x\ncgroup mmtape-1\n",
		"mmtape-journal 1\ncgroup /mmtape-1/x\ncgroup /a//mmtape-1\ncgroup /a/mmtape-1.\n",
		"mmtape-journal 1\ncontroller /a/../b\ncontroller \ncontroller x\n",
		"mmtape-journal 2\nset " THP_DIR "enabled always\n",
		"set " THP_DIR "enabled always\n",
		"mmtape-journal 1\nset " THP_DIR "enabled alw", /* never acted on */
		"\n\n\n",
		"",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		put_journal(texts[i]);
		assert_int_equal(settings_recover(), 1);
		assert_untouched();
		assert_file("/etc/passwd", "untouched");
	}
}

static void test_huge_journal_is_bounded(void **state)
{
	char full[512];
	FILE *f;

	put_journal("mmtape-journal 1\n");
	journal_path(full, sizeof(full));
	f = fopen(full, "a");
	assert_non_null(f);
	for (unsigned i = 0; i < 20000; i++)
		fprintf(f, "set " THP_DIR "enabled always%u\n", i);
	fclose(f);
	put_file(THP_DIR "enabled", "always [madvise] never\n");
	assert_int_equal(settings_recover(), 1);
	/* Undone in reverse, of at most JOURNAL_MAX_ENTRIES: the first comes last. */
	assert_file(THP_DIR "enabled", "always0");
}

static void test_journal_link_is_not_followed(void **state)
{
	char full[512], target[512];

	put_file("/elsewhere", "mmtape-journal 1\nset " THP_DIR "enabled always\n");
	full_path(target, sizeof(target), "/elsewhere");
	journal_path(full, sizeof(full));
	assert_int_equal(symlink(target, full), 0);
	assert_int_equal(settings_recover(), 0);
	assert_untouched();
	assert_int_equal(unlink(full), 0);
}

static void test_open_directory_is_refused(void **state)
{
	struct journal *j;
	char full[512];

	full_path(full, sizeof(full), run_dir);
	assert_int_equal(chmod(full, 0777), 0);
	assert_int_equal(journal_new(&j), -EPERM);
	assert_int_equal(settings_recover(), -EPERM);
	assert_int_equal(chmod(full, 0700), 0);
}

static void note_instance(void)
{
	struct journal *j;

	if (journal_new(&j) < 0 || journal_add_instance(j, "mmtape-7") < 0)
		_exit(1);
}

static void test_instance_of_the_killed_is_removed(void **state)
{
	char full[512];
	pid_t pid;

	put_file("/sys/kernel/tracing/instances/mmtape-7/x", "");
	full_path(full, sizeof(full), "/sys/kernel/tracing/instances/mmtape-7/x");
	assert_int_equal(unlink(full), 0);
	pid = start_owner(note_instance);
	assert_int_equal(settings_recover(), 0);
	assert_true(exists("/sys/kernel/tracing/instances/mmtape-7"));
	kill_owner(pid);
	assert_int_equal(settings_recover(), 1);
	assert_false(exists("/sys/kernel/tracing/instances/mmtape-7"));
	assert_int_equal(journal_count(), 0);
}

static void test_instance_that_cannot_go_stays_noted(void **state)
{
	char full[512];
	pid_t pid;

	put_file("/sys/kernel/tracing/instances/mmtape-7/busy", "");
	pid = start_owner(note_instance);
	kill_owner(pid);
	assert_int_equal(settings_recover(), 0);
	assert_int_equal(journal_count(), 1);
	full_path(full, sizeof(full), "/sys/kernel/tracing/instances/mmtape-7/busy");
	assert_int_equal(unlink(full), 0);
	assert_int_equal(settings_recover(), 1);
	assert_int_equal(journal_count(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_change_and_free_restores, set_up),
		cmocka_unit_test_setup(test_kill_is_undone_by_recover, set_up),
		cmocka_unit_test_setup(test_a_living_child_does_not_keep_the_journal, set_up),
		cmocka_unit_test_setup(test_child_that_frees_restores_nothing, set_up),
		cmocka_unit_test_setup(test_same_setting_twice_restores_with_the_last, set_up),
		cmocka_unit_test_setup(test_other_owner_still_running_keeps_its_setting, set_up),
		cmocka_unit_test_setup(test_change_before_recovery_keeps_the_first_value, set_up),
		cmocka_unit_test_setup(test_refuses_what_it_could_not_undo, set_up),
		cmocka_unit_test_setup(test_hostile_journals_write_nothing_else, set_up),
		cmocka_unit_test_setup(test_huge_journal_is_bounded, set_up),
		cmocka_unit_test_setup(test_journal_link_is_not_followed, set_up),
		cmocka_unit_test_setup(test_open_directory_is_refused, set_up),
		cmocka_unit_test_setup(test_instance_of_the_killed_is_removed, set_up),
		cmocka_unit_test_setup(test_instance_that_cannot_go_stays_noted, set_up),
	};
	char command[128];
	int failed;

	if (!mkdtemp(root))
		return 1;
	log_set_quiet(true);
	sysfile_set_root(root);
	snprintf(run_dir, sizeof(run_dir), "/run/mmtape");
	if (geteuid() != 0)
		snprintf(run_dir, sizeof(run_dir), "/run/user/%u/mmtape", (unsigned)geteuid());
	put_journal("");
	if (settings_recover() != 1)
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command) == 0 && failed == 0 ? 0 : 1;
}
