/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the printers of `mmtape info` are given. One file per format. */
#pragma once

#include "traces/reader.h"
#include "traces/survey.h"

/* Losses of one CPU, summed. */
struct info_loss {
	uint32_t cpu;
	uint64_t spans, events; /* a span of unknown size counts as one event */
};

struct info {
	const char *path;
	const struct trace_meta *meta;
	const struct trace_status *status;
	const struct trace_tail *tail; /* NULL: the file has none */
	const struct survey *survey;
	struct info_loss *losses; /* by CPU */
	size_t loss_count;
	size_t shapes; /* how many are shown at most */
	bool complete; /* of the file, and the survey went to its end */
};

void info_text_print(const struct info *info) _nonnull_;
void info_json_print(const struct info *info) _nonnull_;

static inline uint64_t info_faults(const struct info *info)
{
	return info->survey->kinds[EVENT_FAULT_USER] + info->survey->kinds[EVENT_FAULT_KERNEL];
}

/* Whether to show a shape: the heaviest ones, and the heaviest of each call and advice. */
static inline bool info_shows_shape(const struct info *info, size_t i)
{
	return i < info->shapes || (info->shapes && info->survey->shapes.at[i].first);
}
