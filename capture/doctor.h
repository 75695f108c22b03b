/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What this machine allows, asked one thing at a time: an answer has what there is, or
 * the cause why it is not there and the remedy. Nothing is changed; without privilege
 * the answers say so.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/error.h"

/* Which command does not fully work without it; several may be or-ed. */
enum doctor_need {
	DOCTOR_OPTIONAL = 0,
	DOCTOR_CAPTURE = 1,
	DOCTOR_REPLAY = 2,
};

struct doctor_answer {
	bool works;
	char value[128]; /* what there is, in a few words; may be empty */
	char cause[256], remedy[256]; /* where it does not work; the remedy may be empty */
};

struct doctor_line {
	const char *topic, *name;
	unsigned need;
	struct doctor_answer answer;
};

struct doctor_report {
	struct doctor_line *lines; /* those of a topic stand together */
	size_t count;
};

/* Asks everything. Only -ENOMEM is a failure. */
int doctor_examine(struct doctor_report *out) _must_check_ _nonnull_;
void doctor_report_clear(struct doctor_report *report) _nonnull_;

/* How many things are missing that these commands need. */
unsigned doctor_missing(const struct doctor_report *report, unsigned need) _nonnull_;

void doctor_print_text(FILE *stream, const struct doctor_report *report) _nonnull_;
void doctor_print_json(FILE *stream, const struct doctor_report *report) _nonnull_;
