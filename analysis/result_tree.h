/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What result.c and result_read.c share and nobody else needs. */
#pragma once

#include "analysis/result.h"

struct result {
	json_t *tree;
	json_t *row; /* the last row's metrics, or NULL */
	char *path; /* NULL: not read from a file */
};

/* Takes tree over when it succeeds. */
int result_wrap(struct result **out, json_t *tree) _must_check_ _nonnull_;
/* An enum result_better, or -EINVAL. */
int result_better_parse(const char *name) _nonnull_;
