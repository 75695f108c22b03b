/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether tracefs can be used here, and if not, why. libtracefs would mount it when
 * it is not mounted: we look first, since recording must not change the system.
 */

#include <dirent.h>
#include <mntent.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "capture/instance.h"
#include "common/cleanup.h"
#include "common/log.h"

struct reason {
	char *text;
	size_t size;
};

static _printf_(3, 4) int refuse(const struct reason *why, int r, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(why->text, why->size, fmt, args);
	va_end(args);
	return r;
}

static int directory_empty(const char *path, bool *empty)
{
	struct dirent *entry;
	DIR *dir = opendir(path);

	if (!dir)
		return error_errno();
	*empty = true;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			*empty = false;
	closedir(dir);
	return 0;
}

static int check_usable(const char *path, const struct reason *why)
{
	_cleanup_free_ char *instances = NULL;
	bool empty;
	int r = directory_empty(path, &empty);

	if (r == -EACCES || r == -EPERM)
		return refuse(why, -EPERM,
		              "%s: no access: run as root, or have it mounted with a gid of yours",
		              path);
	if (r < 0)
		return refuse(why, r, "%s: %s", path, strerror(-r));
	if (empty)
		return refuse(why, -EPERM,
		              "%s is empty, kernel lockdown hides tracing: boot with "
		              "lockdown=integrity or without lockdown",
		              path);
	if (asprintf(&instances, "%s/instances", path) < 0)
		return -ENOMEM;
	if (access(instances, F_OK) < 0)
		return refuse(why, -ENOENT,
		              "%s: this kernel has no trace instances: recording needs "
		              "CONFIG_TRACING and 5.4 or later",
		              path);
	if (access(instances, W_OK) < 0)
		return refuse(why, -EPERM, "%s: may not be written: run as root", instances);
	return 0;
}

static bool is_mounted(const char *path)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent *m;
	bool found = false;

	while (f && !found && (m = getmntent(f)))
		found = !strcmp(m->mnt_type, "tracefs") && !strcmp(m->mnt_dir, path);
	if (f)
		endmntent(f);
	return found;
}

/* Only the usual places: recovery after a kill looks there. */
const char *instance_tracefs(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		/* Looking into debugfs makes the kernel mount it there. */
		if ((i == 0 || access("/sys/kernel/debug/tracing/trace", F_OK) == 0) &&
		    is_mounted(places[i]))
			return places[i];
	return NULL;
}

int instance_explain(char *text, size_t size)
{
	const struct reason why = { text, size };
	const char *path = instance_tracefs();
	int r;

	if (!path)
		return refuse(&why, -ENOENT,
		              "tracefs is not mounted: "
		              "`mount -t tracefs tracefs /sys/kernel/tracing` as root");
	r = check_usable(path, &why);
	if (r < 0)
		return r;
	if (tracefs_set_tracing_dir((char *)path) < 0)
		return -ENOMEM;
	if (!tracefs_event_file_exists(NULL, "syscalls", "sys_enter_mmap", "format"))
		return refuse(&why, -ENOENT,
		              "%s/events has no syscalls: recording needs a kernel with "
		              "CONFIG_FTRACE_SYSCALLS",
		              path);
	return 0;
}

int instance_check(void)
{
	char why[256] = "";
	int r = instance_explain(why, sizeof(why));

	if (*why)
		log_error("%s", why);
	return r;
}
