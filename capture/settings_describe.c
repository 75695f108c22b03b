/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this kernel and machine are: the settings of traces/meta.h, read. */

#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/utsname.h>

#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/options.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"
#define HUGEPAGES "hugepages-"
#define PROBE_PAGES 64

static const struct {
	const char *key, *path;
} setting_files[] = {
	{ META_THP, THP_DIR "enabled" },
	{ META_THP_DEFRAG, THP_DIR "defrag" },
	{ META_THP_SHRINK_UNDERUSED, THP_DIR "shrink_underused" },
	{ "thp_shmem", THP_DIR "shmem_enabled" },
	{ "thp_use_zero_page", THP_DIR "use_zero_page" },
	{ META_HUGE_PAGE_SIZE, THP_DIR "hpage_pmd_size" },
	{ "khugepaged_scan_sleep", THP_DIR "khugepaged/scan_sleep_millisecs" },
	{ "khugepaged_defrag", THP_DIR "khugepaged/defrag" },
	{ META_LRU_GEN, "/sys/kernel/mm/lru_gen/enabled" },
	{ "numa_balancing", "/proc/sys/kernel/numa_balancing" },
	{ META_MAX_MAP_COUNT, "/proc/sys/vm/max_map_count" },
	{ META_OVERCOMMIT, "/proc/sys/vm/overcommit_memory" },
};

static void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static int describe_files(struct trace_meta *meta)
{
	char text[SYSFILE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(setting_files); i++) {
		int r;

		if (sysfile_read_choice(setting_files[i].path, text, sizeof(text)) < 0)
			continue;
		r = trace_meta_set(meta, setting_files[i].key, text);
		if (r < 0)
			return r;
	}
	return 0;
}

static int describe_sizes(struct trace_meta *meta)
{
	_cleanup_(cleanup_closedir) DIR *dir = sysfile_opendir(THP_DIR);
	char path[512], key[300], text[SYSFILE_MAX];
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		int r;

		if (strncmp(d->d_name, HUGEPAGES, strlen(HUGEPAGES)))
			continue;
		snprintf(path, sizeof(path), THP_DIR "%s/enabled", d->d_name);
		if (sysfile_read_choice(path, text, sizeof(text)) < 0)
			continue;
		snprintf(key, sizeof(key), META_THP_SIZE_PREFIX "%s",
		         d->d_name + strlen(HUGEPAGES));
		r = trace_meta_set(meta, key, text);
		if (r < 0 && r != -E2BIG)
			return r;
	}
	return 0;
}

/* MemTotal and SwapTotal, in bytes. */
static int describe_memory(struct trace_meta *meta)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/meminfo");
	unsigned long long kib;
	char line[256];
	int r = 0;

	while (f && r >= 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "MemTotal: %llu kB", &kib) == 1)
			r = trace_meta_set_u64(meta, META_MEMORY, kib * 1024);
		else if (sscanf(line, "SwapTotal: %llu kB", &kib) == 1)
			r = trace_meta_set_u64(meta, META_SWAP, kib * 1024);
	}
	return r;
}

/* How many numbers a list such as "0-3,8" names. */
static uint64_t count_list(const char *list)
{
	uint64_t count = 0;

	while (*list) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (end == list)
			break;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		count += last >= first ? last - first + 1 : 0;
		list = *end == ',' ? end + 1 : end;
	}
	return count;
}

/*
 * A kernel with a larger address space hands it out only to those who ask with
 * a hint above the usual end (Documentation/arch/x86/x86_64/5level-paging.rst).
 */
static unsigned probe_address_bits(void)
{
	static const unsigned candidates[] = { 56, 52, 48 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (size_t i = 0; i < ARRAY_SIZE(candidates); i++) {
		uint64_t hint = 1ULL << (candidates[i] - 1);
		void *p = mmap((void *)(uintptr_t)hint, page, PROT_NONE,
		               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		if (p == MAP_FAILED)
			continue;
		munmap(p, page);
		if ((uintptr_t)p >= hint)
			return candidates[i];
	}
	return 47;
}

static int describe_machine(struct trace_meta *meta)
{
	char text[SYSFILE_MAX];
	struct utsname u;
	uint64_t nodes = 1;
	int r;

	if (uname(&u) < 0)
		return error_errno();
	if (sysfile_read("/sys/devices/system/node/online", text, sizeof(text)) == 0)
		nodes = count_list(text);
	r = trace_meta_set(meta, META_KERNEL, u.release);
	if (r >= 0)
		r = trace_meta_set(meta, META_KERNEL_VERSION, u.version);
	if (r >= 0)
		r = trace_meta_set(meta, META_ARCH, u.machine);
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_PAGE_SIZE, (uint64_t)sysconf(_SC_PAGESIZE));
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_ADDRESS_BITS, probe_address_bits());
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_CPUS, (uint64_t)sysconf(_SC_NPROCESSORS_ONLN));
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_NODES, nodes);
	if (r >= 0)
		r = trace_meta_set(meta, META_TOOL, "mmtape " MMTAPE_VERSION);
	return r;
}

static long minor_faults(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) < 0 ? 0 : usage.ru_minflt;
}

int settings_probe_zero_page(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *area;
	char sum = 0;
	long before;

	area = mmap(NULL, PROBE_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
	            -1, 0);
	if (area == MAP_FAILED)
		return error_errno();
	/* EINVAL on a kernel without huge pages is as good. */
	madvise((void *)area, PROBE_PAGES * page, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PROBE_PAGES; i++)
		sum |= area[i * page];
	/* Writes to the zero page fault once more each; writes to pages of our own do not. */
	before = minor_faults();
	for (size_t i = 0; i < PROBE_PAGES; i++)
		area[i * page] = (char)(sum + 1);
	before = minor_faults() - before;
	munmap((void *)area, PROBE_PAGES * page);
	return before >= PROBE_PAGES / 2;
}

bool settings_probe_heap(void)
{
	unsigned size;

	/* Without privilege it takes checkpoint and restore in the kernel. */
	if (!prctl(PR_SET_MM, PR_SET_MM_MAP_SIZE, &size, 0, 0))
		return true;
	/* Refused for want of privilege, or only for the address. */
	return prctl(PR_SET_MM, PR_SET_MM_BRK, 0, 0, 0) && errno != EPERM;
}

int settings_describe(struct trace_meta *meta)
{
	int r, zero_page = settings_probe_zero_page();

	if (zero_page < 0)
		return zero_page;
	r = describe_machine(meta);
	if (r >= 0)
		r = describe_memory(meta);
	if (r >= 0)
		r = describe_files(meta);
	if (r >= 0)
		r = describe_sizes(meta);
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_ZERO_PAGE, (uint64_t)zero_page);
	return r;
}
