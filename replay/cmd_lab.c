/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `lab`: boot kernels and measure in them. */

#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "replay/lab.h"

static const struct action {
	const char *name, *title, *summary;
	int (*parse)(struct lab_setup *s, int argc, char **argv);
	int (*run)(struct lab_setup *s);
} actions[] = {
	{ "run", "lab run", "replay a trace or measure a program on each kernel", lab_options_run,
	  lab_run },
	{ "shell", "lab shell", "look around in a kernel", lab_options_shell, lab_shell },
};

static int help(int argc, char **argv)
{
	const struct option options[] = { { 0 } };
	const struct option_spec spec = {
		"mmtape lab run --kernel NAME=IMAGE… [options] TRACE [replay options]\n"
		"mmtape lab shell --kernel NAME=IMAGE [options] [FILE…]",
		"Boots kernels in QEMU: `run` measures on each of them, `shell` is for a look "
		"around. `mmtape lab run --help` and `mmtape lab shell --help` list the options.",
		options,
		true,
		NULL,
	};
	int operands, r = options_parse(&spec, argc, argv, &operands);

	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands)
		log_error("lab: no action '%s': run or shell", argv[1]);
	else
		log_error("lab: what to do is missing: mmtape lab run, or mmtape lab shell");
	return STATUS_USAGE;
}

static int run_action(const struct action *action, int argc, char **argv)
{
	struct lab_setup setup;
	int r;

	argv[0] = (char *)action->title;
	r = action->parse(&setup, argc, argv);
	if (r)
		r = r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	else
		r = action->run(&setup);
	lab_setup_clear(&setup);
	return r;
}

static int run_lab(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < ARRAY_SIZE(actions); i++)
		if (!strcmp(argv[1], actions[i].name))
			return run_action(&actions[i], argc - 1, argv + 1);
	return help(argc, argv);
}

const struct command command_lab = {
	.name = "lab",
	.summary = "boot kernels in QEMU and measure in them",
	.run = run_lab,
};
