/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The journal: creating, extending and removing this process's files. */

#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "capture/journal.h"
#include "capture/journal_own.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

#define THP "/sys/kernel/mm/transparent_hugepage/"

struct journal {
	struct journal *next;
	dev_t device;
	ino_t inode;
	pid_t owner; /* a child made by fork has the object, but neither lock nor duty */
	int fd;
	size_t bytes, count;
	struct journal_entry *entries;
	char name[64];
};

/* This process's open journals; commands change settings from one thread. */
static struct journal *own_journals;

static const char *const allowed_paths[] = {
	THP "enabled",
	THP "defrag",
	THP "shmem_enabled",
	THP "use_zero_page",
	THP "shrink_underused",
	THP "hugepages-[0-9]*kB/enabled",
	THP "hugepages-[0-9]*kB/shmem_enabled",
	THP "khugepaged/defrag",
	THP "khugepaged/pages_to_scan",
	THP "khugepaged/scan_sleep_millisecs",
	"/proc/sys/kernel/lock_stat",
	"/proc/sys/kernel/numa_balancing",
};

bool journal_path_allowed(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(allowed_paths); i++)
		if (!fnmatch(allowed_paths[i], path, FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE))
			return true;
	return false;
}

#define WORD_CHARS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

/* Recovery looks besides whether it is in a cgroup file system. */
static bool is_plain_path(const char *path)
{
	for (const char *c = path; *c; c++)
		if (*c <= ' ' || *c > '~')
			return false;
	return *path == '/' && !strstr(path, "//") && !strstr(path, "/.") &&
	       strlen(path) < sizeof(((struct journal_entry *)0)->name);
}

static bool is_own_cgroup(const char *path)
{
	const char *name = strrchr(path, '/');

	return is_plain_path(path) && name && !strncmp(name, "/mmtape-", 8) &&
	       strspn(name + 1, WORD_CHARS) == strlen(name + 1);
}

bool journal_entry_valid(enum journal_kind kind, const char *name, const char *old)
{
	size_t len = strlen(name);

	if (kind == JOURNAL_INSTANCE)
		return !strncmp(name, "mmtape", 6) && len < 128 && strspn(name, WORD_CHARS) == len;
	/* Names of groups have no dash and at most 63 characters (MAX_EVENT_NAME_LEN). */
	if (kind == JOURNAL_PROBES)
		return !strncmp(name, "mmtape_", 7) && len < 64 &&
		       strspn(name, WORD_CHARS) == len && !strchr(name, '-');
	if (kind == JOURNAL_CGROUP)
		return is_own_cgroup(name);
	if (kind == JOURNAL_CONTROLLER)
		return is_plain_path(name);
	return journal_path_allowed(name) && len < sizeof(((struct journal_entry *)0)->name) &&
	       *old && strlen(old) < JOURNAL_MAX_VALUE && !old[strspn(old, WORD_CHARS "+.")];
}

int journal_dir_path(char *out, size_t size)
{
	char path[64] = "/run/mmtape";

	if (geteuid() != 0)
		snprintf(path, sizeof(path), "/run/user/%u/mmtape", (unsigned)geteuid());
	return sysfile_path(out, size, path);
}

/* Whoever else could write there could make root write settings. */
static int check_dir(int fd, const char *path)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno();
	if (st.st_uid != geteuid() || (st.st_mode & 077)) {
		log_error("%s: must belong to user %u with mode 0700: remove it and try again",
		          path, (unsigned)geteuid());
		return -EPERM;
	}
	return 0;
}

static int lock_dir(bool create)
{
	_cleanup_close_ int fd = -1;
	char path[PATH_MAX];
	int r;

	r = journal_dir_path(path, sizeof(path));
	if (r < 0)
		return r;
	if (create && mkdir(path, 0700) < 0 && errno != EEXIST) {
		r = error_errno();
		log_error("%s: cannot create it: %s", path, strerror(-r));
		return r;
	}
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && !create && errno == ENOENT)
		return -ENOENT;
	if (fd < 0) {
		r = error_errno();
		log_error("%s: cannot open it: %s", path, strerror(-r));
		return r;
	}
	r = check_dir(fd, path);
	if (r < 0)
		return r;
	while (flock(fd, LOCK_EX) < 0)
		if (errno != EINTR)
			return error_errno();
	return take_fd(&fd);
}

int journal_lock(void)
{
	return lock_dir(false);
}

void journal_unlock(int lock)
{
	if (lock >= 0)
		close(lock);
}

const struct journal *journal_find_own(dev_t device, ino_t inode)
{
	for (const struct journal *j = own_journals; j; j = j->next)
		if (j->owner == getpid() && j->device == device && j->inode == inode)
			return j;
	return NULL;
}

const struct journal_entry *journal_entries(const struct journal *j, size_t *count)
{
	*count = j->count;
	return j->entries;
}

static int append_line(struct journal *j, const char *line)
{
	size_t len = strlen(line);
	ssize_t n;

	if (j->bytes + len > JOURNAL_MAX_BYTES)
		return -E2BIG;
	n = write(j->fd, line, len);
	if (n < 0)
		return error_errno();
	if ((size_t)n != len)
		return -ENOSPC;
	j->bytes += len;
	return 0;
}

static int create_file(struct journal *j, int lock)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct stat st;

	/* A process id of another PID namespace may have taken the name. */
	for (unsigned i = 0; i < 1000 && j->fd < 0; i++) {
		snprintf(j->name, sizeof(j->name), "%d-%u.journal", (int)getpid(), i);
		j->fd = openat(lock, j->name,
		               O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		               0600);
		if (j->fd < 0 && errno != EEXIST)
			return error_errno();
	}
	if (j->fd < 0)
		return -EEXIST;
	if (fcntl(j->fd, F_SETLK, &whole) < 0 || fstat(j->fd, &st) < 0)
		return error_errno();
	j->device = st.st_dev;
	j->inode = st.st_ino;
	return append_line(j, JOURNAL_HEADER "\n");
}

int journal_new(struct journal **out)
{
	struct journal *j;
	int lock, r;

	j = calloc(1, sizeof(*j));
	if (!j)
		return -ENOMEM;
	j->fd = -1;
	j->owner = getpid();
	lock = lock_dir(true);
	if (lock < 0) {
		free(j);
		return lock;
	}
	r = create_file(j, lock);
	if (r < 0) {
		log_error("/run/mmtape: cannot write a journal there, so nothing is changed: %s",
		          strerror(-r));
		if (j->fd >= 0) {
			unlinkat(lock, j->name, 0);
			close(j->fd);
		}
		free(j);
		journal_unlock(lock);
		return r;
	}
	journal_unlock(lock);
	j->next = own_journals;
	own_journals = j;
	*out = j;
	return 0;
}

static void forget(struct journal *j)
{
	struct journal **at = &own_journals;

	while (*at && *at != j)
		at = &(*at)->next;
	if (*at)
		*at = j->next;
	close(j->fd);
	free(j->entries);
	free(j);
}

struct journal *journal_leave(struct journal *j)
{
	if (j)
		forget(j);
	return NULL;
}

struct journal *journal_free(struct journal *j)
{
	char dir[PATH_MAX], path[PATH_MAX + 80];

	if (!j)
		return NULL;
	if (j->owner != getpid())
		return journal_leave(j);
	/* Without the directory's lock: a file without anything to undo harms nobody. */
	if (journal_dir_path(dir, sizeof(dir)) == 0) {
		snprintf(path, sizeof(path), "%s/%s", dir, j->name);
		unlink(path);
	}
	forget(j);
	return NULL;
}

static int remember(struct journal *j, enum journal_kind kind, const char *name, const char *old)
{
	struct journal_entry *entries;

	if (j->count == JOURNAL_MAX_ENTRIES)
		return -E2BIG;
	entries = realloc(j->entries, (j->count + 1) * sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	j->entries = entries;
	entries[j->count].kind = kind;
	snprintf(entries[j->count].name, sizeof(entries->name), "%s", name);
	snprintf(entries[j->count].old, sizeof(entries->old), "%s", old);
	j->count++;
	return 0;
}

const struct journal_kind_words journal_kinds[JOURNAL_KINDS] = {
	[JOURNAL_SETTING] = { "set", "setting" },
	[JOURNAL_INSTANCE] = { "instance", "tracefs instance" },
	[JOURNAL_PROBES] = { "probes", "group of probes" },
	[JOURNAL_CGROUP] = { "cgroup", "cgroup" },
	[JOURNAL_CONTROLLER] = { "controller", "cgroup" },
};

static int journal_add(struct journal *j, enum journal_kind kind, const char *name, const char *old)
{
	char line[JOURNAL_MAX_VALUE + 256];
	int r;

	if (!journal_entry_valid(kind, name, old)) {
		log_error("%s: not a %s that mmtape may change", name, journal_kinds[kind].what);
		return -EINVAL;
	}
	snprintf(line, sizeof(line), "%s %s%s%s\n", journal_kinds[kind].word, name, *old ? " " : "",
	         old);
	r = remember(j, kind, name, old);
	if (r >= 0)
		r = append_line(j, line);
	if (r < 0)
		log_error("%s: cannot note it in /run/mmtape, so it is not changed: %s", name,
		          strerror(-r));
	return r;
}

int journal_add_setting(struct journal *j, const char *path, const char *old)
{
	return journal_add(j, JOURNAL_SETTING, path, old);
}

int journal_add_instance(struct journal *j, const char *name)
{
	return journal_add(j, JOURNAL_INSTANCE, name, "");
}

int journal_add_probes(struct journal *j, const char *group)
{
	return journal_add(j, JOURNAL_PROBES, group, "");
}

int journal_add_cgroup(struct journal *j, const char *path)
{
	return journal_add(j, JOURNAL_CGROUP, path, "");
}

int journal_add_controller(struct journal *j, const char *path)
{
	return journal_add(j, JOURNAL_CONTROLLER, path, "");
}
