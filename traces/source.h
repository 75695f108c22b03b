/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a consumer's events come from: a trace, or a test's array. Events are
 * in time order; losses belong to them.
 */
#pragma once

#include "traces/reader.h"

struct event_source {
	/* 1 and *out, valid until the next call; 0 at the end; a negative errno, already reported.
	 */
	int (*next)(void *from, const struct event **out);
	void *from;
	const struct trace_loss *losses; /* borrowed */
	size_t loss_count;
};

/* Borrows the reader, which must not be read by others meanwhile. */
void event_source_of_reader(struct event_source *out, struct trace_reader *reader) _nonnull_;
