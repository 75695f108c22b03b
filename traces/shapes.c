/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A map of 64-bit keys finds shapes: first a number per call and advice, then
 * the pair of that number and the length, folded. Shapes whose folded keys are
 * the same are told apart by comparing, and chained to the next key.
 */

#include <stdlib.h>

#include "common/array.h"
#include "common/bytes.h"
#include "traces/shapes.h"

/* Where a call has its length; -1: it has none. */
static int length_argument(enum call call)
{
	switch (call) {
	case CALL_MREMAP:
		return 2;
	case CALL_MMAP:
	case CALL_MUNMAP:
	case CALL_MADVISE:
	case CALL_MPROTECT:
	case CALL_PKEY_MPROTECT:
	case CALL_MLOCK:
	case CALL_MLOCK2:
	case CALL_MUNLOCK:
	case CALL_MBIND:
	case CALL_SET_MEMPOLICY_HOME_NODE:
	case CALL_MSEAL:
	case CALL_REMAP_FILE_PAGES:
	case CALL_SHMGET:
		return 1;
	default:
		return -1;
	}
}

static int shape_place(struct shapes *s, const struct shape *wanted, struct shape **out)
{
	uint64_t key = wanted->length * 0x9e3779b97f4a7c15ULL ^
	               ((uint64_t)wanted->advice << 16 | wanted->call);

	for (;; key++) {
		uint64_t *place;
		bool added;
		int r;

		if (s->count == SHAPES_MAX && !map_find(&s->index, key)) {
			*out = NULL;
			return 0;
		}
		r = map_place(&s->index, key, &place, &added);
		if (r < 0)
			return r;
		if (added) {
			*place = s->count;
			s->at[s->count] = *wanted;
			*out = &s->at[s->count++];
			return 0;
		}
		*out = &s->at[*place];
		if ((*out)->length == wanted->length && (*out)->advice == wanted->advice &&
		    (*out)->call == wanted->call)
			return 0;
	}
}

int shapes_add(struct shapes *s, enum call call, uint64_t length, uint64_t advice)
{
	const struct shape wanted = {
		.length = length,
		.advice = call == CALL_MADVISE ? (uint32_t)advice : SHAPE_NO_ADVICE,
		.call = (uint16_t)call,
	};
	struct shape *shape;
	int r = s->count == SHAPES_MAX
	                ? 0
	                : array_grow((void **)&s->at, s->count, &s->room, sizeof(*s->at));

	if (r >= 0)
		r = shape_place(s, &wanted, &shape);
	if (r < 0)
		return r;
	if (shape) {
		shape->count++;
		if (!add_fits(shape->bytes, length, &shape->bytes))
			shape->bytes = UINT64_MAX;
	} else {
		s->others++;
	}
	return 0;
}

int shapes_add_call(struct shapes *s, const struct paired_call *c)
{
	int at = length_argument(c->call);

	return at < 0 ? 0 : shapes_add(s, c->call, c->arg[at], c->arg[2]);
}

static uint64_t weight(const struct shape *s)
{
	uint64_t w;

	return mul_fits(s->count - 1, s->length, &w) ? w : UINT64_MAX;
}

static int heavier_first(const void *a, const void *b)
{
	const struct shape *x = a, *y = b;
	uint64_t p = weight(x), q = weight(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->length != y->length)
		return x->length < y->length ? 1 : -1;
	if (x->call != y->call)
		return x->call < y->call ? -1 : 1;
	return x->advice < y->advice ? -1 : x->advice > y->advice;
}

/* Advice beyond the table, which no kernel has, shares one mark. */
static void mark_first(struct shapes *s)
{
	bool calls[CALL_COUNT] = { false }, advice[128] = { false };

	for (size_t i = 0; i < s->count; i++) {
		struct shape *at = &s->at[i];
		bool *seen = &calls[at->call];

		if (at->advice != SHAPE_NO_ADVICE)
			seen = &advice[at->advice < 127 ? at->advice : 127];
		at->first = !*seen;
		*seen = true;
	}
}

void shapes_sort(struct shapes *s)
{
	if (s->count)
		qsort(s->at, s->count, sizeof(*s->at), heavier_first);
	mark_first(s);
	map_clear(&s->index);
}

void shapes_clear(struct shapes *s)
{
	free(s->at);
	map_clear(&s->index);
	*s = (struct shapes){ 0 };
}
