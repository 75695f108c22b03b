/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The metrics that the project itself measures; docs/metrics.md has a line for each row. */
#pragma once

#include "analysis/result.h"

struct metric_row {
	const char *pattern; /* of fnmatch() */
	const char *unit;
	enum result_better better;
	bool primary;
};

/* The first row that matches, or NULL. */
const struct metric_row *metric_find(const char *name) _nonnull_;
