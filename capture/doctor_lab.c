/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab takes: programs and a device that replay/lab uses. */

#include <fcntl.h>
#include <limits.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "capture/doctor_checks.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

#define QEMU "qemu-system-x86_64"

/* As a shell would find it. */
static bool find_program(const char *name, char *out, size_t size)
{
	_cleanup_free_ char *path = strdup(getenv("PATH") ?: "");

	for (char *save = NULL, *dir = path ? strtok_r(path, ":", &save) : NULL; dir;
	     dir = strtok_r(NULL, ":", &save))
		if (snprintf(out, size, "%s/%s", dir, name) < (int)size && access(out, X_OK) == 0)
			return true;
	return false;
}

void doctor_ask_qemu(struct doctor_answer *a)
{
	char path[PATH_MAX];

	if (find_program(QEMU, path, sizeof(path)))
		doctor_yes(a, "%.120s", path);
	else
		doctor_no(a, "install it (Debian: qemu-system-x86)", QEMU " is not in PATH");
}

/* Other makers of /dev/kvm, for guests made for them, do not boot an ordinary kernel. */
static bool has_hardware_kvm(void)
{
	static const char *const modules[] = { "/sys/module/kvm_intel", "/sys/module/kvm_amd" };
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(modules); i++)
		if (sysfile_path(path, sizeof(path), modules[i]) == 0 && access(path, F_OK) == 0)
			return true;
	return false;
}

/* An empty machine is made and thrown away. */
static int try_kvm(void)
{
	_cleanup_close_ int vm = -1, kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (kvm < 0)
		return error_errno();
	vm = ioctl(kvm, KVM_CREATE_VM, 0);
	return vm < 0 ? error_errno() : 0;
}

void doctor_ask_kvm(struct doctor_answer *a)
{
	const char *emulated = "guests are emulated, which is slower and makes times mean little";
	int r = try_kvm();

	if (r == -ENOENT)
		doctor_no(a, emulated, "there is no /dev/kvm");
	else if (r == -EACCES || r == -EPERM)
		doctor_no(a, "run as root or join the group kvm", "/dev/kvm: %s", strerror(-r));
	else if (r < 0)
		doctor_no(a, emulated, "/dev/kvm makes no machine: %s", strerror(-r));
	else if (!has_hardware_kvm())
		doctor_no(a, emulated,
		          "/dev/kvm is neither Intel's nor AMD's, ordinary kernels do not boot in "
		          "it");
	else
		doctor_yes(a, "machines can be made");
}

/* For this kernel as a guest; type 0 is a port without hardware. */
void doctor_ask_serial(struct doctor_answer *a)
{
	uint64_t type = 0;

	if (sysfile_read_u64("/sys/class/tty/ttyS1/type", &type) == 0 && type)
		doctor_yes(a, "/dev/ttyS1, where a guest leaves its results");
	else
		doctor_no(a, "only guests need one; there it takes CONFIG_SERIAL_8250",
		          "there is no /dev/ttyS1 with hardware");
}
