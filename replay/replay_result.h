/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the figures of a replay's repetitions to a result file and a summary. */
#pragma once

#include <stdio.h>

#include "analysis/result.h"
#include "replay/measurement.h"
#include "replay/replay_options.h"
#include "traces/reader.h"

/* What all timed repetitions came to. */
struct replay_totals {
	struct execute_figures last; /* of the last one; its mismatches are the ones described */
	uint64_t mismatches; /* most of any repetition */
	double *elapsed; /* s, one per repetition */
	double user, system, faults; /* means */
	uint64_t drift_max, drift_sum;
	uint64_t peak_in_flight; /* of the latency pass */
	uint64_t mappings; /* of the latency pass */
	uint64_t peak_alive;
	uint32_t count;
	bool streamed;
};

/* Mismatches and peaks of any measured repetition; then times of the pass that times or of the
 * latency pass. */
void replay_totals_check(struct replay_totals *totals, const struct execute_figures *f) _nonnull_;
void replay_totals_add(struct replay_totals *totals, const struct execute_figures *f,
                       bool latency) _nonnull_;
/* Calls planned and touches made by all copies: what acquisitions per operation are of. */
double replay_units(const struct plan *plan, uint32_t copies,
                    const struct execute_figures *f) _nonnull_;

/* Values for the row just begun. All of these return 0 or -ENOMEM. */
int replay_result_values(struct result *r, const struct execute_figures *f,
                         const struct pass_counters *counters) _must_check_ _nonnull_;
int replay_result_latencies(struct result *r,
                            const struct execute_figures *f) _must_check_ _nonnull_;

/* replay_provenance.c */
int replay_result_provenance(struct measurement *m, const struct replay_setup *setup,
                             const struct trace_reader *reader) _must_check_ _nonnull_;

/* replay_fidelity.c */
int replay_result_fidelity(struct result *r, const struct replay_setup *setup,
                           const struct trace_reader *reader, const struct plan *plan,
                           const struct replay_totals *totals) _must_check_ _nonnull_;

/* A few lines for people. */
void replay_summary(FILE *to, const struct replay_setup *setup, const struct plan *plan,
                    const struct replay_totals *totals) _nonnull_;

/* The first mismatch in words: "task …: madvise(…): ENOMEM recorded, success got". */
void replay_describe_mismatch(const struct plan *plan, const struct state_mismatch *mismatch,
                              char *out, size_t size) _nonnull_;
