/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result file: JSON with a schema version. docs/metrics.md says what each
 * metric is. Layout:
 *
 *   { "schema": "mmtape-result", "version": 1,
 *     "provenance": { "trace_id", "trace", "mmtape", "kernel", "kernel_version", "cmdline", "arch",
 *                     "cpus", "memory", "spinlock", "settings_before": {…}, "settings_after": {…},
 *                     "options": {…}, "sources": [{"name","used","why"}] },
 *     "primary": ["elapsed", "system", …],
 *     "units": { "elapsed": "s", … },
 *     "better": { "elapsed": "less", … },          less, more or none
 *     "denominators": { "operations": …, "touches": …, "calls.madvise": … },
 *     "fidelity": { … },
 *     "repetitions": [ { "boot": 0, "round": 0, "pass": "time", "metrics": { "elapsed": 1.23, … } }
 * ] }
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define RESULT_SCHEMA "mmtape-result"
#define RESULT_VERSION 1

struct result;

int result_new(struct result **out) _must_check_ _nonnull_;
struct result *result_free(struct result *r);

/* Objects of the tree above, owned by the result; the caller fills them in. */
json_t *result_provenance(struct result *r) _nonnull_;
json_t *result_fidelity(struct result *r) _nonnull_;
json_t *result_denominators(struct result *r) _nonnull_;

enum result_better { BETTER_NONE, BETTER_LESS, BETTER_MORE };

/* Declares a metric before its first value. primary: at most ten, -E2BIG beyond. */
int result_metric(struct result *r, const char *name, const char *unit, enum result_better better,
                  bool primary) _must_check_ _nonnull_;

/* Begins a row; values go to it until the next row. */
int result_row(struct result *r, unsigned boot, unsigned round,
               const char *pass) _must_check_ _nonnull_;
/* A metric that was not declared is declared as exploratory without a unit. */
int result_value(struct result *r, const char *name, double value) _must_check_ _nonnull_;

/* Both print their one line. Writing "-" goes to standard output. */
int result_write(const struct result *r, const char *path, bool force) _must_check_ _nonnull_;
/* -EPROTONOSUPPORT for a newer version, -EBADMSG for what is not a result or cut. */
int result_read(struct result **out, const char *path) _must_check_ _nonnull_;

/* The whole tree, borrowed. */
const json_t *result_json(const struct result *r) _nonnull_;
