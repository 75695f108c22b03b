/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lock sources take. */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/doctor_checks.h"
#include "capture/instance.h"
#include "capture/perf_event.h"
#include "capture/settings.h"
#include "capture/sources.h"
#include "capture/symbols.h"
#include "common/cleanup.h"

int doctor_each_source(struct doctor_report *report)
{
	const struct source_options options = { .exclusive = true };

	for (const struct source *const *s = lock_sources; *s; s++) {
		struct doctor_answer *a = doctor_add(report, "locks", (*s)->name, DOCTOR_OPTIONAL);
		char why[sizeof(a->cause)] = "";
		int r;

		if (!a)
			return -ENOMEM;
		r = (*s)->check(&options, why, sizeof(why));
		if (r < 0)
			doctor_no_sentence(a, *why ? why : strerror(-r));
		else
			doctor_yes(a, "%s", (*s)->gives);
	}
	return 0;
}

void doctor_ask_spinlocks(struct doctor_answer *a)
{
	const char *kind = settings_spinlock_kind();

	if (!strcmp(kind, "test-and-set"))
		doctor_no(a,
		          "a CPU without the hypervisor bit (QEMU: -cpu max,-hypervisor), or KVM "
		          "with paravirtual spinlocks",
		          "test-and-set, as in a guest: they fire no contention events and queue "
		          "nobody");
	else if (!strcmp(kind, "unknown"))
		doctor_no(a, "results are compared with those of this machine only",
		          "the kind is not known");
	else
		doctor_yes(a, "%s", kind);
}

void doctor_ask_symbols(struct doctor_answer *a)
{
	char why[sizeof(a->cause)] = "";

	if (symbols_explain(why, sizeof(why)) < 0)
		doctor_no_sentence(a, why);
	else
		doctor_yes(a, "with addresses");
}

/* Without a cycle counter time is sampled by a timer, which waits while interrupts are off. */
void doctor_ask_perf(struct doctor_answer *a)
{
	struct perf_event_attr timer = { .type = PERF_TYPE_SOFTWARE,
		                         .config = PERF_COUNT_SW_CPU_CLOCK,
		                         .sample_period = 1000000 };
	struct perf_event_attr cycles = { .type = PERF_TYPE_HARDWARE,
		                          .config = PERF_COUNT_HW_CPU_CYCLES,
		                          .sample_period = 1000000 };
	char why[sizeof(a->cause)] = "";
	int r;

	perf_event_prepare(&timer);
	perf_event_prepare(&cycles);
	r = perf_event_try(&timer);
	if (r < 0) {
		perf_event_explain(r, why, sizeof(why));
		doctor_no_sentence(a, why);
	} else if (perf_event_try(&cycles) < 0) {
		doctor_yes(a, "sampled by a timer: this machine shows no cycle counter");
	} else {
		doctor_yes(a, "sampled by cycles");
	}
}

/* The directory where tracefs can be used; NULL, and the answer says no. */
static const char *usable_tracefs(struct doctor_answer *a)
{
	const char *path = instance_tracefs();
	char why[256];
	int r = instance_explain(why, sizeof(why));

	/* That it has no instances or no system calls is another matter. */
	if (path && (r == 0 || r == -ENOENT))
		return path;
	doctor_no(a, "see tracefs", "tracefs cannot be used");
	return NULL;
}

static bool tracefs_has(const char *tracefs, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", tracefs, file);
	return access(path, F_OK) == 0;
}

void doctor_ask_kprobes(struct doctor_answer *a)
{
	const char *tracefs = usable_tracefs(a);

	if (!tracefs)
		return;
	if (tracefs_has(tracefs, "kprobe_events"))
		doctor_yes(a, "functions can be counted as they are entered");
	else
		doctor_no(a, "a kernel with CONFIG_KPROBE_EVENTS",
		          "this kernel has no kprobe events");
}

void doctor_ask_histograms(struct doctor_answer *a)
{
	const char *tracefs = usable_tracefs(a);

	if (!tracefs)
		return;
	if (tracefs_has(tracefs, "events/sched/sched_process_exit/hist"))
		doctor_yes(a, "events are counted in the kernel");
	else
		doctor_no(a, "a kernel with CONFIG_HIST_TRIGGERS",
		          "this kernel has no histogram triggers");
}

void doctor_ask_profiler(struct doctor_answer *a)
{
	const char *tracefs = usable_tracefs(a);
	char path[PATH_MAX];
	int fd;

	if (!tracefs)
		return;
	if (!tracefs_has(tracefs, "function_profile_enabled")) {
		doctor_no(a, "a kernel with CONFIG_FUNCTION_PROFILER",
		          "this kernel has no function profiler");
		return;
	}
	snprintf(path, sizeof(path), "%s/available_filter_functions", tracefs);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		doctor_no(a, "boot without lockdown", "kernel lockdown refuses it: %s",
		          strerror(errno));
		return;
	}
	close(fd);
	doctor_yes(a, "calls of a function are counted per CPU");
}
