/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tracepoints that are recorded: which there are on this kernel, how each
 * becomes an event. The kernel's format files are parsed once; decoding then
 * goes by plain offsets.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/event.h"

struct points;
struct instance;

/*
 * Prints one line and returns -ENOENT when a tracepoint that is needed is not
 * there. Optional ones that this kernel lacks are left out.
 */
int points_new(struct points **out, bool futex) _must_check_ _nonnull_;
/*
 * Whether the tracepoints of one system ("syscalls", "exceptions") that are needed
 * are there: 0, or -ENOENT with the first that is not as "cause: remedy" in why. Tracefs
 * must be usable (instance_check()).
 */
int points_explain(const char *system, char *why, size_t size) _must_check_ _nonnull_;

struct points *points_free(struct points *p);

/* Switches all of them on or off in the instance; leaves on before enters, off after them. */
int points_enable(const struct points *p, struct instance *instance) _must_check_ _nonnull_;
int points_disable(const struct points *p, struct instance *instance) _must_check_ _nonnull_;

/* Switches on the tracepoint of one kind only. */
int points_enable_kind(const struct points *p, struct instance *instance,
                       unsigned kind) _must_check_ _nonnull_;

/* The tracepoint of a kind was found on this kernel. */
bool points_have(const struct points *p, unsigned kind) _nonnull_;

/* A raw record: the event, and the text that came with it (a name or a path). */
struct point_record {
	struct event event; /* time and cpu are the caller's */
	const char *text; /* into the record, not NUL-terminated; NULL when there is none */
	size_t text_size;
};

/*
 * Decodes one record of the ring buffer. Arguments are as the kernel holds
 * them, addresses not yet rebased; of a limit's arguments "soft" is the
 * pointer. Returns 0, or 1 for an unknown or cut record.
 */
int points_decode(const struct points *p, const void *data, size_t size,
                  struct point_record *out) _must_check_ _nonnull_;

/* The task of any record, of a tracepoint of ours or not. 0 for a cut one. */
uint32_t points_task(const struct points *p, const void *data, size_t size) _nonnull_;

/* For tests without a kernel: a table from format texts. */
int points_new_empty(struct points **out) _must_check_ _nonnull_;
int points_add_format(struct points *p, const char *system, unsigned kind, const char *text,
                      size_t size) _must_check_ _nonnull_;
