/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes groups, lets processes in, reads what they used. */

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/cgroup_own.h"
#include "capture/counters.h"
#include "capture/journal.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#define FILE_PATH (CGROUP_PATH + 64)

struct cgroups {
	struct journal *journal;
	pid_t owner;
	char path[CGROUP_PATH]; /* of the folder */
	char parent[CGROUP_PATH];
	bool made, switched_on;
	uint32_t count;
	int *fds;
};

/* The one line for what the kernel says of a group. */
static int say(const char *path, const char *what, int error)
{
	if (error == -EBUSY)
		log_error("--cgroup: %s: cannot %s: it has processes of its own: run mmtape in a "
		          "group that was delegated, such as `systemd-run --scope -p Delegate=yes`",
		          path, what);
	else
		log_error("--cgroup: %s: cannot %s: %s", path, what, strerror(-error));
	return error;
}

static int make_folder(const char *path)
{
	char full[PATH_MAX];
	int r = sysfile_path(full, sizeof(full), path);

	if (r >= 0 && mkdir(full, 0755) < 0)
		r = error_errno();
	return r < 0 ? say(path, "make it", r) : 0;
}

static int switch_on(const char *group)
{
	char path[FILE_PATH];
	int r;

	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", group);
	r = sysfile_write(path, "+memory");
	return r < 0 ? say(group, "hand its memory controller on", r) : 0;
}

static int limit(const char *group, uint64_t bytes)
{
	char path[FILE_PATH + 16], text[32];
	int r;

	snprintf(path, sizeof(path), "%s/memory.max", group);
	snprintf(text, sizeof(text), "%" PRIu64, bytes);
	r = sysfile_write(path, text);
	return r < 0 ? say(group, "limit its memory", r) : 0;
}

static int make_group(struct cgroups *g, uint32_t i, uint64_t memory_max)
{
	char path[FILE_PATH], procs[FILE_PATH + 16], full[PATH_MAX];
	int r;

	snprintf(path, sizeof(path), "%s/%u", g->path, i);
	r = make_folder(path);
	if (r >= 0 && memory_max)
		r = limit(path, memory_max);
	if (r < 0)
		return r;
	snprintf(procs, sizeof(procs), "%s/cgroup.procs", path);
	r = sysfile_path(full, sizeof(full), procs);
	if (r >= 0)
		g->fds[i] = open(full, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
	if (r >= 0 && g->fds[i] < 0)
		r = error_errno();
	return r < 0 ? say(path, "let processes in", r) : 0;
}

/* A name that nobody has: an mmtape of another PID namespace may have our number. */
static int choose_path(struct cgroups *g)
{
	char full[PATH_MAX], path[FILE_PATH];
	int r = -EEXIST;

	for (unsigned i = 0; i < 1000 && r == -EEXIST; i++) {
		snprintf(path, sizeof(path), "%s/mmtape-%d-%u", g->parent, (int)getpid(), i);
		r = sysfile_path(full, sizeof(full), path);
		if (r >= 0 && access(full, F_OK) == 0)
			r = -EEXIST;
	}
	if (r < 0)
		return say(path, "make it", r);
	if (strlen(path) >= sizeof(g->path))
		return say(path, "make it", -ENAMETOOLONG);
	memcpy(g->path, path, strlen(path) + 1);
	return 0;
}

static int make_all(struct cgroups *g, uint64_t memory_max)
{
	bool on;
	int r = cgroup_find_parent(g->parent, &on);

	if (r >= 0)
		r = choose_path(g);
	if (r >= 0)
		r = journal_new(&g->journal);
	if (r >= 0 && on) {
		r = journal_add_controller(g->journal, g->parent);
		g->switched_on = r >= 0;
		if (r >= 0)
			r = switch_on(g->parent);
	}
	if (r >= 0)
		r = journal_add_cgroup(g->journal, g->path);
	if (r >= 0)
		r = make_folder(g->path);
	g->made = r >= 0;
	if (r >= 0)
		r = switch_on(g->path);
	for (uint32_t i = 0; i < g->count && r >= 0; i++)
		r = make_group(g, i, memory_max);
	return r;
}

int cgroups_new(struct cgroups **out, uint32_t count, uint64_t memory_max)
{
	struct cgroups *g = calloc(1, sizeof(*g));
	int r = 0;

	if (g)
		g->fds = malloc(count * sizeof(*g->fds));
	if (!g || !g->fds) {
		free(g);
		log_error("not enough memory");
		return -ENOMEM;
	}
	g->owner = getpid();
	g->count = count;
	for (uint32_t i = 0; i < count; i++)
		g->fds[i] = -1;
	r = make_all(g, memory_max);
	if (r < 0)
		cgroups_free(g);
	else
		*out = g;
	return r;
}

/* What cannot be undone stays in the journal, for the next start. */
static void undo(struct cgroups *g)
{
	int r = g->made ? cgroup_remove(g->path) : 0;

	if (r < 0)
		log_warn("%s: cannot be removed now (%s); the next start tries again", g->path,
		         strerror(-r));
	if (r >= 0 && g->switched_on) {
		r = cgroup_controller_off(g->parent);
		if (r < 0)
			log_warn("%s: its memory controller cannot be switched off now, others "
			         "use it (%s); the next start tries again",
			         g->parent, strerror(-r));
	}
	g->journal = r < 0 ? journal_leave(g->journal) : journal_free(g->journal);
}

struct cgroups *cgroups_free(struct cgroups *g)
{
	if (!g)
		return NULL;
	for (uint32_t i = 0; i < g->count; i++)
		if (g->fds[i] >= 0)
			close(g->fds[i]);
	if (g->owner == getpid() && g->journal)
		undo(g);
	free(g->fds);
	free(g);
	return NULL;
}

uint32_t cgroups_count(const struct cgroups *g)
{
	return g->count;
}

int cgroups_fd(const struct cgroups *g, uint32_t group)
{
	return g->fds[group];
}

int cgroup_enter(int fd)
{
	return write(fd, "0", 1) == 1 ? 0 : error_errno();
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234" */
static int read_pressure(const char *path, struct trace_meta *out)
{
	_cleanup_fclose_ FILE *f = sysfile_open(path);
	char line[256], key[64];
	int r = 0;

	/* Reading says EOPNOTSUPP where PSI is compiled in and switched off. */
	while (f && r >= 0 && fgets(line, sizeof(line), f)) {
		const char *total = strstr(line, " total=");
		uint64_t us;

		if (!total || sscanf(total, " total=%" SCNu64, &us) != 1)
			continue;
		snprintf(key, sizeof(key), "pressure/memory.%.*s", (int)strcspn(line, " "), line);
		r = trace_meta_set_u64(out, key, us);
	}
	return r;
}

int cgroups_counters(const struct cgroups *g, struct trace_meta *out)
{
	char path[FILE_PATH];
	int r;

	snprintf(path, sizeof(path), "%s/memory.stat", g->path);
	r = counters_read_pairs(path, "memcg/", out);
	snprintf(path, sizeof(path), "%s/memory.events", g->path);
	if (r >= 0)
		r = counters_read_pairs(path, "memcg/events.", out);
	snprintf(path, sizeof(path), "%s/memory.pressure", g->path);
	return r < 0 ? r : read_pressure(path, out);
}

int cgroup_machine_pressure(struct trace_meta *out)
{
	return read_pressure("/proc/pressure/memory", out);
}
