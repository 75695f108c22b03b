/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of observe.h. */
#pragma once

#include "capture/sources.h"
#include "replay/observe.h"

#define OBSERVE_MAX 8

struct observed {
	const struct source *source;
	char why[256]; /* why it is not used */
	char note[160];
	uint64_t dropped; /* of all repetitions */
	json_t *unseen; /* names of roles, of any repetition; NULL: none */
	double unresolved; /* the most of any repetition */
	json_t *unresolved_in; /* what it was there, heaviest first; NULL: nothing */
	bool has_row;
	void *state; /* of the source, while it is open */
};

struct observer {
	struct source_options options;
	struct observed all[OBSERVE_MAX], *used[OBSERVE_MAX];
	size_t all_count, used_count;
	bool together;
	size_t first_open, open_count; /* in used */
};
