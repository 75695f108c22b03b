/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The text of /proc/lock_stat, version 0.4 (kernel/locking/lockdep_proc.c;
 * Documentation/locking/lockstat.rst). Pure: works on text.
 *
 * A lock class has one line, or one each for writers and readers:
 *
 *            &mm->mmap_lock-R:  3  12  0.20  9.10  40.05  3.33  800  20111 …
 *            class name       bounces, waiting: count min max total average,
 *                             bounces, holding: count min max total average
 *
 * Times are in microseconds with two digits. Below follow the places of contention,
 * which carry no acquisitions and are not used.
 */
#pragma once

#include "capture/sources.h"

/* Longest class name that the kernel writes, with its NUL; longer ones are cut. */
#define LOCK_STAT_NAME 64

struct lock_stat_row {
	char name[LOCK_STAT_NAME]; /* without #N, /N and -R or -W */
	uint64_t contentions, acquisitions;
	double wait, hold; /* ns */
};

/*
 * 0; 1: a line of another kind, or a class that is no lock, such as rcu_read_lock;
 * -EBADMSG: none that the kernel writes.
 */
int lock_stat_parse_line(const char *line, struct lock_stat_row *out) _must_check_ _nonnull_;

/*
 * Adds up all classes by role. The text is changed. *line is that of a failure:
 * -EPROTO (not version 0.4), -EBADMSG, -ENOMEM.
 */
int lock_stat_parse(char *text, uint16_t kernel, struct lock_figures *out,
                    unsigned *line) _must_check_ _nonnull_;
