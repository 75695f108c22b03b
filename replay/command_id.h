/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which command a result is of, without saying what it was: diff compares only
 * results of the same one. A hash of its arguments, of the name of the program
 * without its folder, and of what is in the program's file. Not secret: who guesses a command line
 * and has the program can tell whether it was that one.
 */
#pragma once

#include <stddef.h>

#include "common/error.h"

#define COMMAND_ID_SIZE 41 /* "command-" and 32 hexadecimal digits */

/*
 * path: the program's file; NULL: it is not in the hash. -errno of reading it, silent.
 */
int command_id(char *const *argv, const char *path, char out[COMMAND_ID_SIZE]) _must_check_
	_nonnull_args_(1, 3);
