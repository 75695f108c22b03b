/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of event kinds. Argument names are those of the kernel's
 * events/syscalls/sys_enter_NAME/format files (6.18).
 */

#include <string.h>

#include "traces/event.h"

#define A1(t1, n1)                                                                                 \
	1, { t1 },                                                                                 \
	{                                                                                          \
		n1                                                                                 \
	}
#define A2(t1, n1, t2, n2)                                                                         \
	2, { t1, t2 },                                                                             \
	{                                                                                          \
		n1, n2                                                                             \
	}
#define A3(t1, n1, t2, n2, t3, n3)                                                                 \
	3, { t1, t2, t3 },                                                                         \
	{                                                                                          \
		n1, n2, n3                                                                         \
	}
#define A4(t1, n1, t2, n2, t3, n3, t4, n4)                                                         \
	4, { t1, t2, t3, t4 },                                                                     \
	{                                                                                          \
		n1, n2, n3, n4                                                                     \
	}

static const struct event_row point_rows[EVENT_CALL_BASE] = {
	[EVENT_FAULT_USER] = { A2(ARG_ADDRESS, "address", ARG_FAULT_CODE, "error_code") },
	[EVENT_FAULT_KERNEL] = { A2(ARG_ADDRESS, "address", ARG_FAULT_CODE, "error_code") },
	[EVENT_NEWTASK] = { A2(ARG_TASK, "pid", ARG_CLONE_FLAGS, "clone_flags") },
	[EVENT_EXEC] = { A1(ARG_TASK, "old_pid") },
	[EVENT_EXIT] = { A1(ARG_INT, "group_dead") },
};

static const struct event_row enter_rows[CALL_COUNT] = {
	[CALL_MMAP] = { 6,
	                { ARG_ADDRESS, ARG_SIZE, ARG_PROT, ARG_MMAP_FLAGS, ARG_FD, ARG_OFFSET },
	                { "addr", "len", "prot", "flags", "fd", "off" } },
	[CALL_MUNMAP] = { A2(ARG_ADDRESS, "addr", ARG_SIZE, "len") },
	[CALL_MREMAP] = { 5,
	                  { ARG_ADDRESS, ARG_SIZE, ARG_SIZE, ARG_MREMAP_FLAGS, ARG_ADDRESS },
	                  { "addr", "old_len", "new_len", "flags", "new_addr" } },
	[CALL_MADVISE] = { A3(ARG_ADDRESS, "start", ARG_SIZE, "len_in", ARG_ADVICE, "behavior") },
	[CALL_PROCESS_MADVISE] = { 5,
	                           { ARG_FD, ARG_POINTER, ARG_INT, ARG_ADVICE, ARG_HEX },
	                           { "pidfd", "vec", "vlen", "behavior", "flags" } },
	[CALL_MPROTECT] = { A3(ARG_ADDRESS, "start", ARG_SIZE, "len", ARG_PROT, "prot") },
	[CALL_PKEY_MPROTECT] = { A4(ARG_ADDRESS, "start", ARG_SIZE, "len", ARG_PROT, "prot",
	                            ARG_INT, "pkey") },
	[CALL_BRK] = { A1(ARG_ADDRESS, "brk") },
	[CALL_MLOCK] = { A2(ARG_ADDRESS, "start", ARG_SIZE, "len") },
	[CALL_MLOCK2] = { A3(ARG_ADDRESS, "start", ARG_SIZE, "len", ARG_HEX, "flags") },
	[CALL_MUNLOCK] = { A2(ARG_ADDRESS, "start", ARG_SIZE, "len") },
	[CALL_MLOCKALL] = { A1(ARG_HEX, "flags") },
	[CALL_MUNLOCKALL] = { 0 },
	[CALL_MBIND] = { 6,
	                 { ARG_ADDRESS, ARG_SIZE, ARG_HEX, ARG_POINTER, ARG_INT, ARG_HEX },
	                 { "start", "len", "mode", "nmask", "maxnode", "flags" } },
	[CALL_SET_MEMPOLICY] = { A3(ARG_HEX, "mode", ARG_POINTER, "nmask", ARG_INT, "maxnode") },
	[CALL_SET_MEMPOLICY_HOME_NODE] = { A4(ARG_ADDRESS, "start", ARG_SIZE, "len", ARG_INT,
	                                      "home_node", ARG_HEX, "flags") },
	[CALL_MSEAL] = { A3(ARG_ADDRESS, "start", ARG_SIZE, "len", ARG_HEX, "flags") },
	[CALL_REMAP_FILE_PAGES] = { 5,
	                            { ARG_ADDRESS, ARG_SIZE, ARG_PROT, ARG_INT, ARG_HEX },
	                            { "start", "size", "prot", "pgoff", "flags" } },
	[CALL_USERFAULTFD] = { A1(ARG_HEX, "flags") },
	[CALL_PRCTL] = { 5,
	                 { ARG_INT, ARG_HEX, ARG_ADDRESS, ARG_SIZE, ARG_POINTER },
	                 { "option", "arg2", "arg3", "arg4", "arg5" } },
	[CALL_SHMGET] = { A3(ARG_HEX, "key", ARG_SIZE, "size", ARG_HEX, "shmflg") },
	[CALL_SHMAT] = { A3(ARG_INT, "shmid", ARG_ADDRESS, "shmaddr", ARG_HEX, "shmflg") },
	[CALL_SHMDT] = { A1(ARG_ADDRESS, "shmaddr") },
	[CALL_SETRLIMIT] = { A3(ARG_INT, "resource", ARG_INT, "soft", ARG_INT, "hard") },
	[CALL_PRLIMIT64] = { A4(ARG_TASK, "pid", ARG_INT, "resource", ARG_INT, "soft", ARG_INT,
	                        "hard") },
	[CALL_OPENAT] = { 0 },
	[CALL_OPENAT2] = { 0 },
	[CALL_OPEN] = { 0 },
	[CALL_DUP] = { A1(ARG_FD, "fildes") },
	[CALL_DUP2] = { A2(ARG_FD, "oldfd", ARG_FD, "newfd") },
	[CALL_DUP3] = { A3(ARG_FD, "oldfd", ARG_FD, "newfd", ARG_HEX, "flags") },
	[CALL_FCNTL] = { A3(ARG_FD, "fd", ARG_INT, "cmd", ARG_INT, "arg") },
	[CALL_MEMFD_CREATE] = { A1(ARG_HEX, "flags") },
	[CALL_CLOSE] = { A1(ARG_FD, "fd") },
	[CALL_CLOSE_RANGE] = { A3(ARG_FD, "fd", ARG_FD, "max_fd", ARG_HEX, "flags") },
	[CALL_FTRUNCATE] = { A2(ARG_FD, "fd", ARG_SIZE, "length") },
	[CALL_FALLOCATE] = { A4(ARG_FD, "fd", ARG_HEX, "mode", ARG_OFFSET, "offset", ARG_SIZE,
	                        "len") },
	[CALL_WAIT4] = { A2(ARG_INT, "upid", ARG_HEX, "options") },
	[CALL_WAITID] = { A3(ARG_INT, "which", ARG_INT, "upid", ARG_HEX, "options") },
	[CALL_FUTEX] = { A3(ARG_ADDRESS, "uaddr", ARG_HEX, "op", ARG_INT, "val") },
	[CALL_EXECVE] = { 0 },
	[CALL_EXECVEAT] = { 0 },
};

static const struct event_row leave_row = { A1(ARG_RESULT, "ret") };
static const struct event_row leave_address_row = { A1(ARG_RESULT_ADDRESS, "ret") };

static const char *const point_names[EVENT_CALL_BASE] = {
	[EVENT_FAULT_USER] = "fault_user",
	[EVENT_FAULT_KERNEL] = "fault_kernel",
	[EVENT_NEWTASK] = "newtask",
	[EVENT_PREPARE_EXEC] = "prepare_exec",
	[EVENT_EXEC] = "exec",
	[EVENT_EXIT] = "exit",
};

static const char *const call_names[CALL_COUNT] = {
	[CALL_MMAP] = "mmap",
	[CALL_MUNMAP] = "munmap",
	[CALL_MREMAP] = "mremap",
	[CALL_MADVISE] = "madvise",
	[CALL_PROCESS_MADVISE] = "process_madvise",
	[CALL_MPROTECT] = "mprotect",
	[CALL_PKEY_MPROTECT] = "pkey_mprotect",
	[CALL_BRK] = "brk",
	[CALL_MLOCK] = "mlock",
	[CALL_MLOCK2] = "mlock2",
	[CALL_MUNLOCK] = "munlock",
	[CALL_MLOCKALL] = "mlockall",
	[CALL_MUNLOCKALL] = "munlockall",
	[CALL_MBIND] = "mbind",
	[CALL_SET_MEMPOLICY] = "set_mempolicy",
	[CALL_SET_MEMPOLICY_HOME_NODE] = "set_mempolicy_home_node",
	[CALL_MSEAL] = "mseal",
	[CALL_REMAP_FILE_PAGES] = "remap_file_pages",
	[CALL_USERFAULTFD] = "userfaultfd",
	[CALL_PRCTL] = "prctl",
	[CALL_SHMGET] = "shmget",
	[CALL_SHMAT] = "shmat",
	[CALL_SHMDT] = "shmdt",
	[CALL_SETRLIMIT] = "setrlimit",
	[CALL_PRLIMIT64] = "prlimit64",
	[CALL_OPENAT] = "openat",
	[CALL_OPENAT2] = "openat2",
	[CALL_OPEN] = "open",
	[CALL_DUP] = "dup",
	[CALL_DUP2] = "dup2",
	[CALL_DUP3] = "dup3",
	[CALL_FCNTL] = "fcntl",
	[CALL_MEMFD_CREATE] = "memfd_create",
	[CALL_CLOSE] = "close",
	[CALL_CLOSE_RANGE] = "close_range",
	[CALL_FTRUNCATE] = "ftruncate",
	[CALL_FALLOCATE] = "fallocate",
	[CALL_WAIT4] = "wait4",
	[CALL_WAITID] = "waitid",
	[CALL_FUTEX] = "futex",
	[CALL_EXECVE] = "execve",
	[CALL_EXECVEAT] = "execveat",
};

static const uint8_t recorded[CALL_COUNT] = {
	[CALL_OPENAT] = CALL_LEAVE_ONLY,    [CALL_OPENAT2] = CALL_LEAVE_ONLY,
	[CALL_OPEN] = CALL_LEAVE_ONLY,      [CALL_MEMFD_CREATE] = CALL_LEAVE_ONLY,
	[CALL_WAIT4] = CALL_LEAVE_ONLY,     [CALL_WAITID] = CALL_LEAVE_ONLY,
	[CALL_CLOSE] = CALL_ENTER_ONLY,     [CALL_CLOSE_RANGE] = CALL_ENTER_ONLY,
	[CALL_FTRUNCATE] = CALL_ENTER_ONLY, [CALL_FALLOCATE] = CALL_ENTER_ONLY,
};

static bool returns_address(enum call call)
{
	return call == CALL_MMAP || call == CALL_MREMAP || call == CALL_BRK || call == CALL_SHMAT;
}

const struct event_row *event_row(unsigned kind)
{
	if (kind < EVENT_CALL_BASE)
		return point_names[kind] ? &point_rows[kind] : NULL;
	if (kind >= EVENT_KIND_COUNT)
		return NULL;
	if (!event_is_leave(kind))
		return &enter_rows[event_call(kind)];
	return returns_address(event_call(kind)) ? &leave_address_row : &leave_row;
}

const char *event_name(unsigned kind)
{
	if (kind < EVENT_CALL_BASE)
		return point_names[kind];
	return kind < EVENT_KIND_COUNT ? call_names[event_call(kind)] : NULL;
}

const char *call_name(unsigned call)
{
	return call < CALL_COUNT ? call_names[call] : NULL;
}

enum call_record call_recorded(enum call call)
{
	return (enum call_record)recorded[call];
}

int call_by_name(const char *name)
{
	for (int i = 0; i < CALL_COUNT; i++)
		if (!strcmp(call_names[i], name))
			return i;
	return -ENOENT;
}
