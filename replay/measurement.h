/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `replay` and `measure` have in common around the passes: settings changed
 * and put back, lock sources, where the result comes from, and its file.
 */
#pragma once

#include "capture/cgroup.h"
#include "replay/pass_setup.h"
#include "replay/passes.h"

struct measurement {
	const struct pass_setup *setup;
	struct settings_change *change;
	struct observer *observer;
	struct cgroups *groups; /* NULL: none */
	struct trace_meta *before, *after; /* settings and machine */
	struct result *result;
};

/*
 * In the order of their use; all print their one line. Signals that end a
 * program are blocked from measurement_open() on, so that settings are put back.
 */
int measurement_open(struct measurement *m, const struct pass_setup *setup) _must_check_ _nonnull_;
/* Changes settings, makes cgroups, describes what the settings are then and begins the result. */
int measurement_begin(struct measurement *m) _must_check_ _nonnull_;
/* no_latency: although the work has such a pass. */
int measurement_run(struct measurement *m, const struct pass_work *work,
                    bool no_latency) _must_check_ _nonnull_;
/* Puts settings back and removes cgroups; also after a failure. */
void measurement_restore(struct measurement *m) _nonnull_;
/* To the file that was asked for, or to none. */
int measurement_write(const struct measurement *m) _must_check_ _nonnull_;
void measurement_clear(struct measurement *m) _nonnull_;

/* The file for messages, or NULL. */
const char *measurement_file(const struct measurement *m) _nonnull_;

/* measurement_provenance.c; all but the last return 0 or -ENOMEM. */

/* All of provenance that does not depend on what was measured: machine, settings, sources. */
int measurement_provenance(struct measurement *m) _must_check_ _nonnull_;
/* What passes, beside those of sources, there are: appended to provenance.sources. why: NULL or
 * why it was left out. */
int measurement_note_pass(struct measurement *m, const char *name, const char *why) _must_check_
	_nonnull_args_(1, 2);
/* Options of pass_setup.h that change what a repetition does; NULL without memory. */
json_t *measurement_options(const struct pass_setup *setup) _must_check_ _nonnull_;
