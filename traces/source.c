/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace as a source of events. */

#include "traces/source.h"

static int next_of_reader(void *from, const struct event **out)
{
	return trace_reader_next(from, out);
}

void event_source_of_reader(struct event_source *out, struct trace_reader *reader)
{
	*out = (struct event_source){ .next = next_of_reader, .from = reader };
	out->losses = trace_reader_losses(reader, &out->loss_count);
}
