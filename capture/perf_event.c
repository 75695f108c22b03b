/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening perf events of the whole machine. */

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "capture/perf_event.h"
#include "capture/perf_record.h"
#include "capture/sysfile.h"

#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

uint32_t perf_event_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_CONF);

	return n > 0 ? (uint32_t)n : 1;
}

void perf_event_prepare(struct perf_event_attr *event)
{
	event->size = sizeof(*event);
	event->sample_type |= PERF_SAMPLE_BASE;
	event->disabled = 1;
	event->exclude_callchain_user = 1;
	event->use_clockid = 1;
	event->clockid = CLOCK_MONOTONIC;
	event->watermark = 1;
}

int perf_event_open_on(const struct perf_event_attr *event, uint32_t cpu)
{
	int fd = (int)syscall(SYS_perf_event_open, event, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? error_errno() : fd;
}

int perf_event_try(const struct perf_event_attr *event)
{
	int fd = -ENODEV;

	/* The first one may be offline. */
	for (uint32_t cpu = 0; cpu < perf_event_cpus() && fd == -ENODEV; cpu++)
		fd = perf_event_open_on(event, cpu);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

void perf_event_explain(int r, char *why, size_t size)
{
	char level[SYSFILE_MAX];

	if (r == -ENOSYS)
		snprintf(why, size,
		         "this kernel has no perf events: boot one with CONFIG_PERF_EVENTS");
	else if (r == -ENOENT || r == -EOPNOTSUPP || r == -ENODEV)
		snprintf(why, size, "this kernel or machine has no such perf event");
	else if (r == -EMFILE)
		snprintf(why, size, "too many open files for events on every CPU: raise ulimit -n");
	else if ((r != -EPERM && r != -EACCES) || sysfile_read(PARANOID, level, sizeof(level)) < 0)
		snprintf(why, size, "perf events cannot be opened: %s", strerror(-r));
	else if (geteuid() == 0)
		snprintf(why, size,
		         "perf events of the whole machine are refused even to root: allow "
		         "CAP_PERFMON and perf_event_open where they were taken away (container, "
		         "lockdown)");
	else
		snprintf(why, size,
		         "perf events of the whole machine are not permitted (%s is %.8s): run as "
		         "root or with CAP_PERFMON",
		         PARANOID, level);
}
