/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of /proc/lock_stat, and the source that reads it, in a /proc of our own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/journal.h"
#include "capture/lock_stat.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define K612 ROLE_KERNEL(6, 12)
#define HEAD                                                                                       \
	"lock_stat version 0.4\n"                                                                  \
	"--------------------------------------------------------------\n"                         \
	"         class name    con-bounces    contentions   waittime-min acquisitions\n"          \
	"--------------------------------------------------------------\n\n"
#define ROW(name, contentions, wait, acquisitions, hold)                                           \
	"   " name ":  3 " contentions "  0.20  9.10  " wait "  3.33   7 " acquisitions            \
	"  0.10  5.00 " hold "  0.50\n"

static char root[] = "/tmp/mmtape-test-lockstat-XXXXXX";

static const struct lock_figure *figure(const struct lock_figures *f, const char *role)
{
	for (size_t i = 0; i < f->count; i++)
		if (!strcmp(f->items[i].role, role))
			return &f->items[i];
	fail_msg("no figure for %s", role);
	return NULL;
}

static int parse(const char *text, struct lock_figures *out, unsigned *line)
{
	_cleanup_free_ char *copy = strdup(text);

	*out = (struct lock_figures){ 0 };
	return lock_stat_parse(copy, K612, out, line);
}

static void test_row(void **state)
{
	struct lock_stat_row row;

	assert_int_equal(lock_stat_parse_line(
				 ROW("&lruvec->lru_lock", "12", "40.05", "20111", "1234.50"), &row),
	                 0);
	assert_string_equal(row.name, "&lruvec->lru_lock");
	assert_int_equal(row.contentions, 12);
	assert_int_equal(row.acquisitions, 20111);
	assert_true(row.wait == 40050);
	assert_true(row.hold == 1234500);
}

static void assert_name(const char *written, const char *want)
{
	struct lock_stat_row row;
	char line[256];

	snprintf(line, sizeof(line), "%40s: 1 1 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10",
	         written);
	assert_int_equal(lock_stat_parse_line(line, &row), 0);
	assert_string_equal(row.name, want);
}

static void test_names(void **state)
{
	assert_name("&mm->mmap_lock-R", "&mm->mmap_lock");
	assert_name("&mm->mmap_lock-W", "&mm->mmap_lock");
	assert_name("ptlock_ptr(page)#2/1", "ptlock_ptr(page)");
	assert_name("ptlock_ptr(page)#2/1-R", "ptlock_ptr(page)");
	assert_name("&rq->__lock/1", "&rq->__lock");
	assert_name("path/with:2079", "path/with:2079");
	assert_name("a name: with colon", "a name: with colon");
	assert_name("#2", "#2");
	assert_name("/1", "/1");
}

static void test_what_is_no_lock_is_left_out(void **state)
{
	static const char *const names[] = {
		"rcu_read_lock-R",        "fs_reclaim", "tk_core.seq.seqcount-R",
		"jiffies_seq.seqcount-W", "lock#4",     "(&timer.timer)"
	};
	struct lock_stat_row row;
	char line[256];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(line, sizeof(line), "%s: 0 0 0.00 0.00 0.00 0.00 1 1 0.10 0.10 0.10 0.10",
		         names[i]);
		assert_int_equal(lock_stat_parse_line(line, &row), 1);
	}
}

static void test_other_lines(void **state)
{
	static const char *const lines[] = {
		"",
		"   -----------------",
		".........................................................",
		"   &lruvec->lru_lock   1596   [<0000000012345678>] "
		"folio_lruvec_lock_irqsave+0x5c/0x90",
		"*WARNING* lock debugging disabled!! - possibly due to a lockdep warning",
	};
	struct lock_stat_row row;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(lock_stat_parse_line(lines[i], &row), 1);
}

static void test_nonsense(void **state)
{
	static const char *const lines[] = {
		"x",
		"name: 1 2 3",
		": 1 1 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10",
		"n: 1 1 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10 7",
		"n: 1 99999999999999999999 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10",
		"n: 1 1 0.10 0.10 0.100 0.10 1 1 0.10 0.10 0.10 0.10",
		"n: 1 -1 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10",
		"n: 1 1 0.10 0.10 . 0.10 1 1 0.10 0.10 0.10 0.10",
		"a_name_that_is_much_longer_than_any_that_the_kernel_would_ever_write_here"
		": 1 1 0.10 0.10 0.10 0.10 1 1 0.10 0.10 0.10 0.10",
	};
	struct lock_stat_row row;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		assert_int_equal(lock_stat_parse_line(lines[i], &row), -EBADMSG);
}

static void test_classes_of_a_role_are_summed(void **state)
{
	struct lock_figures f;
	unsigned line;

	assert_int_equal(parse(HEAD ROW("&mm->mmap_lock-W", "2", "10.00", "30",
	                                "5.00") ROW("&mm->mmap_lock-R", "3", "20.00", "70", "6.00")
	                               ROW("ptlock_ptr(ptdesc)#2", "0", "0.00", "40", "1.00")
	                                       ROW("ptlock_ptr(ptdesc)", "1", "1.00", "2", "1.00"),
	                       &f, &line),
	                 0);
	assert_true(figure(&f, "mmap-lock")->acquisitions == 100);
	assert_true(figure(&f, "mmap-lock")->contentions == 5);
	assert_true(figure(&f, "mmap-lock")->wait == 30000);
	assert_true(figure(&f, "mmap-lock")->hold == 11000);
	assert_true(figure(&f, "page-table")->acquisitions == 42);
	assert_true(f.unresolved == 0);
	lock_figures_clear(&f);
}

static void test_unmet_roles_are_zero(void **state)
{
	struct lock_figures f;
	unsigned line;

	assert_int_equal(parse(HEAD, &f, &line), 0);
	assert_true(figure(&f, "deferred-split")->acquisitions == 0);
	assert_true(figure(&f, "lru")->wait == 0);
	lock_figures_clear(&f);
}

static void test_unresolved(void **state)
{
	struct lock_figures f;
	unsigned line;

	assert_int_equal(parse(HEAD ROW("&zone->lock", "0", "0.00", "75", "1.00")
	                               ROW("&nobody->knows", "0", "0.00", "25", "1.00"),
	                       &f, &line),
	                 0);
	assert_true(f.unresolved == 0.25);
	assert_true(figure(&f, "unresolved")->acquisitions == 25);
	assert_int_equal(f.name_count, 1);
	assert_string_equal(f.names[0].name, "&nobody->knows");
	assert_true(f.names[0].amount == 25);
	lock_figures_clear(&f);
}

static void test_other_texts(void **state)
{
	struct lock_figures f;
	unsigned line;

	assert_int_equal(parse("", &f, &line), -EBADMSG);
	assert_int_equal(parse("lock_stat version 0.5\n", &f, &line), -EPROTO);
	assert_int_equal(parse(HEAD "garbage\n", &f, &line), -EBADMSG);
	assert_int_equal(line, 6);
	lock_figures_clear(&f);
}

static void put_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	assert_int_equal(sysfile_path(full, sizeof(full), path), 0);
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

	assert_int_equal(sysfile_read(path, text, sizeof(text)), 0);
	assert_string_equal(text, want);
}

static int make_root(void **state)
{
	char run[64];

	if (!mkdtemp(root))
		return -1;
	sysfile_set_root(root);
	put_file("/proc/lock_stat", HEAD);
	put_file("/proc/sys/kernel/lock_stat", "1\n");
	put_file("/proc/lockdep_stats", " direct dependencies:  12\n debug_locks:   1\n");
	/* Where journals go without root. */
	snprintf(run, sizeof(run), "/run/user/%u/x", (unsigned)geteuid());
	put_file(run, "");
	return 0;
}

static int remove_root(void **state)
{
	char command[64];

	sysfile_set_root("");
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void test_source_needs(void **state)
{
	const struct source *s = source_find("lock_stat");
	struct source_options options = { .exclusive = false };
	char why[256];

	assert_non_null(s);
	assert_int_equal(s->check(&options, why, sizeof(why)), -EPERM);
	assert_non_null(strstr(why, "--exclusive"));
	options.exclusive = true;
	assert_int_equal(s->check(&options, why, sizeof(why)), 0);
	put_file("/proc/lockdep_stats", " debug_locks:   0\n");
	assert_int_equal(s->check(&options, why, sizeof(why)), -EIO);
	put_file("/proc/lockdep_stats", " debug_locks:   1\n");
}

static void run_source(struct lock_figures *f, const char *debug_locks)
{
	const struct source *s = source_find("lock_stat");
	struct source_options options = { .exclusive = true };
	void *source;

	*f = (struct lock_figures){ 0 };
	assert_int_equal(s->open(&source, &options), 0);
	assert_file("/proc/sys/kernel/lock_stat", "0");
	assert_int_equal(s->start(source), 0);
	assert_file("/proc/lock_stat", "0");
	assert_file("/proc/sys/kernel/lock_stat", "1");
	put_file("/proc/lock_stat", HEAD ROW("&zone->lock", "1", "2.00", "3", "4.00"));
	put_file("/proc/lockdep_stats", debug_locks);
	assert_int_equal(s->stop(source), 0);
	assert_file("/proc/sys/kernel/lock_stat", "0");
	assert_int_equal(s->read(source, f), 0);
	s->close(source);
	assert_file("/proc/sys/kernel/lock_stat", "1");
}

static void test_source_counts_and_restores(void **state)
{
	struct lock_figures f;

	run_source(&f, " debug_locks:   1\n");
	assert_true(figure(&f, "zone")->acquisitions == 3);
	assert_int_equal(f.dropped, 0);
	assert_string_equal(f.note, "");
	lock_figures_clear(&f);
}

static void test_source_tells_that_lockdep_stopped(void **state)
{
	struct lock_figures f;

	run_source(&f, " debug_locks:   0\n");
	assert_true(f.dropped > 0);
	assert_non_null(strstr(f.note, "lockdep"));
	lock_figures_clear(&f);
	put_file("/proc/lockdep_stats", " debug_locks:   1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_row),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_what_is_no_lock_is_left_out),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_classes_of_a_role_are_summed),
		cmocka_unit_test(test_unmet_roles_are_zero),
		cmocka_unit_test(test_unresolved),
		cmocka_unit_test(test_other_texts),
		cmocka_unit_test(test_source_needs),
		cmocka_unit_test(test_source_counts_and_restores),
		cmocka_unit_test(test_source_tells_that_lockdep_stopped),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
