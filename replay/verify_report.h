/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `verify` found, and how it says so. */
#pragma once

#include "replay/verify.h"

struct verify_outcome {
	struct verify_report plan; /* the trace against its plan; empty for a program */
	struct verify_report run; /* the plan, or the trace, against what ran */
	uint64_t faults_recorded, faults_replayed;
	uint64_t faults_outside; /* of the replayer itself: not compared */
	uint64_t faults_allowed; /* how far apart the two may be */
	bool faults_compared;
	const char *faults_why; /* why not */
	uint64_t tasks, tasks_missing; /* missing: planned, and no window of theirs was seen */
	uint64_t orphans; /* recorded calls without enter or leave: not compared */
	uint64_t lost; /* events lost while the run was captured */
};

/* The larger of 2% and 32: faults of a kernel copy or a fault-around window vary by a few. */
uint64_t verify_faults_allowed(uint64_t recorded);

bool verify_outcome_equal(const struct verify_outcome *o) _nonnull_;
void verify_outcome_text(const struct verify_outcome *o) _nonnull_;
void verify_outcome_json(const struct verify_outcome *o) _nonnull_;
