/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What replay takes, and the settings it can vary. */

#include <limits.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/doctor_checks.h"
#include "capture/journal.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/options.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"
#define HUGEPAGES "hugepages-"

void doctor_ask_heap(struct doctor_answer *a)
{
	if (settings_probe_heap())
		doctor_yes(a, "brk is called where the recording had it");
	else
		doctor_no(
			a, doctor_need_capability(),
			"no CAP_SYS_RESOURCE, nor CONFIG_CHECKPOINT_RESTORE: brk becomes mappings");
}

/* Plans of a quarter of memory are locked; 64 MiB is one of some two million operations. */
void doctor_ask_memlock(struct doctor_answer *a)
{
	const rlim_t enough = 64 << 20;
	struct rlimit limit;

	if (doctor_has_capability(CAP_IPC_LOCK)) {
		doctor_yes(a, "no limit");
	} else if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0) {
		doctor_no(a, "", "%s", strerror(errno));
	} else if (limit.rlim_cur == RLIM_INFINITY) {
		doctor_yes(a, "no limit");
	} else if (limit.rlim_cur >= enough) {
		doctor_yes(a, "up to %llu MiB", (unsigned long long)limit.rlim_cur >> 20);
	} else {
		doctor_no(a, "`ulimit -l unlimited`, or run as root",
		          "at most %llu KiB may be locked, larger plans may be paged out",
		          (unsigned long long)limit.rlim_cur >> 10);
	}
}

void doctor_ask_overcommit(struct doctor_answer *a)
{
	uint64_t mode, maps = 0;

	if (sysfile_read_u64("/proc/sys/vm/overcommit_memory", &mode) < 0) {
		doctor_no(a, "mount /proc", "/proc/sys/vm cannot be read");
		return;
	}
	if (sysfile_read_u64("/proc/sys/vm/max_map_count", &maps) < 0)
		maps = 0;
	if (mode == 2)
		doctor_no(a, "`sysctl vm.overcommit_memory=0` as root",
		          "vm.overcommit_memory is 2, so mappings that the recording had may fail");
	else
		doctor_yes(a, "vm.overcommit_memory %u, vm.max_map_count %llu", (unsigned)mode,
		           (unsigned long long)maps);
}

/* The directory, or the one it is made in. */
void doctor_ask_journal(struct doctor_answer *a)
{
	char path[PATH_MAX], *slash;

	if (journal_dir_path(path, sizeof(path)) < 0) {
		doctor_no(a, "", "the path is too long");
		return;
	}
	if (access(path, F_OK) == 0) {
		if (access(path, W_OK | X_OK) == 0)
			doctor_yes(a, "%s", path);
		else
			doctor_no(a, "remove it as root", "%s cannot be written", path);
		return;
	}
	slash = strrchr(path, '/');
	*slash = '\0';
	if (access(path, W_OK | X_OK) == 0)
		doctor_yes(a, "%s/mmtape can be made", path);
	else
		doctor_no(a, "run as root, or in a session with a /run/user folder",
		          "%s cannot be written, so no setting may be changed", path);
}

void doctor_ask_thp(struct doctor_answer *a)
{
	char mode[SYSFILE_MAX];
	int r = sysfile_read_choice(THP_DIR "enabled", mode, sizeof(mode));

	if (r < 0)
		doctor_no(a, "a kernel with CONFIG_TRANSPARENT_HUGEPAGE",
		          "this kernel has no transparent huge pages");
	else if (sysfile_may_write(THP_DIR "enabled") < 0)
		doctor_no(a, "run as root", "%.32s, and --thp may not change it", mode);
	else
		doctor_yes(a, "%.32s; --thp changes it for a run", mode);
}

static void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* Counts the sizes that have a setting of their own, and those that are not off. */
static unsigned count_sizes(unsigned *on, bool *writable)
{
	_cleanup_(cleanup_closedir) DIR *dir = sysfile_opendir(THP_DIR);
	char path[512], mode[SYSFILE_MAX];
	struct dirent *d;
	unsigned count = 0;

	while (dir && (d = readdir(dir))) {
		if (strncmp(d->d_name, HUGEPAGES, strlen(HUGEPAGES)))
			continue;
		snprintf(path, sizeof(path), THP_DIR "%s/enabled", d->d_name);
		if (sysfile_read_choice(path, mode, sizeof(mode)) < 0)
			continue;
		count++;
		*on += strcmp(mode, "never") != 0;
		*writable &= sysfile_may_write(path) == 0;
	}
	return count;
}

void doctor_ask_thp_sizes(struct doctor_answer *a)
{
	bool writable = true;
	unsigned on = 0, count = count_sizes(&on, &writable);

	if (!count)
		doctor_no(a, "boot 6.8 or later, or leave --mthp out",
		          "this kernel has no settings per size of huge page");
	else if (!writable)
		doctor_no(a, "run as root", "%u sizes, but --mthp may not change them", count);
	else
		doctor_yes(a, "%u sizes, %u not off; --mthp changes them for a run", count, on);
}

void doctor_ask_zero_page(struct doctor_answer *a)
{
	int r = settings_probe_zero_page();

	if (r < 0)
		doctor_no(a, "", "it could not be tried: %s", strerror(-r));
	else if (r == 0)
		doctor_no(a, "compare only with kernels that do the same",
		          "a first read of memory allocates a page here");
	else
		doctor_yes(a, "a first read of memory maps it");
}

void doctor_ask_nodes(struct doctor_answer *a)
{
	char online[SYSFILE_MAX];

	if (sysfile_read("/sys/devices/system/node/online", online, sizeof(online)) < 0)
		doctor_no(a, "nodes of a recording become node 0",
		          "this kernel was built without CONFIG_NUMA");
	else
		doctor_yes(a, "%.64s", online);
}

/* Where cgroup v2 is mounted; false: nowhere. */
static bool cgroup2_mount(char *out, size_t size)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/self/mounts");
	char line[1024], where[512], type[64];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*s %511s %63s", where, type) == 2 && !strcmp(type, "cgroup2")) {
			snprintf(out, size, "%s", where);
			return true;
		}
	return false;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *p = text; (p = strstr(p, word)); p += len)
		if ((p == text || p[-1] == ' ') && (!p[len] || p[len] == ' '))
			return true;
	return false;
}

void doctor_ask_memory_cgroup(struct doctor_answer *a)
{
	char mount[512], path[600], controllers[SYSFILE_MAX];

	if (!cgroup2_mount(mount, sizeof(mount))) {
		doctor_no(a, "`mount -t cgroup2 none /sys/fs/cgroup` as root",
		          "cgroup v2 is not mounted");
		return;
	}
	snprintf(path, sizeof(path), "%s/cgroup.controllers", mount);
	if (sysfile_read(path, controllers, sizeof(controllers)) < 0)
		doctor_no(a, "", "%.128s cannot be read", path);
	else if (!has_word(controllers, "memory"))
		doctor_no(a, "boot with cgroup_no_v1=memory, or a kernel with CONFIG_MEMCG",
		          "%.128s has no memory controller, it is bound to cgroup v1 or missing",
		          mount);
	else if (snprintf(path, sizeof(path), "%s/cgroup.subtree_control", mount) < 0 ||
	         sysfile_may_write(path) < 0)
		doctor_no(a, "run as root", "%.128s may not be written", path);
	else
		doctor_yes(a, "%.64s", mount);
}

void doctor_ask_swap(struct doctor_answer *a)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/meminfo");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SwapTotal: %llu kB", &kib) == 1)
			break;
	if (kib)
		doctor_yes(a, "%llu MiB", kib >> 10);
	else
		doctor_no(a, "under --memory-max the out-of-memory killer comes early; swapon(8)",
		          "no swap is in use");
}

void doctor_ask_zram(struct doctor_answer *a)
{
	char path[PATH_MAX];

	if (sysfile_path(path, sizeof(path), "/sys/class/zram-control") == 0 &&
	    access(path, F_OK) == 0)
		doctor_yes(a, "swap in memory can be made");
	else
		doctor_no(a, "`modprobe zram` as root, or a kernel with CONFIG_ZRAM",
		          "this kernel has no zram now");
}
