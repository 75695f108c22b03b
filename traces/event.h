/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One event in memory, and the table of kinds. Kind numbers are part of the
 * file format (docs/format.md): they are added to, never changed or reused.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define EVENT_MAX_ARGS 6

/*
 * The calls that are recorded, in file order. An enter has kind
 * EVENT_CALL_BASE + 2 * call, its exit the kind after it.
 */
enum call {
	CALL_MMAP,
	CALL_MUNMAP,
	CALL_MREMAP,
	CALL_MADVISE,
	CALL_PROCESS_MADVISE,
	CALL_MPROTECT,
	CALL_PKEY_MPROTECT,
	CALL_BRK,
	CALL_MLOCK,
	CALL_MLOCK2,
	CALL_MUNLOCK,
	CALL_MLOCKALL,
	CALL_MUNLOCKALL,
	CALL_MBIND,
	CALL_SET_MEMPOLICY,
	CALL_SET_MEMPOLICY_HOME_NODE,
	CALL_MSEAL,
	CALL_REMAP_FILE_PAGES,
	CALL_USERFAULTFD,
	CALL_PRCTL,
	CALL_SHMGET,
	CALL_SHMAT,
	CALL_SHMDT,
	CALL_SETRLIMIT,
	CALL_PRLIMIT64,
	CALL_OPENAT, /* openat to wait*: only exits are recorded where only the result matters */
	CALL_OPENAT2,
	CALL_OPEN,
	CALL_DUP,
	CALL_DUP2,
	CALL_DUP3,
	CALL_FCNTL,
	CALL_MEMFD_CREATE,
	CALL_CLOSE,
	CALL_CLOSE_RANGE,
	CALL_FTRUNCATE,
	CALL_FALLOCATE,
	CALL_WAIT4,
	CALL_WAITID,
	CALL_FUTEX,
	CALL_EXECVE,
	CALL_EXECVEAT,
	CALL_COUNT,
};

enum event_kind {
	EVENT_NONE = 0, /* never in a file */
	EVENT_FAULT_USER = 1, /* arg: address (of the page), error code (x86 bits) */
	EVENT_FAULT_KERNEL = 2, /* the same, taken while the kernel copied */
	EVENT_NEWTASK = 3, /* task: the parent; arg: child task, clone flags */
	EVENT_PREPARE_EXEC = 4, /* the old space is about to go (6.10 and later) */
	EVENT_EXEC = 5, /* task: the id after exec; arg: id before */
	EVENT_EXIT = 6, /* arg: 1 if the last task of its process, 0 if not, 2 unknown */
	EVENT_CALL_BASE = 16,
	EVENT_KIND_COUNT = EVENT_CALL_BASE + 2 * CALL_COUNT,
};

#define EVENT_ENTER(call) (EVENT_CALL_BASE + 2 * (call))
#define EVENT_LEAVE(call) (EVENT_CALL_BASE + 2 * (call) + 1)

/* x86 page fault error code bits (arch/x86/include/asm/trap_pf.h). */
enum fault_bits {
	FAULT_PRESENT = 1 << 0, /* a protection fault, not a missing page */
	FAULT_WRITE = 1 << 1,
	FAULT_USER = 1 << 2,
	FAULT_RESERVED = 1 << 3,
	FAULT_INSTRUCTION = 1 << 4,
};

/* Values behind a pointer argument, e.g. a node mask: event.flags. */
enum event_flags {
	EVENT_POINTER_READ = 1 << 0, /* an argument holds the value that was behind the pointer */
	EVENT_POINTER_LATE = 1 << 1, /* … read after the call, so it may have changed */
};

struct event {
	uint64_t time; /* ns on the trace's clock */
	uint64_t arg[EVENT_MAX_ARGS]; /* in the order of the kind's row; a leave has the result */
	uint32_t task; /* thread id in the initial PID namespace */
	uint32_t cpu;
	uint16_t kind; /* enum event_kind */
	uint8_t flags; /* enum event_flags */
	uint8_t reserved;
};

/* What an argument is: how dump prints it and which predictor the codec uses. */
enum arg_type {
	ARG_NONE,
	ARG_ADDRESS, /* hexadecimal; rebased by the recorder */
	ARG_SIZE, /* hexadecimal bytes */
	ARG_OFFSET, /* hexadecimal bytes within a file */
	ARG_HEX, /* flags without a name table */
	ARG_PROT,
	ARG_MMAP_FLAGS,
	ARG_MREMAP_FLAGS,
	ARG_ADVICE,
	ARG_CLONE_FLAGS,
	ARG_FAULT_CODE,
	ARG_FD,
	ARG_TASK,
	ARG_INT, /* signed decimal */
	ARG_POINTER, /* an address whose target was not read: never replayed */
	ARG_RESULT, /* -4095…-1 is an errno, else decimal */
	ARG_RESULT_ADDRESS, /* -4095…-1 is an errno, else an address */
};

struct event_row {
	uint8_t args; /* how many of arg[] are used */
	uint8_t types[EVENT_MAX_ARGS]; /* enum arg_type */
	const char *names[EVENT_MAX_ARGS]; /* as the kernel's format files call the fields */
};

/* The row of a kind, or NULL for a number this version does not know. */
const struct event_row *event_row(unsigned kind);

/* "fault_user", …; for both the enter and the leave of a call its name. NULL if unknown. */
const char *event_name(unsigned kind);

/* "mmap", … for enum call; NULL out of range. */
const char *call_name(unsigned call);

/* The call of that name, or -ENOENT. */
int call_by_name(const char *name);

/* Which side of a call the recorder keeps; the other is not missed. */
enum call_record {
	CALL_BOTH,
	CALL_LEAVE_ONLY, /* only the result matters */
	CALL_ENTER_ONLY, /* taken to have succeeded */
};
enum call_record call_recorded(enum call call);

static inline bool event_is_call(unsigned kind)
{
	return kind >= EVENT_CALL_BASE && kind < EVENT_KIND_COUNT;
}

static inline bool event_is_leave(unsigned kind)
{
	return event_is_call(kind) && (kind & 1);
}

static inline bool event_is_fault(unsigned kind)
{
	return kind == EVENT_FAULT_USER || kind == EVENT_FAULT_KERNEL;
}

static inline enum call event_call(unsigned kind)
{
	return (enum call)((kind - EVENT_CALL_BASE) / 2);
}

/* A result as the kernel returns it: -4095…-1 are errors. */
static inline bool result_is_error(uint64_t result)
{
	return result >= (uint64_t)-4095;
}

/*
 * Writes the name of a value of the given type ("MADV_DONTNEED",
 * "PROT_READ|PROT_WRITE", "ENOMEM", "0x7fb000") and returns its length, cut to size.
 */
#define EVENT_VALUE_MAX 512 /* room for any value */
size_t event_value_format(char *out, size_t size, enum arg_type type, uint64_t value);
