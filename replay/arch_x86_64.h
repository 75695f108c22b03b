/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the engine needs of the processor: system calls without libc, a clone
 * whose child starts on a stack of its own, a touch that survives its fault, a
 * clock. No errno, no thread-local storage, no stack protector.
 */
#pragma once

#ifndef __x86_64__
#error "replay runs on x86-64 only: write an arch header for this machine, beside arch_x86_64.h"
#endif

#include <stdint.h>

/* Every engine function lies in one section, so that a forked child maps it with few faults. */
#define _engine_ __attribute__((section("mmtape_engine")))
extern const char __start_mmtape_engine[], __stop_mmtape_engine[];

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static inline __attribute__((always_inline)) uint64_t
raw_call6(long number, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	register uint64_t r9 __asm__("r9") = f;
	uint64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) uint64_t raw_call5(long number, uint64_t a, uint64_t b,
                                                                uint64_t c, uint64_t d, uint64_t e)
{
	register uint64_t r10 __asm__("r10") = d;
	register uint64_t r8 __asm__("r8") = e;
	uint64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) uint64_t raw_call4(long number, uint64_t a, uint64_t b,
                                                                uint64_t c, uint64_t d)
{
	register uint64_t r10 __asm__("r10") = d;
	uint64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c), "r"(r10)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) uint64_t raw_call3(long number, uint64_t a, uint64_t b,
                                                                uint64_t c)
{
	uint64_t result;

	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(a), "S"(b), "d"(c)
	                 : "rcx", "r11", "memory");
	return result;
}

static inline __attribute__((always_inline)) uint64_t raw_call2(long number, uint64_t a, uint64_t b)
{
	return raw_call3(number, a, b, 0);
}

static inline __attribute__((always_inline)) uint64_t raw_call1(long number, uint64_t a)
{
	return raw_call3(number, a, 0, 0);
}

static inline __attribute__((always_inline)) uint64_t raw_call0(long number)
{
	return raw_call3(number, 0, 0, 0);
}

/* Waits for earlier work first, so that it is not timed as the call's. */
static inline __attribute__((always_inline)) uint64_t arch_ticks(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(low), "=d"(high) : : "memory");
	return (uint64_t)high << 32 | low;
}

/* Until all branches before it are decided. */
static inline __attribute__((always_inline)) void arch_settle_branches(void)
{
	__asm__ volatile("lfence" : : : "memory");
}

static inline __attribute__((always_inline)) void arch_pause(void)
{
	__asm__ volatile("pause" : : : "memory");
}

/*
 * Code that may fault, and where it goes on, relative to the fields themselves.
 * The handler of the signal puts its number into rax.
 */
struct arch_fixup {
	int32_t fault, resume;
};
extern const struct arch_fixup __start_mmtape_fixups[], __stop_mmtape_fixups[];

#define ARCH_FIXUP                                                                                 \
	".pushsection mmtape_fixups, \"a\", @progbits\n"                                           \
	"\t.long 1b - ., 2f - .\n"                                                                 \
	".popsection\n"

/*
 * One access to the byte at address; a write stores a zero. Returns 0, or the
 * signal that the access raised. Inline, because a native loop has no call and
 * no return here either: on processors with slow returns they show.
 */
static inline __attribute__((always_inline)) uint64_t arch_touch_read(uint64_t address)
{
	uint64_t raised = 0;

	__asm__ volatile("1:	movb (%[at]), %%cl\n" ARCH_FIXUP "2:\n"
	                 : "+a"(raised)
	                 : [at] "r"(address)
	                 : "cl", "memory");
	return raised;
}

static inline __attribute__((always_inline)) uint64_t arch_touch_write(uint64_t address)
{
	uint64_t raised = 0;

	__asm__ volatile("1:	movb $0, (%[at])\n" ARCH_FIXUP "2:\n"
	                 : "+a"(raised)
	                 : [at] "r"(address)
	                 : "memory");
	return raised;
}

/*
 * Touches of the bytes from *address on, stride apart, up to end (not touched; *address plus
 * a multiple of stride). Stops at an access that raises a signal, with *address that of
 * this access. A loop as tight as a native one, in a cache line of its own: after each fault
 * it is fetched and predicted anew, and elsewhere in a line that takes 5% longer (Zen 4).
 */
static inline __attribute__((always_inline)) uint64_t
arch_touch_read_run(uint64_t *address, uint64_t stride, uint64_t end)
{
	uint64_t raised = 0;

	__asm__ volatile("	.balign 64\n"
	                 "1:	movb (%[at]), %%cl\n" ARCH_FIXUP "	addq %[stride], %[at]\n"
	                 "	cmpq %[end], %[at]\n"
	                 "	jne 1b\n"
	                 "2:\n"
	                 : "+a"(raised), [at] "+r"(*address)
	                 : [stride] "r"(stride), [end] "r"(end)
	                 : "cl", "cc", "memory");
	return raised;
}

static inline __attribute__((always_inline)) uint64_t
arch_touch_write_run(uint64_t *address, uint64_t stride, uint64_t end)
{
	uint64_t raised = 0;

	__asm__ volatile("	.balign 64\n"
	                 "1:	movb $0, (%[at])\n" ARCH_FIXUP "	addq %[stride], %[at]\n"
	                 "	cmpq %[end], %[at]\n"
	                 "	jne 1b\n"
	                 "2:\n"
	                 : "+a"(raised), [at] "+r"(*address)
	                 : [stride] "r"(stride), [end] "r"(end)
	                 : "cc", "memory");
	return raised;
}

/* Stores words of pseudo-random content from seed on; returns as a touch. */
uint64_t arch_fill(uint64_t address, uint64_t words, uint64_t seed);

/*
 * clone with the thread id stored at *tid before the child runs. The child starts on
 * stack and calls engine_child(task), which does not return.
 */
uint64_t arch_clone(uint64_t flags, uint64_t stack, uint32_t *tid, uint32_t task);

/* Leaves the current stack for good: function(task) runs on the given one. */
void arch_switch_stack(uint64_t stack, uint32_t task, void (*function)(uint32_t task))
	__attribute__((noreturn));

/* The kernel's sigaction for handler, with a trampoline; flags beside SA_RESTORER. */
struct arch_sigaction {
	uint64_t handler, flags, restorer, mask;
};

#define ARCH_SIGACTION(function, bits)                                                             \
	{                                                                                          \
		(uint64_t)(function), (bits) | 0x04000000 /* SA_RESTORER */,                       \
			(uint64_t)arch_restorer, 0                                                 \
	}
void arch_restorer(void);
