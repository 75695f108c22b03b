/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of values. The numbers are the kernel's on x86-64 and arm64 (include/uapi,
 * up to 6.18), written out because build machines have older headers.
 */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "traces/event.h"

struct value_name {
	uint64_t value;
	const char *name;
};

/* Flags: names of single bits or fields, in the order they are printed. */
static const struct value_name prot_names[] = {
	{ 1, "PROT_READ" },
	{ 2, "PROT_WRITE" },
	{ 4, "PROT_EXEC" },
	{ 8, "PROT_SEM" },
	{ 0x01000000, "PROT_GROWSDOWN" },
	{ 0x02000000, "PROT_GROWSUP" },
	{ 0, NULL },
};

#define MAP_TYPE_MASK 0xfU

static const struct value_name map_types[] = {
	{ 1, "MAP_SHARED" },    { 2, "MAP_PRIVATE" }, { 3, "MAP_SHARED_VALIDATE" },
	{ 8, "MAP_DROPPABLE" }, { 0, NULL },
};

static const struct value_name map_names[] = {
	{ 0x10, "MAP_FIXED" },
	{ 0x20, "MAP_ANONYMOUS" },
	{ 0x40, "MAP_32BIT" },
	{ 0x80, "MAP_ABOVE4G" },
	{ 0x100, "MAP_GROWSDOWN" },
	{ 0x800, "MAP_DENYWRITE" },
	{ 0x1000, "MAP_EXECUTABLE" },
	{ 0x2000, "MAP_LOCKED" },
	{ 0x4000, "MAP_NORESERVE" },
	{ 0x8000, "MAP_POPULATE" },
	{ 0x10000, "MAP_NONBLOCK" },
	{ 0x20000, "MAP_STACK" },
	{ 0x40000, "MAP_HUGETLB" },
	{ 0x80000, "MAP_SYNC" },
	{ 0x100000, "MAP_FIXED_NOREPLACE" },
	{ 0, NULL },
};

static const struct value_name mremap_names[] = {
	{ 1, "MREMAP_MAYMOVE" },
	{ 2, "MREMAP_FIXED" },
	{ 4, "MREMAP_DONTUNMAP" },
	{ 0, NULL },
};

static const struct value_name clone_names[] = {
	{ 0x80, "CLONE_NEWTIME" },
	{ 0x100, "CLONE_VM" },
	{ 0x200, "CLONE_FS" },
	{ 0x400, "CLONE_FILES" },
	{ 0x800, "CLONE_SIGHAND" },
	{ 0x1000, "CLONE_PIDFD" },
	{ 0x2000, "CLONE_PTRACE" },
	{ 0x4000, "CLONE_VFORK" },
	{ 0x8000, "CLONE_PARENT" },
	{ 0x10000, "CLONE_THREAD" },
	{ 0x20000, "CLONE_NEWNS" },
	{ 0x40000, "CLONE_SYSVSEM" },
	{ 0x80000, "CLONE_SETTLS" },
	{ 0x100000, "CLONE_PARENT_SETTID" },
	{ 0x200000, "CLONE_CHILD_CLEARTID" },
	{ 0x400000, "CLONE_DETACHED" },
	{ 0x800000, "CLONE_UNTRACED" },
	{ 0x1000000, "CLONE_CHILD_SETTID" },
	{ 0x2000000, "CLONE_NEWCGROUP" },
	{ 0x4000000, "CLONE_NEWUTS" },
	{ 0x8000000, "CLONE_NEWIPC" },
	{ 0x10000000, "CLONE_NEWUSER" },
	{ 0x20000000, "CLONE_NEWPID" },
	{ 0x40000000, "CLONE_NEWNET" },
	{ 0x80000000, "CLONE_IO" },
	{ 0x100000000, "CLONE_CLEAR_SIGHAND" },
	{ 0x200000000, "CLONE_INTO_CGROUP" },
	{ 0, NULL },
};

/* Beside W, R or X, which come first. */
static const struct value_name fault_names[] = {
	{ FAULT_PRESENT, "present" },
	{ FAULT_RESERVED, "reserved" },
	{ 0x20, "pkey" },
	{ 0x40, "shstk" },
	{ 0, NULL },
};

static const struct value_name advice_names[] = {
	{ 0, "MADV_NORMAL" },          { 1, "MADV_RANDOM" },
	{ 2, "MADV_SEQUENTIAL" },      { 3, "MADV_WILLNEED" },
	{ 4, "MADV_DONTNEED" },        { 8, "MADV_FREE" },
	{ 9, "MADV_REMOVE" },          { 10, "MADV_DONTFORK" },
	{ 11, "MADV_DOFORK" },         { 12, "MADV_MERGEABLE" },
	{ 13, "MADV_UNMERGEABLE" },    { 14, "MADV_HUGEPAGE" },
	{ 15, "MADV_NOHUGEPAGE" },     { 16, "MADV_DONTDUMP" },
	{ 17, "MADV_DODUMP" },         { 18, "MADV_WIPEONFORK" },
	{ 19, "MADV_KEEPONFORK" },     { 20, "MADV_COLD" },
	{ 21, "MADV_PAGEOUT" },        { 22, "MADV_POPULATE_READ" },
	{ 23, "MADV_POPULATE_WRITE" }, { 24, "MADV_DONTNEED_LOCKED" },
	{ 25, "MADV_COLLAPSE" },       { 100, "MADV_HWPOISON" },
	{ 101, "MADV_SOFT_OFFLINE" },  { 102, "MADV_GUARD_INSTALL" },
	{ 103, "MADV_GUARD_REMOVE" },  { 0, NULL },
};

/* Returned within the kernel only, and visible to tracepoints (include/linux/errno.h). */
static const struct value_name restart_names[] = {
	{ 512, "ERESTARTSYS" }, { 513, "ERESTARTNOINTR" },        { 514, "ERESTARTNOHAND" },
	{ 515, "ENOIOCTLCMD" }, { 516, "ERESTART_RESTARTBLOCK" }, { 0, NULL },
};

/* A string that is put together in bounded room. */
struct text {
	char *out;
	size_t size, len;
};

static void _printf_(2, 3) text_add(struct text *t, const char *fmt, ...)
{
	size_t room = t->size - t->len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->out + t->len, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < room ? (size_t)n : room - 1;
}

static const char *name_find(const struct value_name *names, uint64_t value)
{
	for (; names->name; names++)
		if (names->value == value)
			return names->name;
	return NULL;
}

/* Adds the names of bits that are set; what has no name stands behind them in hexadecimal. */
static void flags_add(struct text *t, const struct value_name *names, uint64_t value)
{
	const char *between = t->len ? "|" : "";

	for (; names->name; names++) {
		if (!(value & names->value))
			continue;
		text_add(t, "%s%s", between, names->name);
		value &= ~names->value;
		between = "|";
	}
	if (value)
		text_add(t, "%s0x%" PRIx64, between, value);
}

static void flags_format(struct text *t, const struct value_name *names, uint64_t value,
                         const char *none)
{
	if (value)
		flags_add(t, names, value);
	else
		text_add(t, "%s", none);
}

static void map_flags_format(struct text *t, uint64_t value)
{
	const char *type = name_find(map_types, value & MAP_TYPE_MASK);

	if (type) {
		text_add(t, "%s", type);
		value &= ~(uint64_t)MAP_TYPE_MASK;
	}
	if (value || !type)
		flags_format(t, map_names, value, "0");
}

static void fault_format(struct text *t, uint64_t value)
{
	text_add(t, "%s|%s",
	         value & FAULT_INSTRUCTION ? "X"
	         : value & FAULT_WRITE     ? "W"
	                                   : "R",
	         value & FAULT_USER ? "user" : "kernel");
	value &= ~(uint64_t)(FAULT_INSTRUCTION | FAULT_WRITE | FAULT_USER);
	if (value)
		flags_add(t, fault_names, value);
}

static void name_format(struct text *t, const struct value_name *names, uint64_t value)
{
	const char *name = name_find(names, value);

	if (name)
		text_add(t, "%s", name);
	else
		text_add(t, "0x%" PRIx64, value);
}

static void error_format(struct text *t, uint64_t result)
{
	int number = (int)-(int64_t)result;
	const char *name = strerrorname_np(number);

	if (!name)
		name = name_find(restart_names, (uint64_t)number);
	if (name)
		text_add(t, "%s", name);
	else
		text_add(t, "-%d", number);
}

static void number_format(struct text *t, enum arg_type type, uint64_t value)
{
	if (type == ARG_FD)
		text_add(t, "%d", (int)value);
	else if (type == ARG_TASK)
		text_add(t, "%" PRIu64, value);
	else if (type == ARG_INT || type == ARG_RESULT)
		text_add(t, "%" PRId64, (int64_t)value);
	else
		text_add(t, "0x%" PRIx64, value);
}

size_t event_value_format(char *out, size_t size, enum arg_type type, uint64_t value)
{
	struct text t = { .out = out, .size = size };

	if (!size)
		return 0;
	*out = 0;
	if (type == ARG_PROT)
		flags_format(&t, prot_names, value, "PROT_NONE");
	else if (type == ARG_MMAP_FLAGS)
		map_flags_format(&t, value);
	else if (type == ARG_MREMAP_FLAGS)
		flags_format(&t, mremap_names, value, "0");
	else if (type == ARG_CLONE_FLAGS)
		flags_format(&t, clone_names, value, "0");
	else if (type == ARG_ADVICE)
		name_format(&t, advice_names, value);
	else if (type == ARG_FAULT_CODE)
		fault_format(&t, value);
	else if ((type == ARG_RESULT || type == ARG_RESULT_ADDRESS) && result_is_error(value))
		error_format(&t, value);
	else
		number_format(&t, type, value);
	return t.len;
}
