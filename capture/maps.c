/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/PID/maps and /proc/PID/auxv (Documentation/filesystems/proc.rst). */

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/maps.h"
#include "capture/rebase.h"
#include "common/cleanup.h"

static uint32_t map_kind(const char *name, uint64_t inode)
{
	if (!strncmp(name, "[heap]", 6))
		return MAP_KIND_HEAP;
	if (!strncmp(name, "[stack", 6))
		return MAP_KIND_STACK;
	if (!strncmp(name, "[vdso]", 6) || !strncmp(name, "[vvar", 5) ||
	    !strncmp(name, "[vsyscall]", 10) || !strncmp(name, "[uprobes]", 9))
		return MAP_KIND_SPECIAL;
	return inode ? MAP_KIND_FILE : MAP_KIND_ANON;
}

static uint32_t map_prot(const char perms[4])
{
	return (perms[0] == 'r' ? PROT_READ : 0U) | (perms[1] == 'w' ? PROT_WRITE : 0U) |
	       (perms[2] == 'x' ? PROT_EXEC : 0U) | (perms[3] == 's' ? FORMAT_MAP_SHARED : 0U);
}

int maps_parse_line(struct trace_map *out, const char *line, const struct siphash_key *key)
{
	unsigned major, minor;
	uint64_t inode;
	char perms[5];
	int name = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n",
	           &out->start, &out->end, perms, &out->offset, &major, &minor, &inode,
	           &name) < 7 ||
	    strlen(perms) != 4 || out->end <= out->start)
		return -EINVAL;
	if (out->start >= REBASE_TO)
		return 1;
	out->prot = map_prot(perms);
	out->kind = map_kind(line + name, inode);
	out->file = 0;
	if (out->kind == MAP_KIND_FILE)
		out->file = siphash_pair(key, makedev(major, minor), inode);
	else
		out->offset = 0;
	return 0;
}

static int add(struct trace_maps *out, size_t *room, const struct trace_map *map)
{
	if (out->count == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct trace_map *maps = realloc(out->maps, more * sizeof(*maps));

		if (!maps)
			return -ENOMEM;
		out->maps = maps;
		*room = more;
	}
	out->maps[out->count++] = *map;
	return 0;
}

int maps_read(struct trace_maps *out, uint32_t process, const struct siphash_key *key)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[32], line[PATH_MAX + 128];
	size_t room = 0;

	out->count = 0;
	out->maps = NULL;
	snprintf(path, sizeof(path), "/proc/%u/maps", process);
	f = fopen(path, "re");
	if (!f)
		return 1;
	while (out->count < MAPS_MAX && fgets(line, sizeof(line), f)) {
		struct trace_map map = { 0 };
		int r = maps_parse_line(&map, line, key);

		if (r == 0)
			r = add(out, &room, &map);
		if (r < 0 && r != -EINVAL) {
			maps_clear(out);
			return r;
		}
	}
	/* A process without memory (exiting) has an empty file. */
	return out->count ? 0 : 1;
}

void maps_clear(struct trace_maps *maps)
{
	free(maps->maps);
	maps->maps = NULL;
	maps->count = 0;
}

bool maps_is_32_bit(const struct trace_maps *maps)
{
	for (size_t i = 0; i < maps->count; i++)
		if (maps->maps[i].kind == MAP_KIND_STACK)
			return maps->maps[i].end <= 1ULL << 32;
	return false;
}

/* Opens a file of the process's folder in /proc. */
static int proc_open(uint32_t process, const char *name)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%u/%s", process, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* A 32-bit process has entries of two 32-bit words; its types then hold a value too. */
static uint64_t exec_name_address(uint32_t process)
{
	_cleanup_close_ int fd = proc_open(process, "auxv");
	union {
		Elf64_auxv_t wide[64];
		Elf32_auxv_t narrow[128];
	} auxv;
	ssize_t n = fd < 0 ? 0 : read(fd, &auxv, sizeof(auxv));

	if (n < (ssize_t)sizeof(auxv.wide[0]))
		return 0;
	if (auxv.wide[0].a_type > UINT32_MAX) {
		for (size_t i = 0; i < (size_t)n / sizeof(auxv.narrow[0]); i++)
			if (auxv.narrow[i].a_type == AT_EXECFN)
				return auxv.narrow[i].a_un.a_val;
		return 0;
	}
	for (size_t i = 0; i < (size_t)n / sizeof(auxv.wide[0]); i++)
		if (auxv.wide[i].a_type == AT_EXECFN)
			return auxv.wide[i].a_un.a_val;
	return 0;
}

bool maps_process_runs(uint32_t process, const char *name, size_t size)
{
	uint64_t address = exec_name_address(process);
	_cleanup_close_ int fd = -1;
	char text[PATH_MAX];
	ssize_t n;

	if (!address || address > INT64_MAX || size >= sizeof(text))
		return false;
	fd = proc_open(process, "mem");
	if (fd < 0)
		return false;
	n = pread(fd, text, size + 1, (off_t)address);
	return n == (ssize_t)size + 1 && !memcmp(text, name, size) && !text[size];
}
