/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file a descriptor refers to: per descriptor table, from the results of
 * open, dup, fcntl, memfd_create and close calls. A file here is an open file
 * description; each has a number from 1 that is unique within the trace, and
 * two opens of one path are two files, since paths are not recorded. fork
 * copies a table, CLONE_FILES shares it. Close-on-exec is not known, so exec
 * keeps all descriptors; a later open that returns the number replaces it.
 */
#pragma once

#include "traces/calls.h"
#include "traces/lineage.h"

/* The kernel's default fs.nr_open; descriptors beyond are unknown each time. */
#define DESCRIPTORS_MAX (1u << 20)

enum file_origin {
	FILE_OPENED,
	FILE_MEMFD,
	FILE_UNKNOWN, /* open before the recording, inherited unseen, or lost */
};

struct descriptor_file {
	uint64_t size; /* bytes now: the last ftruncate, or what was allocated or mapped since */
	uint64_t max_size; /* so far */
	uint32_t origin; /* enum file_origin */
};

struct descriptors;

int descriptors_new(struct descriptors **out) _must_check_ _nonnull_;
struct descriptors *descriptors_free(struct descriptors *d);

/*
 * Takes every item of the trace, after lineage_event(). task is the number that
 * gave. -ENOMEM, or -E2BIG for more files or tables than a plausible trace has.
 */
int descriptors_item(struct descriptors *d, struct lineage *l, uint32_t task,
                     const struct item *item) _must_check_ _nonnull_;

/*
 * The file behind a task's descriptor, as an argument of a call holds it. One
 * that is not known becomes a file of its own and stays that. 0 for what cannot
 * be a descriptor (-1).
 */
int descriptors_file(struct descriptors *d, const struct lineage *l, uint32_t task, uint64_t fd,
                     uint32_t *file) _must_check_ _nonnull_;

/* Bytes up to `end` were mapped, so the file has at least that size. */
void descriptors_mapped(struct descriptors *d, uint32_t file, uint64_t end) _nonnull_;

/* Numbers are 1…descriptors_files(). Valid until the next item. */
const struct descriptor_file *descriptors_at(const struct descriptors *d, uint32_t file) _nonnull_;
size_t descriptors_files(const struct descriptors *d) _nonnull_;
/* How many of them have FILE_UNKNOWN. */
uint64_t descriptors_unknown(const struct descriptors *d) _nonnull_;
