/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that `replay` and `measure` share: what is measured, how often, and where to. */
#pragma once

#include "common/options.h"
#include "replay/sweep.h"

/* Which tasks share a memory cgroup; in the order of the choices of --cgroup. */
enum pass_cgroup { PASS_CGROUP_SHARED, PASS_CGROUP_NONE, PASS_CGROUP_EACH, PASS_CGROUP_UNSET };

struct pass_setup {
	const char *output, *append; /* one of them or none: then there is only a summary */
	const char *thp;
	struct option_list mthp;
	uint32_t repeat, warmup;
	const char *sources, *sweep_text; /* as given; sweep_text NULL: no sizes are swept */
	struct sweep sweep;
	const char *cgroup_choices; /* "shared,none" or with ",each", set before parsing */
	unsigned cgroup; /* never unset once checked */
	uint64_t memory_max; /* bytes for each group; 0: no limit */
	uint32_t groups; /* how many; where each copy has one the command sets it */
	bool force, no_time, exclusive;
	bool together; /* the sources, in one pass */
	bool elsewhere; /* for another machine: what depends on this one is not checked */
};

void pass_setup_defaults(struct pass_setup *s) _nonnull_;

/*
 * Parses and checks them together with the command's own rows, which spec->options
 * has. As options_parse(): 0, OPTIONS_HELP, or -EINVAL after printing one line.
 */
int pass_setup_parse(struct pass_setup *s, const struct option_spec *spec, int argc, char **argv,
                     int *operands) _must_check_ _nonnull_;

extern const char *const pass_cgroup_names[];

void pass_setup_clear(struct pass_setup *s) _nonnull_;
