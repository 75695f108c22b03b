/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of questions, and asking them. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "capture/doctor.h"
#include "capture/doctor_checks.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

struct doctor_check {
	const char *topic, *name;
	unsigned need;
	void (*ask)(struct doctor_answer *a);
	int (*each)(struct doctor_report *report); /* instead: adds lines of its own */
};

/* clang-format off */
static const struct doctor_check doctor_checks[] = {
	{ "capture", "kernel", DOCTOR_CAPTURE, doctor_ask_kernel },
	{ "capture", "tracefs", DOCTOR_CAPTURE, doctor_ask_tracefs },
	{ "capture", "system call events", DOCTOR_CAPTURE, doctor_ask_syscall_events },
	{ "capture", "page fault events", DOCTOR_CAPTURE, doctor_ask_fault_events },
	{ "capture", "task events", DOCTOR_CAPTURE, doctor_ask_task_events },
	{ "capture", "io_uring", DOCTOR_OPTIONAL, doctor_ask_io_uring },
	{ "replay", "heap placement", DOCTOR_REPLAY, doctor_ask_heap },
	{ "replay", "locked memory", DOCTOR_REPLAY, doctor_ask_memlock },
	{ "replay", "overcommit", DOCTOR_REPLAY, doctor_ask_overcommit },
	{ "replay", "settings journal", DOCTOR_REPLAY, doctor_ask_journal },
	{ "replay", "huge pages", DOCTOR_OPTIONAL, doctor_ask_thp },
	{ "replay", "huge page sizes", DOCTOR_OPTIONAL, doctor_ask_thp_sizes },
	{ "replay", "zero page", DOCTOR_OPTIONAL, doctor_ask_zero_page },
	{ "replay", "NUMA nodes", DOCTOR_OPTIONAL, doctor_ask_nodes },
	{ "replay", "memory cgroups", DOCTOR_OPTIONAL, doctor_ask_memory_cgroup },
	{ "replay", "swap", DOCTOR_OPTIONAL, doctor_ask_swap },
	{ "replay", "zram", DOCTOR_OPTIONAL, doctor_ask_zram },
	{ "locks", .each = doctor_each_source },
	{ "locks", "spinlocks", DOCTOR_OPTIONAL, doctor_ask_spinlocks },
	{ "locks", "kernel symbols", DOCTOR_OPTIONAL, doctor_ask_symbols },
	{ "locks", "perf events", DOCTOR_OPTIONAL, doctor_ask_perf },
	{ "locks", "kprobe events", DOCTOR_OPTIONAL, doctor_ask_kprobes },
	{ "locks", "histogram triggers", DOCTOR_OPTIONAL, doctor_ask_histograms },
	{ "locks", "function profiler", DOCTOR_OPTIONAL, doctor_ask_profiler },
	{ "locks", "functions of roles", DOCTOR_OPTIONAL, doctor_ask_roles },
	{ "lab", "QEMU", DOCTOR_OPTIONAL, doctor_ask_qemu },
	{ "lab", "KVM", DOCTOR_OPTIONAL, doctor_ask_kvm },
	{ "lab", "second serial port", DOCTOR_OPTIONAL, doctor_ask_serial },
};
/* clang-format on */

void doctor_yes(struct doctor_answer *a, const char *fmt, ...)
{
	va_list args;

	a->works = true;
	va_start(args, fmt);
	vsnprintf(a->value, sizeof(a->value), fmt, args);
	va_end(args);
}

void doctor_no(struct doctor_answer *a, const char *remedy, const char *fmt, ...)
{
	va_list args;

	a->works = false;
	va_start(args, fmt);
	vsnprintf(a->cause, sizeof(a->cause), fmt, args);
	va_end(args);
	snprintf(a->remedy, sizeof(a->remedy), "%s", remedy);
}

/* The remedy stands behind the last colon that is followed by a space. */
void doctor_no_sentence(struct doctor_answer *a, const char *sentence)
{
	const char *colon = NULL;

	for (const char *p = sentence; (p = strstr(p, ": ")); p++)
		colon = p;
	if (colon)
		doctor_no(a, colon + 2, "%.*s", (int)(colon - sentence), sentence);
	else
		doctor_no(a, "", "%s", sentence);
}

bool doctor_has_capability(unsigned capability)
{
	_cleanup_fclose_ FILE *f = sysfile_open("/proc/self/status");
	unsigned long long set = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	return set >> capability & 1;
}

const char *doctor_need_capability(void)
{
	return geteuid() ? "run as root" : "allow it where root lost it (container, systemd unit)";
}

struct doctor_answer *doctor_add(struct doctor_report *report, const char *topic, const char *name,
                                 unsigned need)
{
	struct doctor_line *lines =
		reallocarray(report->lines, report->count + 1, sizeof(*report->lines));

	if (!lines)
		return NULL;
	report->lines = lines;
	lines += report->count++;
	*lines = (struct doctor_line){ .topic = topic, .name = name, .need = need };
	return &lines->answer;
}

static int ask(struct doctor_report *report, const struct doctor_check *check)
{
	struct doctor_answer *answer;

	if (check->each)
		return check->each(report);
	answer = doctor_add(report, check->topic, check->name, check->need);
	if (!answer)
		return -ENOMEM;
	check->ask(answer);
	return 0;
}

int doctor_examine(struct doctor_report *out)
{
	int r = 0;

	*out = (struct doctor_report){ 0 };
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(doctor_checks); i++)
		r = ask(out, &doctor_checks[i]);
	if (r < 0)
		doctor_report_clear(out);
	return r;
}

void doctor_report_clear(struct doctor_report *report)
{
	free(report->lines);
	*report = (struct doctor_report){ 0 };
}

unsigned doctor_missing(const struct doctor_report *report, unsigned need)
{
	unsigned missing = 0;

	for (size_t i = 0; i < report->count; i++)
		missing += (report->lines[i].need & need) && !report->lines[i].answer.works;
	return missing;
}
