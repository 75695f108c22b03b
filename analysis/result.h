/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result file: JSON with a schema version. docs/metrics.md says what each
 * metric is. Layout:
 *
 *   { "schema": "mmtape-result", "version": 1,
 *     "provenance": { "trace_id", "trace", "mmtape", "kernel", "kernel_version", "cmdline", "arch",
 *                     "cpus", "memory", "spinlock", "settings_before": {…}, "settings_after": {…},
 *                     "options": {…}, "sources": [{"name","used","why","dropped","unseen"}],
 *                     "counted_on": {"kernel","kernel_version","debug_locks"} },
 *     "primary": ["elapsed", "system", …],
 *     "units": { "elapsed": "s", … },
 *     "better": { "elapsed": "less", … },          less, more or none
 *     "denominators": { "operations": …, "touches": …, "calls.madvise": …, "folios.order9": … },
 *     "fidelity": { "plan": {…}, "lost": 0, "mismatches": 0, … },
 *     "repetitions": [ { "boot": 0, "round": 0, "pass": "time", "order": 2,
 *                        "metrics": { "elapsed": 1.23, … } } ] }
 *
 * "order" is the folio order that a row was made with, in a result that swept
 * sizes; otherwise it is absent. A metric has a value for each order then, and
 * diff compares each order by itself.
 *
 * What diff asks of provenance and fidelity; all of it may be absent:
 *
 * - trace_id, spinlock, arch, cpus, numa_nodes must be equal on both sides, and
 *   so must each key of settings_before and options that both sides have,
 *   unless it is named with --vary. settings_after must equal settings_before.
 * - fidelity.plan, deterministic for a trace and options (planned calls by
 *   kind, touches, refused, emulated, assumed …), must be equal.
 * - fidelity.lost and fidelity.mismatches (numbers) above 0 and
 *   fidelity.incomplete (true) withhold the verdict.
 * - fidelity.streamed (true) withholds it for metrics in s, ms, us or ns.
 * - a source whose dropped is above 0 withholds it for metrics of the pass of
 *   its name. Both sides must have used the same sources of locks: all of
 *   provenance.sources with "used" but the passes "time" and "latency".
 * - a lock, or a part of one, that a row does not have counts as 0 where the row
 *   has the same measure of other locks; a source that could not observe a role on
 *   this kernel names it in its list "unseen".
 * - lab { "virtual_cpus", "real_cpus", "emulated" }: with more virtual than
 *   real CPUs, or emulated (true), times and shares of locks get no verdict, and
 *   contentions only one about a tenfold change.
 * - debug_locks (true: the kernel has lockdep and debug spinlocks): times that
 *   are not a lock's, and shares of CPU time, get none.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define RESULT_SCHEMA "mmtape-result"
#define RESULT_VERSION 1

/* Bounds of a file that is read. */
#define RESULT_MAX_BYTES (32u << 20)
#define RESULT_MAX_ROWS 10000u
#define RESULT_MAX_METRICS 4096u /* different names in a file */
#define RESULT_MAX_KEYS 16384u /* different pairs of name and order */
#define RESULT_MAX_NAME 255u /* bytes of a metric's name, unit or pass */
#define RESULT_MAX_PRIMARY 10u
#define RESULT_MAX_ORDER 20u
#define RESULT_MAX_VALUE 1e100 /* either sign: squares and sums of squares stay finite */

/* The pass that times; a metric found in several passes is taken from it. */
#define RESULT_PASS_TIME "time"

/* The order of rows without one. */
#define RESULT_NO_ORDER (-1)

struct result;

int result_new(struct result **out) _must_check_ _nonnull_;
struct result *result_free(struct result *r);

/* Objects of the tree above, owned by the result; the caller fills them in. */
json_t *result_provenance(struct result *r) _nonnull_;
/* What provenance says of this source of locks; NULL: nothing. */
const json_t *result_source(struct result *r, const char *name) _nonnull_;
json_t *result_fidelity(struct result *r) _nonnull_;
json_t *result_denominators(struct result *r) _nonnull_;

/*
 * An object of strings from pairs, such as a trace's metadata, that next()
 * gives: 1 and pair number i, or 0 behind the last. What is not UTF-8 is
 * replaced. NULL without memory.
 */
json_t *result_pairs(int (*next)(const void *from, size_t i, const char **key, const char **value),
                     const void *from) _must_check_ _nonnull_args_(1);

enum result_better { BETTER_NONE, BETTER_LESS, BETTER_MORE };

/* Declares a metric before its first value. primary: at most ten, -E2BIG beyond. */
int result_metric(struct result *r, const char *name, const char *unit, enum result_better better,
                  bool primary) _must_check_ _nonnull_;

/* Begins a row; values go to it until the next row. */
int result_row(struct result *r, unsigned boot, unsigned round,
               const char *pass) _must_check_ _nonnull_;
/* The row just begun was made with folios of this order. -EINVAL beyond RESULT_MAX_ORDER. */
int result_row_order(struct result *r, unsigned order) _must_check_ _nonnull_;
/*
 * A metric that was not declared is declared as its row of metrics.h says, else
 * as exploratory without a unit. -EINVAL before the first row or beyond RESULT_MAX_VALUE.
 */
int result_value(struct result *r, const char *name, double value) _must_check_ _nonnull_;

/*
 * Adds the rows of other boots of the same kernel: their boots are numbered on
 * from `boot`, for which result_next_boot() is the first that is free. -EINVAL,
 * with one line that names both files and what differs, when trace, kernel,
 * machine, settings, options, plan or sources are not the same; `into` is
 * unchanged then; otherwise objects of it that were borrowed before are gone. Denominators become
 * means over boots; of fidelity the larger number, or what is true, is kept; dropped events of
 * sources are summed.
 */
int result_append(struct result *into, const struct result *from,
                  unsigned boot) _must_check_ _nonnull_;
unsigned result_next_boot(const struct result *r) _nonnull_;
/*
 * Adds the rows of those passes that `into` does not have, from a result of
 * another build of its kernel: a kernel with LOCK_STAT counts, one without is
 * timed. Rows keep their boots. -EINVAL with one line as above, but memory,
 * sources and the kernel's version may differ; provenance.counted_on becomes
 * what `from` says of its kernel.
 */
int result_join_passes(struct result *into, const struct result *from) _must_check_ _nonnull_;

/*
 * Adds the metrics of a row to the object `names`: a name's value becomes the
 * set of orders it was seen with, an integer with bit order + 1, or bit 0 for
 * rows without an order.
 */
int result_row_names(const json_t *row, json_t *names) _must_check_ _nonnull_;
#define RESULT_ORDER_BIT(order) (UINT32_C(1) << ((order) + 1))

/* Both print their one line. Writing "-" goes to standard output. */
int result_write(const struct result *r, const char *path, bool force) _must_check_ _nonnull_;
/*
 * -EPROTONOSUPPORT for a newer version, -EBADMSG for what is not a result or
 * cut. Every part has been checked then: rows, names and numbers are as above.
 */
int result_read(struct result **out, const char *path) _must_check_ _nonnull_;
/* The same of a text that came from elsewhere; name stands for its path in messages. */
int result_parse(struct result **out, const char *text, size_t size,
                 const char *name) _must_check_ _nonnull_;

/* The file it was read from, for messages; of one made here "this result". */
const char *result_path(const struct result *r) _nonnull_;
/* The whole tree, borrowed. */
const json_t *result_json(const struct result *r) _nonnull_;
const char *result_unit(const struct result *r, const char *name) _nonnull_;
enum result_better result_direction(const struct result *r, const char *name) _nonnull_;
bool result_is_primary(const struct result *r, const char *name) _nonnull_;
