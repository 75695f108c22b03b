/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the processes that came from one. */

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "replay/descendants.h"

static void cleanup_closedir(DIR **d)
{
	if (*d)
		closedir(*d);
}

int descendants_parse_stat(const char *line, struct descendant *out)
{
	const char *end = strrchr(line, ')');
	char state;

	if (!end || sscanf(line, "%d (", &out->pid) != 1 ||
	    sscanf(end + 1, " %c %d", &state, &out->parent) != 2 || out->pid <= 0)
		return -EINVAL;
	return 0;
}

static bool comes_from(const struct descendant *found, size_t count, pid_t root, pid_t parent)
{
	if (parent == root)
		return true;
	for (size_t i = 0; i < count; i++)
		if (found[i].pid == parent)
			return true;
	return false;
}

size_t descendants_select(struct descendant *all, size_t count, pid_t root)
{
	size_t found = 0, before;

	/* Each round finds one generation more, whatever the order of the numbers. */
	do {
		before = found;
		for (size_t i = found; i < count; i++) {
			struct descendant d = all[i];

			if (!comes_from(all, found, root, d.parent))
				continue;
			all[i] = all[found];
			all[found++] = d;
		}
	} while (found > before);
	return found;
}

static int read_one(const char *pid, struct descendant *out)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[300], line[512];

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	f = fopen(path, "re");
	if (!f || !fgets(line, sizeof(line), f))
		return -ESRCH;
	return descendants_parse_stat(line, out);
}

static int read_all(struct descendant **out, size_t *count)
{
	_cleanup_(cleanup_closedir) DIR *dir = opendir("/proc");
	size_t room = 0;
	struct dirent *d;

	if (!dir)
		return error_errno();
	while ((d = readdir(dir))) {
		struct descendant one;

		if (d->d_name[0] < '0' || d->d_name[0] > '9' || read_one(d->d_name, &one) < 0)
			continue;
		if (*count == room) {
			struct descendant *more;

			room = room ? room * 2 : 256;
			more = realloc(*out, room * sizeof(**out));
			if (!more)
				return -ENOMEM;
			*out = more;
		}
		(*out)[(*count)++] = one;
	}
	return 0;
}

int descendants_signal(pid_t root, int signal)
{
	_cleanup_free_ struct descendant *all = NULL;
	size_t count = 0, found;
	int r = read_all(&all, &count);

	if (r < 0)
		return r;
	if (!all)
		return 0;
	found = descendants_select(all, count, root);
	for (size_t i = 0; i < found; i++)
		kill(all[i].pid, signal);
	return (int)found;
}
