/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Touches, and surviving those that must not succeed: the handlers of SIGSEGV
 * and SIGBUS look whether the fault came from the few instructions that may
 * fault, and let them return the signal. Any other fault kills as usual, and so
 * does a signal that somebody sent, wherever it arrives.
 */

#include <asm/unistd.h>
#include <signal.h>
#include <ucontext.h>

#include "replay/engine.h"

#define PAGE_WORDS 512

__asm__(".pushsection mmtape_engine, \"ax\", @progbits\n"
        ".globl arch_fill, arch_clone, arch_switch_stack, arch_restorer\n"
        ".type arch_fill, @function\n"
        ".balign 16\n"
        "arch_fill:\n"
        "	xorl %eax, %eax\n"
        "1:	movq %rdx, (%rdi)\n"
        ".pushsection mmtape_fixups, \"a\", @progbits\n"
        "	.long 1b - ., arch_fill_end - .\n"
        ".popsection\n"
        "	movq %rdx, %rcx\n" /* xorshift64: Marsaglia 2003, triple 13, 7, 17 */
        "	shlq $13, %rcx\n"
        "	xorq %rcx, %rdx\n"
        "	movq %rdx, %rcx\n"
        "	shrq $7, %rcx\n"
        "	xorq %rcx, %rdx\n"
        "	movq %rdx, %rcx\n"
        "	shlq $17, %rcx\n"
        "	xorq %rcx, %rdx\n"
        "	addq $8, %rdi\n"
        "	decq %rsi\n"
        "	jnz 1b\n"
        "arch_fill_end:\n"
        "	ret\n"
        ".balign 16\n"
        "arch_clone:\n"
        "	movl %ecx, %r9d\n"
        "	xorl %r10d, %r10d\n"
        "	xorl %r8d, %r8d\n"
        "	movl $56, %eax\n" /* clone(flags, stack, parent tid, child tid, tls) */
        "	syscall\n"
        "	testq %rax, %rax\n"
        "	jz 1f\n"
        "	ret\n"
        "1:	xorl %ebp, %ebp\n"
        "	movl %r9d, %edi\n"
        "	call engine_child\n"
        "	hlt\n"
        "arch_switch_stack:\n"
        "	movq %rdi, %rsp\n"
        "	xorl %ebp, %ebp\n"
        "	movl %esi, %edi\n"
        "	call *%rdx\n"
        "	hlt\n"
        "arch_restorer:\n"
        "	movl $15, %eax\n" /* rt_sigreturn */
        "	syscall\n"
        "	hlt\n"
        ".popsection\n");

static _engine_ void touch_handler(int number, siginfo_t *info, void *context)
{
	ucontext_t *user = context;
	uint64_t ip = (uint64_t)user->uc_mcontext.gregs[REG_RIP];
	bool sent = info->si_code <= 0; /* by kill, tgkill or sigqueue: sigaction(2) */

	for (const struct arch_fixup *f = __start_mmtape_fixups; !sent && f < __stop_mmtape_fixups;
	     f++) {
		if (ip != (uint64_t)&f->fault + (uint64_t)(int64_t)f->fault)
			continue;
		user->uc_mcontext.gregs[REG_RAX] = number;
		user->uc_mcontext.gregs[REG_RIP] =
			(greg_t)((uint64_t)&f->resume + (uint64_t)(int64_t)f->resume);
		return;
	}
	/* Not ours: the default action, which a sent signal does not come back for. */
	struct arch_sigaction action = ARCH_SIGACTION(SIG_DFL, 0);

	raw_call4(__NR_rt_sigaction, (uint64_t)number, (uint64_t)&action, 0, sizeof(action.mask));
	raw_call3(__NR_tgkill, raw_call0(__NR_getpid), raw_call0(__NR_gettid), (uint64_t)number);
}

_engine_ void engine_touch_install(void)
{
	struct arch_sigaction action = ARCH_SIGACTION(touch_handler, SA_SIGINFO | SA_NODEFER);

	raw_call4(__NR_rt_sigaction, SIGSEGV, (uint64_t)&action, 0, sizeof(action.mask));
	raw_call4(__NR_rt_sigaction, SIGBUS, (uint64_t)&action, 0, sizeof(action.mask));
}

/* So much of the page as the fill asks for; at least a byte. */
_engine_ uint64_t engine_touch_fill(const struct engine *e, uint64_t address)
{
	uint64_t words = (uint64_t)engine_state()->fill_ratio * PAGE_WORDS / 1000;

	if (!words)
		return arch_touch_write(address);
	return arch_fill(address & ~(uint64_t)4095, words,
	                 (address ^ e->ordinal << 1) * 0x9e3779b97f4a7c15ULL | 1);
}
