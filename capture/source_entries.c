/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source `entries`: how often locks were taken, counted by the kernel itself.
 *
 * A kprobe on each lock function has two histograms. One has the caller's address as
 * its key, which costs no walk of the stack and does not depend on what an interrupt
 * interrupted; its symbol decides the role. The other has the stack as its key, only
 * for callers of which the way in is of interest, or which lock on behalf of others.
 * Without histograms, probes on functions that always take the lock are counted.
 *
 * The kernel's probes do not nest: what an interrupt locks while another probe is being
 * handled is missed and only counted. See entries_missed().
 */

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/entries.h"
#include "capture/instance.h"
#include "capture/probes.h"
#include "capture/roles_check.h"
#include "capture/sources.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

static int entries_check(const struct source_options *options, char *why, size_t size)
{
	int r = instance_explain(why, size);

	if (r >= 0)
		r = probes_explain(why, size);
	if (r >= 0 && !entries_caller_argument()) {
		snprintf(why, size,
		         "the caller of a function is not known on this architecture: "
		         "x86-64 and arm64 only");
		r = -EOPNOTSUPP;
	}
	return r;
}

static int entries_open(void **state, const struct source_options *options)
{
	char why[256] = "";
	struct utsname u;
	int r;

	if (uname(&u) < 0)
		return error_errno();
	r = entries_check(options, why, sizeof(why));
	if (r < 0) {
		log_error("entries: %s", why);
		return r;
	}
	roles_check_warn(u.release);
	return entries_new((struct entries **)state, options->journal, role_kernel(u.release));
}

static int entries_start_source(void *state)
{
	return entries_start(state);
}

static int entries_stop_source(void *state)
{
	return entries_stop(state);
}

static int entries_read_source(void *state, struct lock_figures *out)
{
	return entries_read(state, out);
}

static void entries_close(void *state)
{
	entries_free(state);
}

const struct source source_entries = {
	.name = "entries",
	.gives = "how often locks were taken, by role, side and path",
	.check = entries_check,
	.open = entries_open,
	.start = entries_start_source,
	.stop = entries_stop_source,
	.read = entries_read_source,
	.close = entries_close,
};
