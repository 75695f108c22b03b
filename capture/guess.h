/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mappings of an exec whose process was gone before they could be read:
 * from the program headers of the executable and its interpreter, and from the
 * first faults, which give away where they were put:
 *
 *  - the first instruction of a program always faults, and it lies at the entry
 *    of the interpreter or, of a static program, its own;
 *  - an interpreter looks at the program's headers before anything else of it;
 *  - exec itself faults while it writes the stack.
 *
 * What does not fit together gives no mappings rather than wrong ones.
 */
#pragma once

#include "capture/headers.h"
#include "capture/siphash.h"
#include "traces/event.h"
#include "traces/records.h"

#define GUESS_FAULTS 48
#define GUESS_PATH 512

struct guess {
	uint32_t task;
	bool wanted; /* the exec has happened and its mappings were missed */
	uint64_t time; /* of the exec */
	char path[GUESS_PATH];
	unsigned count;
	struct {
		uint64_t address;
		uint32_t code;
		bool by_exec; /* before the exec event */
	} faults[GUESS_FAULTS];
};

/* From the end of prepare_exec or, without it, from the exec on. */
void guess_begin(struct guess *g, uint32_t task) _nonnull_;
/* The exec has happened, and its mappings are missing. */
void guess_want(struct guess *g, uint64_t time, const char *path, size_t size) _nonnull_;
/* A fault of the task, as the kernel gave it. True when no more are of use. */
bool guess_fault(struct guess *g, const struct event *e) _nonnull_;

/*
 * Fills in the mappings from images that were read. Pure. interpreter is NULL
 * for a static program. Returns how many, 0 when it does not fit together.
 */
size_t guess_maps(const struct guess *g, const struct headers *program,
                  const struct headers *interpreter, const struct siphash_key *key,
                  struct trace_map *out, size_t room) _nonnull_args_(1, 2, 4, 5);

/* Reads the files and guesses. Returns 0, 1 when there is nothing to be had, 3 when the
 * program is a 32-bit one, or -ENOMEM. */
int guess_finish(const struct guess *g, const struct siphash_key *key,
                 struct trace_maps *out) _must_check_ _nonnull_;
