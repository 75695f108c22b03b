/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why things cannot be compared: a list of sentences, and the values they name. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* Each a sentence; texts from files are not escaped yet. */
struct reasons {
	size_t count;
	char **texts;
};

#define REASONS_MAX 32 /* further ones are not kept */

/* One printf more. -ENOMEM. */
int reasons_add(struct reasons *r, const char *fmt, ...) _must_check_ _printf_(2, 3);
/* "WHAT differs: A against B", the values cut short; hint is put behind. -ENOMEM. */
int reasons_add_difference(struct reasons *r, const char *what, const json_t *a, const json_t *b,
                           const char *hint) _must_check_ _nonnull_args_(1, 2, 5);
void reasons_clear(struct reasons *r) _nonnull_;

/* A number, or a text that is one. */
bool reasons_number(const json_t *value, double *out) _nonnull_args_(2);
/* A number and its text are the same value; tolerance is relative. */
bool reasons_same_value(const json_t *a, const json_t *b, double tolerance);
