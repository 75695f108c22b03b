/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shapes of calls: how often which call was made with which length and advice.
 * The heaviest shape is the one whose repetitions cover the most bytes, that is
 * by (count - 1) * length, then by length: a length that came once is no
 * pattern, however large; a few calls over megabytes weigh as much as
 * thousands over pages. Each call's and advice's heaviest shape is marked, so
 * that a summary can show it even where it came only once.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/map.h"
#include "traces/calls.h"

#define SHAPES_MAX (1u << 20)
#define SHAPE_NO_ADVICE UINT32_MAX

struct shape {
	uint64_t length; /* as the caller gave it; of brk, by how much it moved up or down */
	uint64_t count;
	uint64_t bytes; /* count * length, at most 2^64 - 1 */
	uint32_t advice; /* of madvise, SHAPE_NO_ADVICE elsewhere */
	uint16_t call;
	bool first; /* after shapes_sort(): the heaviest one of its call and advice */
};

struct shapes {
	struct shape *at;
	size_t count, room;
	struct map index; /* hash of a shape to its place + 1; see shapes.c */
	uint64_t others; /* calls whose shape came after SHAPES_MAX of them */
};

/* Calls without a length have no shape and are passed over. */
int shapes_add(struct shapes *s, enum call call, uint64_t length,
               uint64_t advice) _must_check_ _nonnull_;
/* From the arguments of a call; not brk. */
int shapes_add_call(struct shapes *s, const struct paired_call *c) _must_check_ _nonnull_;
/* Heaviest first. No shape may be added afterwards. */
void shapes_sort(struct shapes *s) _nonnull_;
void shapes_clear(struct shapes *s) _nonnull_;
