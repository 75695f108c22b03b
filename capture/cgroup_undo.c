/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Empties and removes groups. Their names may come from a dead owner's journal. */

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "capture/cgroup_own.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define CGROUP2_MAGIC 0x63677270 /* include/uapi/linux/magic.h */
#define MAX_DEPTH 8
#define WAIT_MS 10000
#define LOOK_MS 50

static void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

/* A descriptor of the folder; -EINVAL if it is not in a cgroup file system. */
static int open_group(int dir, const char *name)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct statfs st;

	if (fd < 0 || fstatfs(fd, &st) < 0)
		return error_errno();
	return st.f_type == CGROUP2_MAGIC ? take_fd(&fd) : -EINVAL;
}

static int write_file(int group, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(group, name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return error_errno();
	return 0;
}

/* Each group in this one, with what is in it first. */
static int each_inner(int group, unsigned depth,
                      int (*call)(int parent, const char *name, unsigned depth))
{
	_cleanup_(cleanup_closedir) DIR *dir = NULL;
	int fd = openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	struct dirent *d;

	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return error_errno();
	while (r >= 0 && depth < MAX_DEPTH && (d = readdir(dir)))
		if (d->d_type == DT_DIR && d->d_name[0] != '.')
			r = call(group, d->d_name, depth + 1);
	return r;
}

static void kill_listed(int group)
{
	int fd = openat(group, "cgroup.procs", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	int pid;

	while (f && fscanf(f, "%d", &pid) == 1)
		if (pid > 1 && pid != getpid())
			kill(pid, SIGKILL);
	if (f)
		fclose(f);
}

static int kill_inner(int parent, const char *name, unsigned depth)
{
	_cleanup_close_ int group = open_group(parent, name);

	if (group < 0)
		return group == -ENOENT ? 0 : group;
	kill_listed(group);
	return each_inner(group, depth, kill_inner);
}

static bool is_populated(int events)
{
	char text[512];
	ssize_t n = pread(events, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return strstr(text, "populated 1") != NULL;
}

/* cgroup.kill is there since 5.14; before, what forks meanwhile is found by the next look. */
static int empty_group(int group)
{
	_cleanup_close_ int events = openat(group, "cgroup.events", O_RDONLY | O_CLOEXEC);
	struct pollfd changed = { .fd = events, .events = POLLPRI };
	bool killed;

	if (events < 0)
		return error_errno();
	if (!is_populated(events))
		return 0;
	killed = write_file(group, "cgroup.kill", "1") == 0;
	for (int waited = 0; is_populated(events); waited += LOOK_MS) {
		if (waited > WAIT_MS)
			return -EBUSY;
		if (!killed) {
			kill_listed(group);
			each_inner(group, 0, kill_inner);
		}
		poll(&changed, 1, LOOK_MS);
	}
	return 0;
}

static int remove_inner(int parent, const char *name, unsigned depth)
{
	_cleanup_close_ int group = open_group(parent, name);
	int r = group;

	if (r >= 0)
		r = each_inner(group, depth, remove_inner);
	if (r >= 0 && unlinkat(parent, name, AT_REMOVEDIR) < 0)
		r = error_errno();
	return r == -ENOENT ? 0 : r;
}

/* The group of a path, which is made whole in full. */
static int open_outer(const char *path, char full[static PATH_MAX])
{
	int r = sysfile_path(full, PATH_MAX, path);

	return r < 0 ? r : open_group(AT_FDCWD, full);
}

int cgroup_remove(const char *path)
{
	char full[PATH_MAX];
	_cleanup_close_ int group = open_outer(path, full);
	int r;

	if (group < 0)
		return group == -ENOENT ? 0 : group;
	r = empty_group(group);
	if (r >= 0)
		r = each_inner(group, 0, remove_inner);
	if (r >= 0 && rmdir(full) < 0)
		r = error_errno();
	return r < 0 ? r : 1;
}

int cgroup_controller_off(const char *path)
{
	char full[PATH_MAX], file[CGROUP_PATH + 40], now[SYSFILE_MAX];
	_cleanup_close_ int group = open_outer(path, full);
	int r;

	if (group < 0)
		return group == -ENOENT ? 0 : group;
	snprintf(file, sizeof(file), "%.*s/cgroup.subtree_control", CGROUP_PATH, path);
	if (sysfile_read(file, now, sizeof(now)) == 0 && !strstr(now, "memory"))
		return 0;
	r = write_file(group, "cgroup.subtree_control", "-memory");
	return r < 0 ? r : 1;
}
