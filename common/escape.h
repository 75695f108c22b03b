/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Text that comes from files, made harmless for the output it goes to. What is
 * not UTF-8, control characters (terminal escapes among them) and invisible
 * formatting characters (which reorder what is shown) become \xNN or \uNNNN.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "common/error.h"

/* For a terminal or a plain text file. Returns the columns it takes, one per character. */
unsigned escape_text(FILE *f, const char *text) _nonnull_;

/*
 * A field of CSV, quoted where it must be; a text that a spreadsheet would take
 * for a formula (= + - @ in front) gets a ' in front.
 */
void escape_csv(FILE *f, const char *text) _nonnull_;

/* A cell of a Markdown table: its own marks and HTML's are taken literally. */
void escape_markdown(FILE *f, const char *text) _nonnull_;
