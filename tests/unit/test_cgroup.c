/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroups are, from the kernel's texts; what is removed as one; what is read of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/cgroup_own.h"
#include "capture/sysfile.h"

#define MOUNT2 "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
#define MOUNT1                                                                                     \
	"31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                        \
	"32 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"
#define OTHER "22 1 0:20 / /proc rw - proc proc rw\n"

static struct cgroup_place place;

static void test_own_group(void **state)
{
	assert_true(cgroup_place_parse(OTHER MOUNT2, "0::/a.slice/b.service\n", &place));
	assert_string_equal(place.mount, "/sys/fs/cgroup");
	assert_string_equal(place.own, "/sys/fs/cgroup/a.slice/b.service");
	assert_false(place.v1_memory);
}

static void test_top_group(void **state)
{
	assert_true(cgroup_place_parse(MOUNT2, "0::/\n", &place));
	assert_string_equal(place.own, "/sys/fs/cgroup");
}

static void test_hybrid(void **state)
{
	assert_true(cgroup_place_parse(MOUNT1, "4:memory:/x\n1:name=systemd:/y\n0::/z\n", &place));
	assert_string_equal(place.mount, "/sys/fs/cgroup/unified");
	assert_string_equal(place.own, "/sys/fs/cgroup/unified/z");
	assert_true(place.v1_memory);
}

/* A container sees a part of the hierarchy, under its own root or beside it. */
static void test_mount_of_a_part(void **state)
{
	const char *part = "30 23 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw\n";

	assert_true(cgroup_place_parse(part, "0::/docker/1/x\n", &place));
	assert_string_equal(place.own, "/sys/fs/cgroup/x");
	assert_true(cgroup_place_parse(part, "0::/elsewhere\n", &place));
	assert_string_equal(place.own, "/sys/fs/cgroup");
	assert_true(cgroup_place_parse(MOUNT2, "0::/../other\n", &place));
	assert_string_equal(place.own, "/sys/fs/cgroup");
}

static void test_not_mounted(void **state)
{
	assert_false(cgroup_place_parse(OTHER, "0::/\n", &place));
	assert_false(cgroup_place_parse("", "", &place));
	assert_false(cgroup_place_parse("30 23 0:26 / - cgroup2", "0::/\n", &place));
}

static void test_long_paths(void **state)
{
	char text[1000], path[400];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	snprintf(text, sizeof(text), "30 23 0:26 / %s rw - cgroup2 cgroup2 rw\n", path);
	assert_false(cgroup_place_parse(text, "0::/\n", &place));
	snprintf(text, sizeof(text), "0::%s\n", path);
	assert_true(cgroup_place_parse(MOUNT2, text, &place));
	assert_string_equal(place.own, "/sys/fs/cgroup");
}

static void put_file(const char *root, const char *path, const char *text)
{
	char full[200];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *c = full + strlen(root) + 1; (c = strchr(c, '/')); *c++ = '/') {
		*c = '\0';
		mkdir(full, 0700);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* Groups / and /a and /a/b, of which the lists say what the arguments say. */
static int find_parent(const char *controllers, const char *top, const char *a, char *out, bool *on)
{
	char root[] = "cgroup_XXXXXX", command[64];
	int r;

	assert_non_null(mkdtemp(root));
	put_file(root, "/proc/self/mountinfo", MOUNT2);
	put_file(root, "/proc/self/cgroup", "0::/a/b\n");
	put_file(root, "/sys/fs/cgroup/cgroup.controllers", controllers);
	put_file(root, "/sys/fs/cgroup/cgroup.subtree_control", top);
	put_file(root, "/sys/fs/cgroup/a/cgroup.subtree_control", a);
	put_file(root, "/sys/fs/cgroup/a/b/cgroup.subtree_control", "");
	sysfile_set_root(root);
	r = cgroup_find_parent(out, on);
	sysfile_set_root("");
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	return r;
}

static void test_parent_is_the_nearest_that_hands_memory_on(void **state)
{
	char out[CGROUP_PATH];
	bool on;

	assert_int_equal(find_parent("cpu memory", "memory", "cpu memory", out, &on), 0);
	assert_string_equal(out, "/sys/fs/cgroup/a");
	assert_false(on);
	assert_int_equal(find_parent("cpu memory", "memory cpu", "cpu", out, &on), 0);
	assert_string_equal(out, "/sys/fs/cgroup");
	assert_false(on);
}

static void test_parent_is_the_top_where_nobody_does(void **state)
{
	char out[CGROUP_PATH];
	bool on;

	assert_int_equal(find_parent("cpu memory", "cpu", "", out, &on), 0);
	assert_string_equal(out, "/sys/fs/cgroup");
	assert_true(on);
	assert_int_equal(find_parent("cpu memory_other", "", "", out, &on), -EOPNOTSUPP);
}

/* Whatever a journal names: what is not in a cgroup file system is left alone. */
static void test_only_cgroups_are_removed(void **state)
{
	char root[] = "cgroup_XXXXXX", path[64];

	assert_non_null(mkdtemp(root));
	sysfile_set_root(root);
	snprintf(path, sizeof(path), "%s/mmtape-1", root);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(cgroup_remove("/mmtape-1"), -EINVAL);
	assert_int_equal(cgroup_controller_off("/mmtape-1"), -EINVAL);
	assert_int_equal(cgroup_remove("/mmtape-2"), 0);
	assert_int_equal(cgroup_controller_off("/mmtape-2"), 0);
	assert_int_equal(access(path, F_OK), 0);
	rmdir(path);
	rmdir(root);
	sysfile_set_root("");
}

static void test_pressure(void **state)
{
	char root[] = "cgroup_XXXXXX", path[64];
	struct trace_meta *meta;
	FILE *f;

	assert_non_null(mkdtemp(root));
	assert_int_equal(trace_meta_new(&meta), 0);
	sysfile_set_root(root);
	assert_int_equal(cgroup_machine_pressure(meta), 0);
	assert_int_equal(trace_meta_count(meta), 0);
	snprintf(path, sizeof(path), "%s/proc", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/pressure", root);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/proc/pressure/memory", root);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
	      "full avg10=0.00 avg60=0.00 avg300=0.00 total=567\nnonsense\n",
	      f);
	fclose(f);
	assert_int_equal(cgroup_machine_pressure(meta), 0);
	assert_int_equal(trace_meta_get_u64(meta, "pressure/memory.some", 0), 1234);
	assert_int_equal(trace_meta_get_u64(meta, "pressure/memory.full", 0), 567);
	assert_int_equal(trace_meta_count(meta), 2);
	trace_meta_free(meta);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc/pressure", root);
	rmdir(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	rmdir(root);
	sysfile_set_root("");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own_group),
		cmocka_unit_test(test_top_group),
		cmocka_unit_test(test_hybrid),
		cmocka_unit_test(test_mount_of_a_part),
		cmocka_unit_test(test_not_mounted),
		cmocka_unit_test(test_long_paths),
		cmocka_unit_test(test_parent_is_the_nearest_that_hands_memory_on),
		cmocka_unit_test(test_parent_is_the_top_where_nobody_does),
		cmocka_unit_test(test_only_cgroups_are_removed),
		cmocka_unit_test(test_pressure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
