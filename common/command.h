/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One command of the program. A command is one file whose last symbol is its
 * descriptor; main's table of descriptors makes the help.
 */
#pragma once

#include <stdbool.h>

#include "common/error.h"

struct command {
	const char *name;
	const char *summary; /* one line for `mmtape --help`; NULL hides the command */
	/* argv[0] is the command's name. Returns an enum exit_status, or for
	 * capture and measure the status of the command they ran. */
	int (*run)(int argc, char **argv);
};
