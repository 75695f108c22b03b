/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Changes settings and puts them back. Two owners may want the same setting at
 * once: the second takes over the first one's old value if it wants what is
 * there already, and is refused otherwise; the last one to leave restores.
 */

#include <string.h>

#include "capture/journal.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"
#define KHUGEPAGED_SLEEP THP_DIR "khugepaged/scan_sleep_millisecs"
#define KHUGEPAGED_PAGES THP_DIR "khugepaged/pages_to_scan"
#define NUMA_BALANCING "/proc/sys/kernel/numa_balancing"
/* As long as an int of milliseconds goes: 24 days. */
#define SLEEP_LONG "2147483647"

struct settings_change {
	struct journal *journal; /* made with the first change */
	pid_t owner; /* a child made by fork must not restore */
};

int settings_change_new(struct settings_change **out)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->owner = getpid();
	return 0;
}

/* What another process, living or dead, noted about path, or NULL. */
static const struct journal_entry *find_other(const struct journal_files *files, const char *path,
                                              bool alive)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct journal_file *f = &files->files[i];

		for (size_t k = 0; !f->own && f->alive == alive && k < f->count; k++)
			if (!strcmp(f->entries[k].name, path))
				return &f->entries[k];
	}
	return NULL;
}

static bool is_noted(const struct journal *j, const char *path)
{
	size_t count;
	const struct journal_entry *entries = journal_entries(j, &count);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(entries[i].name, path))
			return true;
	return false;
}

/* The value to go back to, in *old: what was there before any of the owners came. */
static int agree_old(const struct journal_files *files, const char *path, const char *value,
                     bool alone, char *old, size_t size)
{
	const struct journal_entry *alive = find_other(files, path, true);
	const struct journal_entry *other = alive ? alive : find_other(files, path, false);
	char now[SYSFILE_MAX];
	int r;

	r = sysfile_read_choice(path, now, sizeof(now));
	if (r < 0)
		return r;
	if (alive && (alone || strcmp(now, value)))
		return -EBUSY;
	if (strlen(now) >= size)
		return -EINVAL;
	snprintf(old, size, "%s", other ? other->old : now);
	return 0;
}

static const char *change_problem(int r)
{
	switch (-r) {
	case ENOENT:
		return "this kernel has no such setting";
	case EINVAL:
		return "the kernel refused it";
	case EBUSY:
		return "another mmtape that is running uses it: wait for it to end";
	case EPERM:
	case EACCES:
	case EROFS:
		return "not permitted: run as root";
	default:
		return strerror(-r);
	}
}

static int change_locked(struct settings_change *c, int lock, const char *path, const char *value,
                         bool alone)
{
	struct journal_files files;
	char old[JOURNAL_MAX_VALUE];
	int r;

	r = journal_scan(lock, &files);
	if (r < 0)
		return r;
	r = agree_old(&files, path, value, alone, old, sizeof(old));
	journal_files_clear(&files);
	/* Noted even if nothing changes: others may not set it differently meanwhile. */
	if (r >= 0 && !is_noted(c->journal, path))
		r = journal_add_setting(c->journal, path, old);
	return r < 0 ? r : sysfile_write(path, value);
}

static int change_file(struct settings_change *c, const char *path, const char *value, bool alone)
{
	int lock, r;

	if (!journal_path_allowed(path)) {
		log_error("%s: not a setting that mmtape may change", path);
		return -EINVAL;
	}
	/* Looked at first: who may not change it needs no journal and cannot have one. */
	r = sysfile_may_write(path);
	if (r < 0)
		goto out;
	if (!c->journal) {
		r = journal_new(&c->journal);
		if (r < 0)
			return r;
	}
	lock = journal_lock();
	if (lock < 0)
		return lock;
	r = change_locked(c, lock, path, value, alone);
	journal_unlock(lock);
out:
	if (r < 0)
		log_error("%s: cannot set it to '%s': %s", path, value, change_problem(r));
	return r == -EACCES || r == -EROFS ? -EPERM : r;
}

int settings_change_file(struct settings_change *c, const char *path, const char *value)
{
	return change_file(c, path, value, false);
}

int settings_change_alone(struct settings_change *c, const char *path, const char *value)
{
	return change_file(c, path, value, true);
}

bool settings_thp_is_mode(const char *mode)
{
	return !strcmp(mode, "always") || !strcmp(mode, "madvise") || !strcmp(mode, "never");
}

int settings_check_thp(const char *mode)
{
	if (!settings_thp_is_mode(mode)) {
		log_error("--thp: '%s' is not one of always, madvise, never", mode);
		return -EINVAL;
	}
	return 0;
}

int settings_change_thp(struct settings_change *c, const char *mode)
{
	int r = settings_check_thp(mode);

	return r < 0 ? r : settings_change_file(c, THP_DIR "enabled", mode);
}

/* The size in bytes and where the mode begins. */
static int parse_mthp(const char *size_and_mode, uint64_t *bytes, const char **mode)
{
	const char *equals = strchr(size_and_mode, '=');
	char number[32];

	if (!equals || (size_t)(equals - size_and_mode) >= sizeof(number))
		goto wrong;
	memcpy(number, size_and_mode, (size_t)(equals - size_and_mode));
	number[equals - size_and_mode] = '\0';
	/* "64kB", as the kernel writes it, is a size as well. */
	if (strlen(number) > 2 && !strcasecmp(number + strlen(number) - 2, "kB"))
		number[strlen(number) - 1] = '\0';
	if (parse_size(number, bytes) < 0 || *bytes < 1024 || *bytes % 1024)
		goto wrong;
	*mode = equals + 1;
	if (!strcmp(*mode, "always") || !strcmp(*mode, "inherit") || !strcmp(*mode, "madvise") ||
	    !strcmp(*mode, "never"))
		return 0;
wrong:
	log_error("--mthp: '%s' is not SIZE=MODE with a mode of always, inherit, madvise, never, "
	          "such as 16k=always",
	          size_and_mode);
	return -EINVAL;
}

int settings_check_mthp(const char *size_and_mode)
{
	const char *mode;
	uint64_t bytes;

	return parse_mthp(size_and_mode, &bytes, &mode);
}

int settings_change_mthp(struct settings_change *c, const char *size_and_mode)
{
	char path[sizeof(THP_DIR) + 64];
	const char *mode;
	uint64_t bytes;
	int r = parse_mthp(size_and_mode, &bytes, &mode);

	if (r < 0)
		return r;
	snprintf(path, sizeof(path), THP_DIR "hugepages-%llukB/enabled",
	         (unsigned long long)(bytes / 1024));
	return settings_change_file(c, path, mode);
}

int settings_change_quiet(struct settings_change *c)
{
	/* A new address space wakes khugepaged all the same, but then it looks at one page table.
	 */
	static const struct {
		const char *path, *value;
	} quiet[] = {
		{ KHUGEPAGED_PAGES, "1" },
		{ KHUGEPAGED_SLEEP, SLEEP_LONG },
		{ NUMA_BALANCING, "0" },
	};
	char text[SYSFILE_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(quiet); i++) {
		int r;

		if (sysfile_read(quiet[i].path, text, sizeof(text)) < 0)
			continue;
		r = settings_change_file(c, quiet[i].path, quiet[i].value);
		if (r < 0)
			return r;
	}
	return 0;
}

/* false when something stayed changed that ought not to. */
static bool restore_locked(const struct journal *j, int lock)
{
	struct journal_files files;
	bool whole = true;
	size_t count;
	const struct journal_entry *entries = journal_entries(j, &count);

	if (journal_scan(lock, &files) < 0)
		return false;
	for (size_t i = count; i-- > 0;) {
		const struct journal_entry *e = &entries[i];
		int r;

		if (find_other(&files, e->name, true))
			continue;
		r = sysfile_write(e->name, e->old);
		if (r < 0 && r != -ENOENT) {
			log_error("%s: cannot put '%s' back: %s", e->name, e->old, strerror(-r));
			whole = false;
		}
	}
	journal_files_clear(&files);
	return whole;
}

struct settings_change *settings_change_free(struct settings_change *c)
{
	int lock;

	if (!c)
		return NULL;
	if (c->owner != getpid()) {
		journal_leave(c->journal);
	} else if (c->journal) {
		lock = journal_lock();
		/* The file goes before the lock does: no one may adopt values from it. */
		if (lock >= 0 && restore_locked(c->journal, lock))
			journal_free(c->journal);
		else
			journal_leave(c->journal);
		journal_unlock(lock);
	}
	free(c);
	return NULL;
}
