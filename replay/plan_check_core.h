/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the two halves of plan_check() share. */
#pragma once

#include "replay/plan_check.h"

struct plan_checker {
	const struct plan *plan;
	const struct plan_header *header;
	const struct plan_task *tasks;
	const struct plan_space *spaces;
	char *why;
	size_t why_size;
};

/* Says what is wrong; -EINVAL. */
int plan_wrong(struct plan_checker *k, const char *fmt, ...) _printf_(2, 3);

/* The streams are well-formed: does every task reach its end? */
int plan_simulate(struct plan_checker *k) _must_check_ _nonnull_;
