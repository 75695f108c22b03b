/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replay-space: what a replay execs for each address space of its own. Hidden:
 * it is of no use without the descriptors that a coordinator prepared.
 */

#include "common/command.h"
#include "common/options.h"
#include "replay/space.h"

static int run(int argc, char **argv)
{
	uint32_t plan = UINT32_MAX, state = UINT32_MAX, task = UINT32_MAX, space = SPACE_NONE;
	const struct option options[] = {
		{ .name = "plan", .type = OPTION_U32, .target = &plan, .value = "FD", .help = "" },
		{ .name = "state",
		  .type = OPTION_U32,
		  .target = &state,
		  .value = "FD",
		  .help = "" },
		{ .name = "task", .type = OPTION_U32, .target = &task, .value = "N", .help = "" },
		{ .name = "space", .type = OPTION_U32, .target = &space, .value = "N", .help = "" },
		{ 0 },
	};
	const struct option_spec spec = {
		.usage = "mmtape replay-space --plan FD --state FD --task N [--space N]",
		.about = "Internal: one address space of a replay.",
		.options = options,
	};
	int operands, r = options_parse(&spec, argc, argv, &operands);

	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	r = space_start((int)plan, (int)state, task, space);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}

const struct command command_replay_space = {
	.name = "replay-space",
	.run = run,
};
