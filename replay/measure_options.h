/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What others than the command `measure` need of its options. */
#pragma once

#include "replay/pass_setup.h"

/*
 * For a measurement on another machine: as replay_options_parse_elsewhere(). The
 * command comes to stand from argv[1] on. The setup is cleared by the caller.
 */
int measure_options_check(struct pass_setup *setup, int argc, char **argv) _must_check_ _nonnull_;
