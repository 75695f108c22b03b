/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings and counters are read from a /sys and /proc of our own. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/counters.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"

static char root[] = "/tmp/mmtape-test-describe-XXXXXX";

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

static void remove_file(const char *path)
{
	char full[512];

	assert_int_equal(sysfile_path(full, sizeof(full), path), 0);
	assert_int_equal(unlink(full), 0);
}

static struct trace_meta *describe(void)
{
	struct trace_meta *meta;

	assert_int_equal(trace_meta_new(&meta), 0);
	assert_int_equal(settings_describe(meta), 0);
	return meta;
}

static void assert_value(const struct trace_meta *meta, const char *key, const char *want)
{
	const char *got = trace_meta_get(meta, key);

	if (!got)
		fail_msg("%s is missing", key);
	assert_string_equal(got, want);
}

static void test_kernel_without_anything(void **state)
{
	struct trace_meta *meta = describe();
	struct trace_meta *counters;
	struct utsname u;

	assert_int_equal(uname(&u), 0);
	assert_null(trace_meta_get(meta, META_THP));
	assert_null(trace_meta_get(meta, META_LRU_GEN));
	assert_value(meta, META_KERNEL, u.release);
	assert_value(meta, META_ARCH, u.machine);
	assert_value(meta, META_NODES, "1");
	assert_int_equal(trace_meta_new(&counters), 0);
	assert_int_equal(counters_read(counters), 0);
	assert_int_equal(trace_meta_count(counters), 0);
	trace_meta_free(meta);
	trace_meta_free(counters);
}

static void test_settings(void **state)
{
	struct trace_meta *meta;

	put_file(THP_DIR "enabled", "always [madvise] never\n");
	put_file(THP_DIR "defrag", "always defer defer+madvise [madvise] never\n");
	put_file(THP_DIR "shrink_underused", "1\n");
	put_file(THP_DIR "hpage_pmd_size", "2097152\n");
	put_file(THP_DIR "hugepages-64kB/enabled", "always [inherit] madvise never\n");
	put_file(THP_DIR "hugepages-2048kB/enabled", "[always] inherit madvise never\n");
	put_file("/sys/kernel/mm/lru_gen/enabled", "0x0007\n");
	put_file("/sys/devices/system/node/online", "0-1,4\n");
	put_file("/proc/sys/vm/max_map_count", "65530\n");
	put_file("/proc/sys/vm/overcommit_memory", "0\n");
	put_file("/proc/meminfo", "MemTotal:       1024 kB\nMemFree: 5 kB\nSwapTotal:      2 kB\n");
	meta = describe();
	assert_value(meta, META_THP, "madvise");
	assert_value(meta, META_THP_DEFRAG, "madvise");
	assert_value(meta, META_THP_SHRINK_UNDERUSED, "1");
	assert_value(meta, META_HUGE_PAGE_SIZE, "2097152");
	assert_value(meta, META_THP_SIZE_PREFIX "64kB", "inherit");
	assert_value(meta, META_THP_SIZE_PREFIX "2048kB", "always");
	assert_value(meta, META_LRU_GEN, "0x0007");
	assert_value(meta, META_NODES, "3");
	assert_value(meta, META_MAX_MAP_COUNT, "65530");
	assert_value(meta, META_OVERCOMMIT, "0");
	assert_value(meta, META_MEMORY, "1048576");
	assert_value(meta, META_SWAP, "2048");
	trace_meta_free(meta);
}

static void test_counters(void **state)
{
	struct trace_meta *counters;

	put_file("/proc/vmstat", "nr_free_pages 12\npgfault 18446744073709551615\nodd\nbad x\n"
	                         "negative -1\npgalloc_normal 7\n");
	put_file(THP_DIR "hugepages-64kB/stats/anon_fault_alloc", "42\n");
	put_file(THP_DIR "hugepages-64kB/stats/strange", "words\n");
	assert_int_equal(trace_meta_new(&counters), 0);
	assert_int_equal(counters_read(counters), 0);
	assert_value(counters, "nr_free_pages", "12");
	assert_value(counters, "pgfault", "18446744073709551615");
	assert_value(counters, "pgalloc_normal", "7");
	assert_value(counters, "thp/64kB/anon_fault_alloc", "42");
	assert_int_equal(trace_meta_count(counters), 4);
	trace_meta_free(counters);
}

static void test_reading_is_bounded(void **state)
{
	char text[16], *large = malloc(SYSFILE_MAX * 2);
	uint64_t number;

	assert_non_null(large);
	memset(large, 'x', SYSFILE_MAX * 2);
	large[SYSFILE_MAX * 2 - 1] = '\0';
	put_file("/large", large);
	assert_int_equal(sysfile_read("/large", text, sizeof(text)), -EFBIG);
	put_file("/open", "a [b c\n");
	assert_int_equal(sysfile_read_choice("/open", text, sizeof(text)), 0);
	assert_string_equal(text, "a [b c");
	put_file("/number", "12x\n");
	assert_int_equal(sysfile_read_u64("/number", &number), -EINVAL);
	assert_int_equal(sysfile_read("/missing", text, sizeof(text)), -ENOENT);
	free(large);
}

static void test_zero_page_probe_agrees_with_itself(void **state)
{
	int first = settings_probe_zero_page();

	assert_in_range(first, 0, 1);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(settings_probe_zero_page(), first);
}

static void test_spinlock_kinds(void **state)
{
	static const char *const kinds[] = { "queued", "test-and-set", "paravirtual" };
	const char *kind;
	bool known = false;

	/* A kernel whose slow paths have other names has other locks. */
	put_file("/proc/kallsyms", "0000000000000000 T native_pv_lock_init\n");
	assert_string_equal(settings_spinlock_kind(), "unknown");
	/* Without paravirtualisation nothing replaces the queued ones. */
	put_file("/proc/kallsyms", "0000000000000000 T queued_spin_lock_slowpath\t[x]\n");
	assert_string_equal(settings_spinlock_kind(), "queued");
	put_file("/proc/kallsyms", "0000000000000000 t native_queued_spin_lock_slowpath\n"
	                           "0000000000000000 T native_pv_lock_init\n");
	kind = settings_spinlock_kind();
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		known |= !strcmp(kind, kinds[i]);
	assert_true(known);
	put_file("/sys/kernel/realtime", "1\n");
	assert_string_equal(settings_spinlock_kind(), "rtmutex");
	remove_file("/sys/kernel/realtime");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kernel_without_anything),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_reading_is_bounded),
		cmocka_unit_test(test_zero_page_probe_agrees_with_itself),
		cmocka_unit_test(test_spinlock_kinds),
	};
	char command[128];
	int failed;

	if (!mkdtemp(root))
		return 1;
	sysfile_set_root(root);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command) == 0 && failed == 0 ? 0 : 1;
}
