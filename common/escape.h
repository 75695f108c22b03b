/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints strings that come from files, harmlessly for where they go. JSON has its
 * own printer (json_out.h).
 */
#pragma once

#include <stdio.h>

#include "common/error.h"

/*
 * For a terminal: control characters, what is not UTF-8, and characters that change the
 * direction or are invisible come as \xNN or \u{N}; backslash and double quote
 * with a backslash. Returns the columns it takes, one for each character printed.
 */
unsigned escape_text(FILE *out, const char *text) _nonnull_;

/* The same for a message that stays one line; quotes and backslashes are left as they are. */
void escape_message(FILE *out, const char *text) _nonnull_;

/*
 * A CSV field, as escape_text() but quoted when it has to be; one that a
 * spreadsheet would take for a formula gets an apostrophe in front.
 */
void escape_csv(FILE *out, const char *text) _nonnull_;

/* A cell of a Markdown table: Markdown's and HTML's own marks are taken literally. */
void escape_markdown(FILE *out, const char *text) _nonnull_;
