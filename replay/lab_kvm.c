/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs one HLT under KVM, in a child with a time limit. Documentation/virt/kvm/api.rst. */

#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "replay/lab_qemu.h"

#define SECONDS 2
#define CODE_AT 0x1000

static int load(int vm, int cpu)
{
	struct kvm_userspace_memory_region region = { .guest_phys_addr = CODE_AT,
		                                      .memory_size = 0x1000 };
	struct kvm_regs regs = { .rip = CODE_AT, .rflags = 2 };
	struct kvm_sregs sregs;
	uint8_t *page = mmap(NULL, region.memory_size, PROT_READ | PROT_WRITE,
	                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return -1;
	page[0] = 0xf4; /* hlt */
	region.userspace_addr = (uintptr_t)page;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0 ||
	    ioctl(cpu, KVM_GET_SREGS, &sregs) < 0)
		return -1;
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	return ioctl(cpu, KVM_SET_SREGS, &sregs) < 0 || ioctl(cpu, KVM_SET_REGS, &regs) < 0 ? -1
	                                                                                    : 0;
}

static int run(int kvm)
{
	int vm = ioctl(kvm, KVM_CREATE_VM, 0);
	int cpu = vm < 0 ? -1 : ioctl(vm, KVM_CREATE_VCPU, 0);
	int size = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	struct kvm_run *state;

	if (cpu < 0 || size < (int)sizeof(*state) || load(vm, cpu) < 0)
		return 1;
	state = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, cpu, 0);
	if (state == MAP_FAILED || ioctl(cpu, KVM_RUN, 0) < 0)
		return 1;
	return state->exit_reason != KVM_EXIT_HLT;
}

int lab_kvm_probe(void)
{
	_cleanup_close_ int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	int status = 0;
	pid_t pid;

	if (kvm < 0)
		return error_errno();
	if (ioctl(kvm, KVM_GET_API_VERSION, 0) != KVM_API_VERSION)
		return -EOPNOTSUPP;
	pid = fork();
	if (pid < 0)
		return error_errno();
	if (!pid) {
		signal(SIGALRM, SIG_DFL);
		alarm(SECONDS);
		_exit(run(kvm));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno();
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EOPNOTSUPP;
}
