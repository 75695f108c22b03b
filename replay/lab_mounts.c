/* SPDX-License-Identifier: GPL-2.0-or-later */
/* File systems of a guest. */

#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "replay/lab_guest.h"

static const struct {
	const char *type, *at, *options;
	bool needed;
} mounts[] = {
	{ "proc", "/proc", NULL, true },
	{ "sysfs", "/sys", NULL, true },
	{ "devtmpfs", "/dev", NULL, false },
	{ "tmpfs", "/tmp", "mode=1777", false },
	{ "tmpfs", "/run", "mode=0755", false },
	{ "tracefs", "/sys/kernel/tracing", NULL, false },
	{ "debugfs", "/sys/kernel/debug", NULL, false },
	{ "cgroup2", "/sys/fs/cgroup", NULL, false },
};

/* Without devtmpfs the lab makes the few that are used. */
static const struct {
	const char *path;
	unsigned major, minor;
} devices[] = {
	{ "/dev/null", 1, 3 },    { "/dev/zero", 1, 5 },   { "/dev/urandom", 1, 9 },
	{ "/dev/tty", 5, 0 },     { "/dev/ttyS0", 4, 64 }, { "/dev/ttyS1", 4, 65 },
	{ "/dev/console", 5, 1 },
};

int lab_guest_mount(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		if (mount(mounts[i].type, mounts[i].at, mounts[i].type, 0, mounts[i].options) == 0)
			continue;
		if (mounts[i].needed) {
			int r = error_errno();

			printf("mmtape: no %s: %s\n", mounts[i].type, strerror(-r));
			return r;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (access(devices[i].path, F_OK) < 0 &&
		    mknod(devices[i].path, S_IFCHR | 0600,
		          devices[i].major << 8 | devices[i].minor) < 0)
			printf("mmtape: %s cannot be made: %s\n", devices[i].path, strerror(errno));
	return 0;
}
