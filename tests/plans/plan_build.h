/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes plans by hand, for tests and benchmarks of the engine. */
#pragma once

#include "replay/compile.h"

#define BUILD_TASKS 256
#define BUILD_MAPS 64
#define BUILD_FILES 8

struct build_words {
	uint64_t *word;
	size_t count, room;
	uint64_t operations;
};

struct build {
	struct build_words words[BUILD_TASKS];
	struct plan_task tasks[BUILD_TASKS];
	struct plan_space spaces[BUILD_TASKS];
	struct plan_map maps[BUILD_MAPS];
	uint32_t map_space[BUILD_MAPS];
	struct plan_file files[BUILD_FILES];
	uint32_t task_count, space_count, map_count, file_count, root_count;
	uint32_t anchors, segments;
};

/* Task numbers count from 0; roots come first and get a space each. */
uint32_t build_root(struct build *b);
uint32_t build_child(struct build *b, uint32_t parent, uint64_t clone_flags);
/* A space that an exec of that task makes. */
uint32_t build_space(struct build *b, uint32_t task);
void build_map(struct build *b, uint32_t space, uint64_t address, uint64_t length, int prot,
               int flags, uint32_t file);
/* Number of the file, from 1; its first 64 KiB are filled. */
uint32_t build_file(struct build *b, uint64_t size);

/* Appends an operation with up to five operand words; returns its ordinal, 0 for WAIT and so on. */
uint64_t build_op(struct build *b, uint32_t task, uint64_t head, unsigned operands, ...);
void build_wait(struct build *b, uint32_t task, uint32_t other, uint64_t ordinal);

/* Marks every operation that is waited for, and lays the plan out. */
void build_finish(struct build *b, struct plan *out);
/* Frees both. */
void build_free(struct build *b, struct plan *plan);
