/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command `replay` was asked to do. */
#pragma once

#include "replay/execute.h"
#include "replay/pass_setup.h"

struct replay_setup {
	struct pass_setup pass;
	const char *trace;
	struct compile_options compile;
	struct execute_options execute;
	unsigned place, order, touch, backing, cache; /* choices, in the order of their enums */
	const char *pace, *fill; /* as given */
	const char *pin;
	bool no_latency;
};

/* OPTIONS_HELP, or -EINVAL after printing one line. */
int replay_options_parse(struct replay_setup *setup, int argc, char **argv) _must_check_ _nonnull_;

/* For a replay on another machine: what depends on this one is not checked. */
int replay_options_parse_elsewhere(struct replay_setup *setup, int argc,
                                   char **argv) _must_check_ _nonnull_;

/* What does not come from the command line: bounds, and what this machine and the trace need. */
void replay_compile_defaults(struct compile_options *options,
                             const struct trace_meta *trace) _nonnull_;

/* "asap", "recorded", "x10", "x0.5" as speed * 65536 (0: asap); -EINVAL, silent. */
int replay_parse_pace(const char *text, uint64_t *pace) _must_check_ _nonnull_;

/* "zero", "random", "ratio=0.4"; ratio per 1000; -EINVAL, silent. */
int replay_parse_fill(const char *text, enum state_fill *fill,
                      uint32_t *ratio) _must_check_ _nonnull_;

/* "use-after-map" and so on, as plan_rule spells them; 0 if there is no such rule. */
unsigned replay_parse_rule(const char *text) _nonnull_;

extern const char *const replay_place_names[], *const replay_order_names[],
						       *const replay_touch_names[];
