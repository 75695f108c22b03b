/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Privileges and limits of replayed processes. */

#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/sandbox.h"

#define STACK_LIMIT (8u << 20)
#define MAX_TASKS 100000

static bool cap_is_kept(int cap)
{
	return cap == CAP_SYS_RESOURCE || cap == CAP_IPC_LOCK;
}

/* Without privilege there is nothing to drop, and dropping from the bounding set may be refused. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (!cap_is_kept(cap))
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (syscall(SYS_capget, &header, data) < 0)
		return error_errno();
	for (int cap = 0; cap < 64; cap++) {
		if (cap_is_kept(cap))
			continue;
		data[cap / 32].effective &= ~(1u << cap % 32);
		data[cap / 32].permitted &= ~(1u << cap % 32);
		data[cap / 32].inheritable &= ~(1u << cap % 32);
	}
	return syscall(SYS_capset, &header, data) < 0 ? error_errno() : 0;
}

/* Raising one's own score needs no privilege; a /proc that cannot be written is not worth failing.
 */
static void offer_to_oom_killer(void)
{
	_cleanup_close_ int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1000", 4) != 4)
		log_warn("cannot set oom_score_adj: %s", strerror(errno));
}

/* As high as allowed: a soft limit beyond the hard one needs privilege. */
static void raise_limit(int which, rlim_t wanted)
{
	struct rlimit limit, all = { wanted, wanted };

	if (!getrlimit(which, &limit) && limit.rlim_max != RLIM_INFINITY &&
	    (wanted == RLIM_INFINITY || limit.rlim_max < wanted) && !setrlimit(which, &all))
		return;
	if (getrlimit(which, &limit) < 0)
		return;
	if (limit.rlim_max == RLIM_INFINITY || limit.rlim_max > wanted)
		limit.rlim_cur = wanted;
	else
		limit.rlim_cur = limit.rlim_max;
	setrlimit(which, &limit);
}

static int set_limits(uint64_t descriptors)
{
	struct rlimit limit = { 0, 0 };

	setrlimit(RLIMIT_CORE, &limit);
	raise_limit(RLIMIT_DATA, RLIM_INFINITY);
	raise_limit(RLIMIT_AS, RLIM_INFINITY);
	/* An unlimited stack turns kernels to their old layout, which is in the clusters. */
	if (!getrlimit(RLIMIT_STACK, &limit)) {
		limit.rlim_cur = limit.rlim_max < STACK_LIMIT ? limit.rlim_max : STACK_LIMIT;
		setrlimit(RLIMIT_STACK, &limit);
	}
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < descriptors) {
		raise_limit(RLIMIT_NOFILE, descriptors);
		if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur < descriptors) {
			log_error("the trace maps too many files: %llu descriptors needed, %llu "
			          "allowed (ulimit -n)",
			          (unsigned long long)descriptors,
			          (unsigned long long)limit.rlim_cur);
			return -EMFILE;
		}
	}
	return 0;
}

static void reset_signals(void)
{
	sigset_t none;

	for (int number = 1; number < NSIG; number++)
		signal(number, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static uint64_t read_limit(const char *path)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	unsigned long long value;

	return f && fscanf(f, "%llu", &value) == 1 ? value : UINT64_MAX;
}

uint64_t sandbox_max_tasks(void)
{
	uint64_t most = MAX_TASKS;
	uint64_t limits[] = { read_limit("/proc/sys/kernel/pid_max"),
		              read_limit("/proc/sys/kernel/threads-max"), UINT64_MAX };
	struct rlimit own;

	if (!getrlimit(RLIMIT_NPROC, &own))
		limits[2] = own.rlim_cur;
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		if (limits[i] / 2 < most)
			most = limits[i] / 2;
	return most;
}

int sandbox_enter(uint64_t descriptors)
{
	int r;

	personality(0);
	reset_signals();
	offer_to_oom_killer();
	r = set_limits(descriptors);
	if (r < 0)
		return r;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		r = error_errno();
	if (!r)
		r = drop_capabilities();
	if (r < 0)
		log_error("cannot drop privileges: %s", strerror(-r));
	return r;
}
