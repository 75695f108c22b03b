/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must be undone after a kill, written down before it is done: settings
 * with their old values, tracefs instances, groups of probes, cgroups. One file per owner in
 * /run/mmtape (0700; /run/user/UID/mmtape without root), as lines of text:
 *
 *   mmtape-journal 1
 *   set /sys/kernel/mm/transparent_hugepage/enabled madvise
 *   probes mmtape_1234_0
 *   instance mmtape-1234
 *   controller /sys/fs/cgroup
 *   cgroup /sys/fs/cgroup/mmtape-1234-0
 *
 * It is undone from the last line to the first: probes cannot go while an instance uses them.
 * A last line without its newline was never acted on and is ignored.
 *
 * The owner holds a POSIX record lock on its file. Unlike flock() such a lock
 * is not inherited by fork, so it ends with the owner even when a child lives
 * on. It also ends when the owner closes any descriptor of the file; for that
 * reason the module never opens a file of its own process again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "common/error.h"

#define JOURNAL_MAX_ENTRIES 256
#define JOURNAL_MAX_BYTES 65536
#define JOURNAL_MAX_VALUE 128

enum journal_kind {
	JOURNAL_SETTING,
	JOURNAL_INSTANCE,
	JOURNAL_PROBES,
	JOURNAL_CGROUP,
	JOURNAL_CONTROLLER
};

struct journal_entry {
	enum journal_kind kind;
	char name[160]; /* the path, the instance or the group of probes */
	char old[JOURNAL_MAX_VALUE];
};

struct journal;

/* The folder of the files; it may not be there yet. */
int journal_dir_path(char *out, size_t size) _must_check_ _nonnull_;

/* Creates and locks the file. Prints its line; -EACCES, -ENOSPC … */
int journal_new(struct journal **out) _must_check_ _nonnull_;
/* Everything was undone: removes the file. */
struct journal *journal_free(struct journal *j);
/* Something could not be undone: leaves the file to the next settings_recover(). */
struct journal *journal_leave(struct journal *j);

/*
 * To be called before the thing is done. They print their line.
 * -EINVAL: a path, value or name that recovery would refuse.
 */
int journal_add_setting(struct journal *j, const char *path,
                        const char *old) _must_check_ _nonnull_;
/* A name in tracefs's instances/; it must begin with "mmtape". */
int journal_add_instance(struct journal *j, const char *name) _must_check_ _nonnull_;
/* A group of dynamic events, which are the owner's with all that is in it; "mmtape" likewise. */
int journal_add_probes(struct journal *j, const char *group) _must_check_ _nonnull_;

/* A group of cgroup v2, whose processes are killed before it is removed; named mmtape-… likewise.
 */
int journal_add_cgroup(struct journal *j, const char *path) _must_check_ _nonnull_;
/* A group of cgroup v2 that the memory controller is switched on in, for its children. */
int journal_add_controller(struct journal *j, const char *path) _must_check_ _nonnull_;

/* The only files that are ever written on recovery, and so the only ones that may be changed. */
bool journal_path_allowed(const char *path) _nonnull_;

/* What was noted so far, oldest first; valid until the next entry. */
const struct journal_entry *journal_entries(const struct journal *j, size_t *count) _nonnull_;

struct journal_file {
	char name[64];
	bool own; /* this process's */
	bool alive; /* its owner still holds it */
	bool damaged; /* not wholly understood: what was understood is in entries */
	size_t count;
	struct journal_entry *entries; /* in the order they were written */
};

struct journal_files {
	struct journal_file *files;
	size_t count;
};

/*
 * Serialises owners and recoveries: from journal_lock() to journal_unlock() no
 * other process creates, extends or removes journals. Gives a descriptor;
 * -ENOENT when there is no directory, which means no journals.
 */
int journal_lock(void) _must_check_;
void journal_unlock(int lock);

/* All files, this process's own from memory; needs the lock. */
int journal_scan(int lock, struct journal_files *out) _must_check_ _nonnull_;
void journal_files_clear(struct journal_files *files) _nonnull_;
int journal_remove(int lock, const struct journal_file *file) _must_check_ _nonnull_;
