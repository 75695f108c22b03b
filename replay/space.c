/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The start of a replayed address space. Nothing here allocates: the heap moves at the end. */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/engine.h"
#include "replay/space.h"

static int map_object(int fd, uint64_t address, int prot, uint64_t at_least, const char *what)
{
	struct stat st;
	void *got;

	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size < at_least) {
		log_error("replay-space is internal: descriptor %d is not a %s", fd, what);
		return -EINVAL;
	}
	got = mmap((void *)address, (size_t)st.st_size, prot, MAP_SHARED | MAP_FIXED_NOREPLACE, fd,
	           0);
	if (got != (void *)address) {
		log_error("cannot map the %s at 0x%llx: %s (a sanitizer build cannot replay)", what,
		          (unsigned long long)address,
		          got == MAP_FAILED ? strerror(errno) : "address taken");
		return got == MAP_FAILED ? error_errno() : -EEXIST;
	}
	return 0;
}

static int map_objects(int plan_fd, int state_fd, uint32_t task, uint32_t space)
{
	int r = map_object(plan_fd, PLAN_BASE, PROT_READ, sizeof(struct plan_header), "plan");

	if (r < 0)
		return r;
	r = map_object(state_fd, STATE_BASE, PROT_READ | PROT_WRITE, sizeof(struct state_header),
	               "state");
	if (r < 0)
		return r;
	if (engine_plan()->magic != PLAN_MAGIC || task >= engine_plan()->task_count ||
	    (space != SPACE_NONE && space >= engine_plan()->space_count)) {
		log_error("replay-space is internal: no such task or space in the plan");
		return -EINVAL;
	}
	return 0;
}

static int make_map(const struct plan_map *map)
{
	int fd = map->file ? (int)(engine_state()->file_fd + map->file - 1) : -1;
	int flags = (int)map->flags | MAP_FIXED_NOREPLACE | (map->file ? 0 : MAP_ANONYMOUS);
	void *got = mmap((void *)map->address, map->length, (int)map->prot, flags, fd,
	                 (off_t)map->file_offset);

	if (got == (void *)map->address)
		return 0;
	log_error("cannot make a mapping of 0x%llx bytes at 0x%llx before the start: %s",
	          (unsigned long long)map->length, (unsigned long long)map->address,
	          got == MAP_FAILED ? strerror(errno) : "address taken");
	return got == MAP_FAILED ? error_errno() : -EEXIST;
}

static int make_maps(const struct plan_space *space)
{
	const struct plan_map *maps = (const struct plan_map *)(PLAN_BASE + space->maps);
	uint64_t *bases = (uint64_t *)(STATE_BASE + engine_state()->anchors);

	for (uint32_t i = 0; i < space->map_count; i++) {
		int r = make_map(&maps[i]);

		if (r < 0)
			return r;
		if (maps[i].anchor)
			bases[maps[i].anchor] = maps[i].address;
	}
	return 0;
}

/*
 * All at once, which needs no privilege (kernel/sys.c, prctl_set_mm_map) but a
 * kernel with checkpoint and restore. Until 5.14 the break had to lie above the
 * end of data, so the data is declared to lie below every cluster.
 */
static int set_break_by_map(uint64_t start)
{
	extern const char __executable_start[], etext[];
	uint64_t here = (uint64_t)__builtin_frame_address(0);
	struct prctl_mm_map map = {
		.start_code = (uint64_t)__executable_start,
		.end_code = (uint64_t)etext,
		.start_data = PLAN_BASE,
		.end_data = PLAN_BASE,
		.start_brk = start,
		.brk = start,
		.start_stack = here,
		.arg_start = here,
		.arg_end = here,
		.env_start = here,
		.env_end = here,
		.exe_fd = UINT32_MAX,
	};

	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) ? error_errno() : 0;
}

/*
 * Both ends of an empty range. The kernel wants start <= end after each step, so
 * a range that moves up moves its end first: the break of a static program lies
 * below every cluster, that of another one above.
 */
static int set_ends(int start, int end, uint64_t to)
{
	if (!prctl(PR_SET_MM, start, to, 0, 0))
		return prctl(PR_SET_MM, end, to, 0, 0) ? error_errno() : 0;
	if (prctl(PR_SET_MM, end, to, 0, 0) || prctl(PR_SET_MM, start, to, 0, 0))
		return error_errno();
	return 0;
}

/* The other way, with CAP_SYS_RESOURCE. */
static int set_break(uint64_t start)
{
	int r;

	if (!set_break_by_map(start))
		return 0;
	r = set_ends(PR_SET_MM_START_DATA, PR_SET_MM_END_DATA, PLAN_BASE);
	return r < 0 ? r : set_ends(PR_SET_MM_START_BRK, PR_SET_MM_BRK, start);
}

static int place_heap(const struct plan_space *space)
{
	int r;

	if (!space->brk_start)
		return 0;
	r = set_break(space->brk_start);
	if (!r && space->brk > space->brk_start &&
	    (uint64_t)syscall(SYS_brk, space->brk) != space->brk &&
	    prctl(PR_SET_MM, PR_SET_MM_BRK, space->brk, 0, 0))
		r = error_errno();
	if (r < 0)
		log_error("cannot place the heap at 0x%llx: %s",
		          (unsigned long long)space->brk_start, strerror(-r));
	return r;
}

/* The kernel would go on writing to the thread's rseq area after it is unmapped. */
static void forget_rseq(void)
{
	char *area = (char *)__builtin_thread_pointer() + __rseq_offset;

	if (!__rseq_size)
		return;
	/* glibc registers 32 bytes up to 2.39, and at least the kernel's size after it. */
	for (unsigned size = 32; size <= 256; size += 4)
		if (!syscall(SYS_rseq, area, size, 1 /* UNREGISTER */, RSEQ_SIG))
			return;
}

/* What stays: plan, state, clusters, the program's text and constants, the kernel's pages. */
static bool range_stays(uint64_t start, const char *line)
{
	extern const char __executable_start[], _end[];
	const char *prot = strchr(line, ' ');

	if (start >= PLAN_BASE && start < CLUSTER_END)
		return true;
	if (!prot || strstr(line, "[v") || strstr(line, "[uprobes]"))
		return true;
	return prot[2] != 'w' && start >= (uint64_t)__executable_start && start < (uint64_t)_end;
}

static void list_line(struct engine_ranges *list, const char *line)
{
	uint64_t start, end;

	if (sscanf(line, "%lx-%lx", &start, &end) != 2 || range_stays(start, line) ||
	    list->count == ENGINE_MAX_RANGES)
		return;
	list->range[list->count].start = start;
	list->range[list->count++].length = end - start;
}

static int list_program(uint32_t task)
{
	static char text[65536];
	struct engine_ranges *list = engine_ranges(task);
	_cleanup_close_ int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	size_t have = 0;
	ssize_t got = 0;
	char *next;

	if (fd < 0) {
		log_error("cannot read /proc/self/maps: %s", strerror(errno));
		return error_errno();
	}
	while (have < sizeof(text) - 1 &&
	       (got = read(fd, text + have, sizeof(text) - 1 - have)) > 0)
		have += (size_t)got;
	text[have] = 0;
	list->count = 0;
	for (char *line = text; *line; line = next) {
		next = line + strcspn(line, "\n");
		if (*next)
			*next++ = 0;
		list_line(list, line);
	}
	return 0;
}

int space_start(int plan_fd, int state_fd, uint32_t task, uint32_t number)
{
	const struct plan_space *space;
	int r = map_objects(plan_fd, state_fd, task, number);

	if (r < 0)
		return r;
	if (number == SPACE_NONE)
		number = engine_plan_task(task)->space;
	engine_task(task)->space = number;
	space = (const struct plan_space *)(PLAN_BASE + engine_plan()->spaces) + number;
	r = make_maps(space);
	if (r >= 0)
		r = list_program(task);
	if (r >= 0)
		r = place_heap(space);
	if (r < 0) {
		engine_fail(task, FAILURE_SETUP, -r);
		return r;
	}
	prctl(PR_SET_NAME, "mmtape-space");
	forget_rseq();
	arch_switch_stack(engine_stack_top(task), task, engine_enter);
}
