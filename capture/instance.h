/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A tracefs instance of our own. It has its own buffers, switches and filters;
 * nothing outside it changes. The only file that calls libtracefs to change
 * something.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct instance;
struct journal;

/* Where tracefs is mounted, NULL: nowhere. */
const char *instance_tracefs(void);

/* Tracefs is there and may be used; otherwise one line with the remedy and -EPERM or -ENOENT. */
int instance_check(void) _must_check_;
/* The same, with "cause: remedy" in why instead of the line. */
int instance_explain(char *why, size_t size) _must_check_ _nonnull_;

/*
 * Creates mmtape-PID-N with the clock `mono`, switched off, with buffers of
 * buffer_bytes per CPU; noted in the journal first. Prints its one line on failure.
 */
int instance_new(struct instance **out, struct journal *journal,
                 uint64_t buffer_bytes) _must_check_ _nonnull_;

/* Removes it from the kernel, then frees. */
struct instance *instance_free(struct instance *instance);

const char *instance_name(const struct instance *instance) _nonnull_;

/* Writes to one of its files. Prints its line on failure. */
int instance_write(struct instance *instance, const char *file,
                   const char *text) _must_check_ _nonnull_;
/*
 * A descriptor for writing to a file where opening it for that alone undoes what is there:
 * triggers. To be closed before the instance is freed, which could not be removed else. Prints
 * its line on failure.
 */
int instance_open_append(struct instance *instance, const char *file) _must_check_ _nonnull_;
/* The whole text of one of its files, to be freed; NULL and errno. Silent. */
char *instance_read(struct instance *instance, const char *file) _must_check_ _nonnull_;
int instance_event_set(struct instance *instance, const char *system, const char *event,
                       bool on) _must_check_ _nonnull_;
int instance_on(struct instance *instance, bool on) _must_check_ _nonnull_;

/* Only this task, and what it forks from now on. */
int instance_follow_task(struct instance *instance, uint32_t task) _must_check_ _nonnull_;

/* How many CPUs can have a buffer: their numbers are 0 … count-1. */
unsigned instance_cpus(const struct instance *instance) _nonnull_;

/* A non-blocking descriptor of a CPU's raw pages, or -errno (-ENOENT: no such CPU). */
int instance_open_raw(struct instance *instance, unsigned cpu) _must_check_ _nonnull_;

/*
 * A descriptor for markers: what a task writes to it becomes a record of that
 * task. -errno where this kernel has none.
 */
int instance_open_marker(struct instance *instance) _must_check_ _nonnull_;

/* Something of this process in tracefs could not be removed: the journal must stay. */
bool instance_any_left(void);
void instance_note_left(void);

/* Bytes of a raw page as the kernel hands them out. */
size_t instance_page_bytes(const struct instance *instance) _nonnull_;

/* Events that this CPU's buffer had no room for, since it was made. */
int instance_overrun(struct instance *instance, unsigned cpu, uint64_t *out) _must_check_ _nonnull_;
