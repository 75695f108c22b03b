/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Undoes what owners that were killed have left. */

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "capture/cgroup.h"
#include "capture/journal.h"
#include "capture/probes.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

static const char *const instance_dirs[] = {
	"/sys/kernel/tracing/instances",
	"/sys/kernel/debug/tracing/instances",
};

static int remove_instance(const char *name)
{
	char path[256], full[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(instance_dirs); i++) {
		int r;

		snprintf(path, sizeof(path), "%s/%s", instance_dirs[i], name);
		r = sysfile_path(full, sizeof(full), path);
		if (r < 0)
			return r;
		if (rmdir(full) == 0) {
			log_info("removed tracefs instance %s, left by an mmtape that was killed",
			         name);
			return 0;
		}
		if (errno != ENOENT && errno != ENOTDIR)
			return error_errno();
	}
	return 0;
}

/* A setting that a living owner holds too is that owner's to restore. */
static bool held_by_living(const struct journal_files *files, const char *path)
{
	for (size_t i = 0; i < files->count; i++)
		for (size_t k = 0; files->files[i].alive && k < files->files[i].count; k++)
			if (!strcmp(files->files[i].entries[k].name, path))
				return true;
	return false;
}

static int undo_probes(const char *group)
{
	int r = probes_remove_group(group);

	if (r > 0)
		log_info("removed probes %s, left by an mmtape that was killed", group);
	return r;
}

static int undo_cgroup(const char *path)
{
	int r = cgroup_remove(path);

	if (r > 0)
		log_info("removed cgroup %s, left by an mmtape that was killed", path);
	return r;
}

static int undo_controller(const char *path)
{
	int r = cgroup_controller_off(path);

	if (r > 0)
		log_info("switched the memory controller in %s off, left by an mmtape that was "
		         "killed",
		         path);
	return r;
}

static int undo_setting(const struct journal_files *files, const struct journal_entry *e)
{
	char now[SYSFILE_MAX];
	int r;

	if (held_by_living(files, e->name))
		return 0;
	if (sysfile_read_choice(e->name, now, sizeof(now)) == 0 && !strcmp(now, e->old))
		return 0;
	r = sysfile_write(e->name, e->old);
	if (r == 0)
		log_info("put %s back to '%s', changed by an mmtape that was killed", e->name,
		         e->old);
	return r == -ENOENT ? 0 : r;
}

static int undo_entry(const struct journal_files *files, const struct journal_entry *e)
{
	switch (e->kind) {
	case JOURNAL_INSTANCE:
		return remove_instance(e->name);
	case JOURNAL_PROBES:
		return undo_probes(e->name);
	case JOURNAL_CGROUP:
		return undo_cgroup(e->name);
	case JOURNAL_CONTROLLER:
		return undo_controller(e->name);
	case JOURNAL_SETTING:
		return undo_setting(files, e);
	}
	return 0;
}

/* 1: all undone and the file removed, 0: something is left for the next time. */
static int recover_file(int lock, const struct journal_files *files, const struct journal_file *f)
{
	bool whole = true;

	if (f->damaged)
		log_warn("/run/mmtape/%s: not all of it is a journal of this version; what is not "
		         "was left alone",
		         f->name);
	for (size_t i = f->count; i-- > 0;) {
		int r = undo_entry(files, &f->entries[i]);

		if (r < 0) {
			log_warn("%s: cannot be undone now (%s); the next start tries again",
			         f->entries[i].name, strerror(-r));
			whole = false;
		}
	}
	return whole && journal_remove(lock, f) == 0;
}

int settings_recover(void)
{
	struct journal_files files;
	int lock, r, recovered = 0;

	lock = journal_lock();
	if (lock == -ENOENT)
		return 0;
	if (lock < 0)
		return lock;
	r = journal_scan(lock, &files);
	if (r < 0) {
		log_error("/run/mmtape: cannot read it: %s", strerror(-r));
		journal_unlock(lock);
		return r;
	}
	for (size_t i = 0; i < files.count; i++)
		if (!files.files[i].alive)
			recovered += recover_file(lock, &files, &files.files[i]);
	journal_files_clear(&files);
	journal_unlock(lock);
	return recovered;
}
