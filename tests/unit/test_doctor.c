/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What doctor says of machines that are made of a few files. */

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

#include "capture/doctor_checks.h"
#include "capture/roles.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"

static char root[64];

static void put_file(const char *path, const char *text)
{
	char full[512];
	FILE *f;

	assert_int_equal(sysfile_path(full, sizeof(full), path), 0);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	snprintf(root, sizeof(root), "/tmp/mmtape-test-doctor-XXXXXX");
	assert_non_null(mkdtemp(root));
	sysfile_set_root(root);
	return 0;
}

static int remove_root(void **state)
{
	char command[128];

	sysfile_set_root("");
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

static void assert_no(void (*ask)(struct doctor_answer *a), const char *cause, const char *remedy)
{
	struct doctor_answer a = { 0 };

	ask(&a);
	assert_false(a.works);
	if (!strstr(a.cause, cause) || !strstr(a.remedy, remedy))
		fail_msg("'%s: %s' does not say '%s' and '%s'", a.cause, a.remedy, cause, remedy);
}

static void assert_yes(void (*ask)(struct doctor_answer *a), const char *value)
{
	struct doctor_answer a = { 0 };

	ask(&a);
	if (!a.works || !strstr(a.value, value))
		fail_msg("'%s%s' does not say '%s'", a.value, a.cause, value);
}

static void test_symbols_without_addresses(void **state)
{
	assert_no(doctor_ask_symbols, "no symbols", "CONFIG_KALLSYMS");
	put_file("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 t folio_add_lru\n");
	assert_no(doctor_ask_symbols, "hides addresses", "kptr_restrict");
	put_file("/proc/kallsyms", "0000000000000000 A first\nffffffff81000000 T _text\n");
	assert_yes(doctor_ask_symbols, "addresses");
}

static void test_memory_cgroups_need_the_controller_on_v2(void **state)
{
	assert_no(doctor_ask_memory_cgroup, "not mounted", "mount -t cgroup2");
	put_file("/proc/self/mounts", "proc /proc proc rw 0 0\nc /cg cgroup2 rw 0 0\n");
	put_file("/cg/cgroup.controllers", "cpu memory_like io\n");
	put_file("/cg/cgroup.subtree_control", "\n");
	assert_no(doctor_ask_memory_cgroup, "no memory controller", "cgroup_no_v1=memory");
	put_file("/cg/cgroup.controllers", "cpu io memory\n");
	assert_yes(doctor_ask_memory_cgroup, "/cg");
}

static void test_huge_pages_and_their_sizes(void **state)
{
	assert_no(doctor_ask_thp, "no transparent huge pages", "CONFIG_TRANSPARENT_HUGEPAGE");
	assert_no(doctor_ask_thp_sizes, "no settings per size", "6.8");
	put_file(THP_DIR "enabled", "always [madvise] never\n");
	put_file(THP_DIR "hugepages-16kB/enabled", "always inherit madvise [never]\n");
	put_file(THP_DIR "hugepages-2048kB/enabled", "always [inherit] madvise never\n");
	assert_yes(doctor_ask_thp, "madvise");
	assert_yes(doctor_ask_thp_sizes, "2 sizes, 1 not off");
}

static void test_strict_overcommit_is_in_the_way(void **state)
{
	assert_no(doctor_ask_overcommit, "cannot be read", "mount /proc");
	put_file("/proc/sys/vm/overcommit_memory", "2\n");
	assert_no(doctor_ask_overcommit, "is 2", "sysctl vm.overcommit_memory=0");
	put_file("/proc/sys/vm/overcommit_memory", "1\n");
	assert_yes(doctor_ask_overcommit, "vm.overcommit_memory 1");
}

static void test_swap_and_zram(void **state)
{
	put_file("/proc/meminfo", "MemTotal: 1024 kB\nSwapTotal: 0 kB\n");
	assert_no(doctor_ask_swap, "no swap", "swapon");
	put_file("/proc/meminfo", "SwapTotal: 2048 kB\n");
	assert_yes(doctor_ask_swap, "2 MiB");
	assert_no(doctor_ask_zram, "no zram", "modprobe zram");
	put_file("/sys/class/zram-control/hot_add", "");
	assert_yes(doctor_ask_zram, "swap");
}

static void test_a_serial_port_needs_hardware(void **state)
{
	assert_no(doctor_ask_serial, "no /dev/ttyS1", "CONFIG_SERIAL_8250");
	put_file("/sys/class/tty/ttyS1/type", "0\n");
	assert_no(doctor_ask_serial, "hardware", "guests");
	put_file("/sys/class/tty/ttyS1/type", "4\n");
	assert_yes(doctor_ask_serial, "ttyS1");
}

/* A kernel with every function of the table but one. */
static void put_symbols_without(const char *function)
{
	static char text[1 << 16];
	size_t count, used = 0;
	const struct role_function *rows = role_functions(&count);

	for (size_t i = 0; i < count; i++)
		if (strcmp(rows[i].name, function))
			used += (size_t)snprintf(text + used, sizeof(text) - used,
			                         "ffffffff81000000 t %s%s\n", rows[i].name,
			                         i % 2 ? ".constprop.0" : "\t[mod]");
	put_file("/proc/kallsyms", text);
}

static void test_functions_of_roles_that_are_missing_are_named(void **state)
{
	assert_no(doctor_ask_roles, "no names", "CONFIG_KALLSYMS");
	put_symbols_without("");
	assert_yes(doctor_ask_roles, "all");
	/* Of every kernel in the table, and a symbol of its own. */
	put_symbols_without("shrink_active_list");
	assert_no(doctor_ask_roles, "1 of", "roles_table.c");
	assert_no(doctor_ask_roles, "shrink_active_list", "unresolved");
	put_file("/proc/kallsyms", "ffffffff81000000 T _text\n");
	assert_no(doctor_ask_roles, ", …", "unresolved");
}

static void test_the_last_colon_parts_cause_and_remedy(void **state)
{
	struct doctor_answer a = { 0 };

	doctor_no_sentence(&a, "/a: b:c: do it");
	assert_string_equal(a.cause, "/a: b:c");
	assert_string_equal(a.remedy, "do it");
	doctor_no_sentence(&a, "no remedy");
	assert_string_equal(a.cause, "no remedy");
	assert_string_equal(a.remedy, "");
}

static void test_only_what_is_needed_counts_as_missing(void **state)
{
	struct doctor_line lines[] = {
		{ "t", "a", DOCTOR_CAPTURE, { .works = true } },
		{ "t", "b", DOCTOR_CAPTURE | DOCTOR_REPLAY, { .works = false } },
		{ "t", "c", DOCTOR_OPTIONAL, { .works = false } },
		{ "t", "d", DOCTOR_REPLAY, { .works = false } },
	};
	const struct doctor_report report = { lines, ARRAY_SIZE(lines) };

	assert_int_equal(doctor_missing(&report, DOCTOR_CAPTURE), 1);
	assert_int_equal(doctor_missing(&report, DOCTOR_REPLAY), 2);
	assert_int_equal(doctor_missing(&report, DOCTOR_CAPTURE | DOCTOR_REPLAY), 2);
}

/* Everything is asked of a machine of which nothing can be read. */
static void test_a_machine_without_files(void **state)
{
	struct doctor_report report;

	assert_int_equal(doctor_examine(&report), 0);
	assert_true(report.count > 20);
	for (size_t i = 0; i < report.count; i++)
		assert_true(report.lines[i].answer.works || *report.lines[i].answer.cause);
	doctor_report_clear(&report);
}

#define IN_ROOT(test) cmocka_unit_test_setup_teardown(test, make_root, remove_root)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_ROOT(test_symbols_without_addresses),
		IN_ROOT(test_memory_cgroups_need_the_controller_on_v2),
		IN_ROOT(test_huge_pages_and_their_sizes),
		IN_ROOT(test_strict_overcommit_is_in_the_way),
		IN_ROOT(test_swap_and_zram),
		IN_ROOT(test_a_serial_port_needs_hardware),
		IN_ROOT(test_functions_of_roles_that_are_missing_are_named),
		IN_ROOT(test_a_machine_without_files),
		cmocka_unit_test(test_the_last_colon_parts_cause_and_remedy),
		cmocka_unit_test(test_only_what_is_needed_counts_as_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
