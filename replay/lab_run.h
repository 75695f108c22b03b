/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots in turn, and their results joined into one file for each kernel. */
#pragma once

#include "replay/lab_options.h"

/* An enum exit_status. Says what went wrong with each boot; other results stay. */
int lab_run(const struct lab_setup *s) _nonnull_;
