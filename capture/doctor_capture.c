/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What recording takes. */

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/doctor_checks.h"
#include "capture/instance.h"
#include "capture/points.h"
#include "capture/sysfile.h"
#include "capture/uring.h"

#define OLDEST_MAJOR 5
#define OLDEST_MINOR 4

void doctor_ask_kernel(struct doctor_answer *a)
{
	unsigned major = 0, minor = 0;
	struct utsname u;

	if (uname(&u) < 0 || sscanf(u.release, "%u.%u", &major, &minor) != 2)
		doctor_no(a, "", "the kernel's release is not understood");
	else if (major < OLDEST_MAJOR || (major == OLDEST_MAJOR && minor < OLDEST_MINOR))
		doctor_no(a, "recording needs 5.4 or later", "%s", u.release);
	else
		doctor_yes(a, "%s %s", u.release, u.machine);
}

void doctor_ask_tracefs(struct doctor_answer *a)
{
	char why[256] = "out of memory";

	if (instance_explain(why, sizeof(why)) < 0)
		doctor_no_sentence(a, why);
	else
		doctor_yes(a, "instances of its own can be made");
}

static void ask_events(struct doctor_answer *a, const char *const *systems)
{
	char why[256] = "out of memory";

	if (instance_explain(why, sizeof(why)) < 0) {
		doctor_no(a, "see tracefs", "tracefs cannot be used");
		return;
	}
	for (; *systems; systems++)
		if (points_explain(*systems, why, sizeof(why)) < 0) {
			doctor_no_sentence(a, why);
			return;
		}
	doctor_yes(a, "all that are needed");
}

void doctor_ask_syscall_events(struct doctor_answer *a)
{
	ask_events(a, (const char *const[]){ "syscalls", NULL });
}

void doctor_ask_fault_events(struct doctor_answer *a)
{
	ask_events(a, (const char *const[]){ "exceptions", NULL });
}

void doctor_ask_task_events(struct doctor_answer *a)
{
	ask_events(a, (const char *const[]){ "task", "sched", NULL });
}

void doctor_ask_io_uring(struct doctor_answer *a)
{
	uint64_t disabled = 0;
	struct uring *ring;
	int r = uring_new(&ring, 1);

	if (r == 0) {
		uring_free(ring);
		doctor_yes(a, "buffers are read with it");
	} else if (sysfile_read_u64("/proc/sys/kernel/io_uring_disabled", &disabled) == 0 &&
	           disabled) {
		doctor_no(a, "plain reads are used; `sysctl kernel.io_uring_disabled=0` as root",
		          "sysctl kernel.io_uring_disabled is %llu", (unsigned long long)disabled);
	} else if (r == -ENOSYS) {
		doctor_no(a, "plain reads are used",
		          "this kernel was built without CONFIG_IO_URING");
	} else {
		doctor_no(a, "plain reads are used; a container's seccomp filter may forbid it",
		          "io_uring_setup: %s", strerror(-r));
	}
}
