/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The start of a replayed address space, in a process that was just exec'd for
 * it: the last part of a replay that may use libc.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/error.h"

#define SPACE_NONE UINT32_MAX

/*
 * Maps plan and state, makes the mappings the space begins with, places its
 * heap, and hands over to the engine. Does not return when it succeeds; prints
 * its one line and returns a negative errno when it fails.
 */
int space_start(int plan_fd, int state_fd, uint32_t task, uint32_t space) _must_check_;
