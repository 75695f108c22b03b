/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways of observing locks. Each is a row of one table and is used in a pass of its
 * own, so that none distorts another; where they are to be compared, all in one. A source is
 * started with all tasks of a repetition at the start line and stopped with the last one gone.
 */
#pragma once

#include "capture/roles.h"
#include "common/error.h"

/* Figures of one role, or of one side or one way in of it. What a source does not give stays
 * negative. */
struct lock_figure {
	const char *role; /* a name of the table; "unresolved" for what matched none */
	enum role_side side; /* ROLE_SIDE_NONE: the whole role */
	const char *path; /* of role_path_of_stack(); NULL: all of them */
	double acquisitions, contentions; /* counts */
	double wait, hold; /* ns, summed over tasks */
	double share; /* of CPU time, 0 to 1 */
};

/* What matched no role: a function, or a lock class; how much of it, in the unit of `unresolved`.
 */
struct lock_unresolved {
	char name[64];
	double amount;
};

struct lock_figures {
	struct lock_figure *items;
	size_t count;
	uint64_t dropped; /* events, samples or table entries that the kernel had no room for,
	                     missed probes */
	double unresolved; /* share of what was seen (acquisitions, wait or samples) that matched no
	                      role */
	struct lock_unresolved *names; /* what that was, by lock_figures_unresolved() */
	size_t name_count, name_room;
	const char **unseen; /* roles that could not be observed on this kernel, by
	                        lock_figures_unseen() */
	size_t unseen_count;
	char note[160]; /* what a reader must know: the clock of profile, the method of entries; may
	                   be empty */
};

void lock_figures_clear(struct lock_figures *f) _nonnull_;
/*
 * The figure with this role, side and path, added if there is none yet; NULL without
 * memory. Borrows both strings, which must outlive f; valid until the next call.
 */
struct lock_figure *lock_figures_at(struct lock_figures *f, const char *role, enum role_side side,
                                    const char *path) _nonnull_args_(1, 2);

/* Adds to what matched no role. Copies the name, cut to what fits. -ENOMEM. */
int lock_figures_unresolved(struct lock_figures *f, const char *name,
                            double amount) _must_check_ _nonnull_;

/* Says so of a role, whose absence would mean 0 otherwise. Borrows it. -ENOMEM. */
int lock_figures_unseen(struct lock_figures *f, const char *role) _must_check_ _nonnull_;

struct journal;

struct source_options {
	bool exclusive; /* what is global by nature may be touched: lock_stat */
	struct journal *journal; /* for instances, dynamic events and switches that must be undone;
	                            may be NULL in check() */
};

struct source {
	const char
		*name; /* also that of its pass: "lock_stat", "contention", "entries", "profile" */
	const char *gives; /* for doctor, a few words */
	/*
	 * Whether it works here: 0, or -errno with a sentence in why that names the cause and
	 * the remedy. Silent, changes nothing.
	 */
	int (*check)(const struct source_options *options, char *why, size_t size);
	/* Everything that takes time; prints its line on failure. */
	int (*open)(void **state, const struct source_options *options);
	/*
	 * Begins counting from zero; ends it. Both print their line. Other sources may count
	 * what is done here, so what can be done in open() or read() is.
	 */
	int (*start)(void *state);
	int (*stop)(void *state);
	/* What was counted between the last start and stop, once, before the next start. Prints its
	 * line. */
	int (*read)(void *state, struct lock_figures *out);
	/* Undoes what open did. */
	void (*close)(void *state);
};

/* The table, ended by NULL, in the order in which the passes are run. */
extern const struct source *const lock_sources[];

/* NULL: no such source. */
const struct source *source_find(const char *name) _nonnull_;
