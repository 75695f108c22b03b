/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking names up in the tables of roles. */

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "capture/roles.h"
#include "capture/roles_table.h"
#include "common/cleanup.h"

#define NAME_MAX_BYTES 128

uint16_t role_kernel(const char *release)
{
	unsigned long major, minor;
	char *end;

	if (!isdigit((unsigned char)*release))
		return 0;
	major = strtoul(release, &end, 10);
	if (*end != '.' || !isdigit((unsigned char)end[1]))
		return 0;
	minor = strtoul(end + 1, &end, 10);
	if (!major || major > 255 || minor > 255)
		return 0;
	return (uint16_t)ROLE_KERNEL(major, minor);
}

/* The length without .part.0 and the like: no C name has a dot. */
static size_t base_length(const char *name)
{
	return strcspn(name, ".");
}

static bool same_base(const char *function, size_t length, const char *name)
{
	/* The first letter first: rows are many and most differ there. */
	return *function == *name && !strncmp(function, name, length) && !name[length];
}

static bool begins(const char *text, const char *prefix)
{
	return !strncmp(text, prefix, strlen(prefix));
}

static const struct {
	const char *prefix;
	enum role_lock lock;
} lock_prefixes[] = {
	{ "_raw_spin_", ROLE_LOCK_SPIN },
	{ "__raw_spin_", ROLE_LOCK_SPIN },
	{ "do_raw_spin_", ROLE_LOCK_SPIN },
	{ "queued_spin_lock_slowpath", ROLE_LOCK_SPIN },
	{ "native_queued_spin_lock_slowpath", ROLE_LOCK_SPIN },
	{ "__pv_queued_spin_", ROLE_LOCK_SPIN },
	{ "virt_spin_lock", ROLE_LOCK_SPIN },
	{ "spin_lock", ROLE_LOCK_SPIN },
	{ "spin_trylock", ROLE_LOCK_SPIN },
	{ "rt_spin_lock", ROLE_LOCK_SPIN },
	{ "_raw_read_", ROLE_LOCK_RW },
	{ "_raw_write_", ROLE_LOCK_RW },
	{ "do_raw_read_", ROLE_LOCK_RW },
	{ "do_raw_write_", ROLE_LOCK_RW },
	{ "queued_read_lock", ROLE_LOCK_RW },
	{ "queued_write_lock", ROLE_LOCK_RW },
	{ "down_read", ROLE_LOCK_SEM },
	{ "down_write", ROLE_LOCK_SEM },
	{ "_down_write_nest_lock", ROLE_LOCK_SEM },
	{ "__down_read", ROLE_LOCK_SEM },
	{ "__down_write", ROLE_LOCK_SEM },
	{ "rwsem_down_", ROLE_LOCK_SEM },
	{ "rwsem_optimistic_spin", ROLE_LOCK_SEM },
	{ "rwsem_spin_on_owner", ROLE_LOCK_SEM },
	{ "rwbase_", ROLE_LOCK_SEM },
	{ "mutex_lock", ROLE_LOCK_MUTEX },
	{ "mutex_trylock", ROLE_LOCK_MUTEX },
	{ "mutex_spin_on_owner", ROLE_LOCK_MUTEX },
	{ "mutex_optimistic_spin", ROLE_LOCK_MUTEX },
	{ "__mutex_lock", ROLE_LOCK_MUTEX },
	{ "ww_mutex_lock", ROLE_LOCK_MUTEX },
	/* Of any kind: waiting and debugging. */
	{ "osq_lock", ROLE_LOCK_ANY },
	{ "lock_acquire", ROLE_LOCK_ANY },
	{ "lock_contended", ROLE_LOCK_ANY },
	{ "lock_release", ROLE_LOCK_ANY },
	{ "__lock_acquire", ROLE_LOCK_ANY },
	{ "__lock_contended", ROLE_LOCK_ANY },
	{ "__lock_release", ROLE_LOCK_ANY },
	{ "pv_wait", ROLE_LOCK_ANY },
	{ "kvm_wait", ROLE_LOCK_ANY },
	{ "__raw_callee_save_", ROLE_LOCK_ANY },
	/* Between the lock and who looks at it. */
	{ "kprobe_", ROLE_LOCK_ANY },
	{ "fprobe_", ROLE_LOCK_ANY },
	{ "ftrace_", ROLE_LOCK_ANY },
	{ "optimized_callback", ROLE_LOCK_ANY },
	{ "__traceiter_contention_", ROLE_LOCK_ANY },
	{ "trace_contention_", ROLE_LOCK_ANY },
	{ "trace_event_raw_event_contention_", ROLE_LOCK_ANY },
	{ "perf_trace_contention_", ROLE_LOCK_ANY },
};

bool role_is_helper(const char *function)
{
	static const char *const prefixes[] = {
		"list_lru_",
		"__list_lru_",
		"lock_list_lru_",
		"compact_lock_irqsave",
		"_atomic_dec_and_lock",
		"_atomic_dec_and_raw_lock",
		"refcount_dec_and_lock",
		"write_seqlock",
		"read_seqlock_excl",
	};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (begins(function, prefixes[i]))
			return true;
	return false;
}

/* ARRAY_SIZE() when it is none. */
static size_t lock_prefix_of(const char *function)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(lock_prefixes) && !begins(function, lock_prefixes[i].prefix))
		i++;
	return i;
}

bool role_is_lock_code(const char *function)
{
	/* A trampoline or other code without a name. */
	if (begins(function, "0x"))
		return true;
	return lock_prefix_of(function) < ARRAY_SIZE(lock_prefixes) || role_is_helper(function);
}

enum role_lock role_lock_of(const char *function)
{
	size_t i = lock_prefix_of(function);

	return i < ARRAY_SIZE(lock_prefixes) ? lock_prefixes[i].lock : ROLE_LOCK_ANY;
}

static bool row_is_of(const struct role_function *row, uint16_t kernel)
{
	return row->from <= kernel && (!row->until || kernel <= row->until);
}

static const struct role_function *find_row(const char *function, const char *caller,
                                            enum role_lock lock, uint16_t kernel)
{
	size_t length = base_length(function);
	size_t caller_length = caller ? base_length(caller) : 0;

	for (size_t i = 0; i < role_table_functions_count; i++) {
		const struct role_function *row = &role_table_functions[i];

		if (!same_base(function, length, row->name) || !row_is_of(row, kernel))
			continue;
		if (lock != ROLE_LOCK_ANY && row->lock != ROLE_LOCK_ANY && row->lock != lock)
			continue;
		if (row->caller && (!caller || !same_base(caller, caller_length, row->caller)))
			continue;
		return row;
	}
	return NULL;
}

const struct role_function *role_of_function(const char *function, uint16_t kernel)
{
	return find_row(function, NULL, ROLE_LOCK_ANY, kernel);
}

/* Skips lock code; *lock gets the kind of the outermost that has one. */
static size_t skip_lock_code(const char *const *functions, size_t count, enum role_lock *lock)
{
	size_t i = 0;

	*lock = ROLE_LOCK_ANY;
	for (; i < count && role_is_lock_code(functions[i]); i++) {
		enum role_lock kind = role_lock_of(functions[i]);

		if (kind != ROLE_LOCK_ANY)
			*lock = kind;
	}
	return i;
}

const struct role_function *role_of_stack(const char *const *functions, size_t count,
                                          uint16_t kernel)
{
	enum role_lock lock;
	size_t i = skip_lock_code(functions, count, &lock);

	if (i == count)
		return NULL;
	return find_row(functions[i], i + 1 < count ? functions[i + 1] : NULL, lock, kernel);
}

/* A broad pattern must not take a function of memory management that the table lacks. */
static bool sounds_like_memory(const char *name)
{
	static const char *const words[] = { "vma_",  "_vma",  "folio", "page", "lru",
		                             "zone",  "pte",   "pmd",   "swap", "slab",
		                             "memcg", "anon_", "rmap",  "huge" };

	/* The kernel's own addresses, not mappings of processes. */
	if (strstr(name, "vmap") || strstr(name, "vmalloc"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}

static const char *other_role(const char *function)
{
	char name[NAME_MAX_BYTES];
	bool memory;

	snprintf(name, sizeof(name), "%.*s", (int)base_length(function), function);
	memory = sounds_like_memory(name);
	for (size_t i = 0; i < role_table_others_count; i++) {
		const struct role_other *other = &role_table_others[i];

		if (memory && strchr(other->pattern, '*') && strcmp(other->role, "page-cache"))
			continue;
		if (!fnmatch(other->pattern, name, 0))
			return other->role;
	}
	return NULL;
}

const char *role_name_of_stack(const char *const *functions, size_t count, uint16_t kernel,
                               const struct role_function **row)
{
	const struct role_function *found = role_of_stack(functions, count, kernel);
	enum role_lock lock;
	size_t i;

	if (row)
		*row = found;
	if (found)
		return found->role;
	i = skip_lock_code(functions, count, &lock);
	return i < count ? other_role(functions[i]) : NULL;
}

bool role_is_memory(const char *role)
{
	for (size_t i = 0; i < role_table_functions_count; i++)
		if (!strcmp(role_table_functions[i].role, role))
			return true;
	return false;
}

/* #subclass, then /N, and -R or -W for the sides of a rwlock or semaphore. */
static void class_base(const char *name, char *out, size_t size)
{
	size_t length = strlen(name);

	if (length > 2 && (!strcmp(name + length - 2, "-R") || !strcmp(name + length - 2, "-W")))
		length -= 2;
	for (int i = 0; i < 2; i++) {
		size_t digits = length;

		while (digits && isdigit((unsigned char)name[digits - 1]))
			digits--;
		if (digits < length && digits &&
		    (name[digits - 1] == '/' || name[digits - 1] == '#'))
			length = digits - 1;
	}
	snprintf(out, size, "%.*s", (int)length, name);
}

const char *role_of_class(const char *class_name, uint16_t kernel)
{
	char name[NAME_MAX_BYTES];

	class_base(class_name, name, sizeof(name));
	for (size_t i = 0; i < role_table_classes_count; i++) {
		const struct role_class *row = &role_table_classes[i];

		if (row->from <= kernel && (!row->until || kernel <= row->until) &&
		    !fnmatch(row->name, name, FNM_NOESCAPE))
			return row->role;
	}
	return NULL;
}

const struct role_function *role_functions(size_t *count)
{
	*count = role_table_functions_count;
	return role_table_functions;
}

const struct role_class *role_classes(size_t *count)
{
	*count = role_table_classes_count;
	return role_table_classes;
}

const struct role_other *role_others(size_t *count)
{
	*count = role_table_others_count;
	return role_table_others;
}

const char *role_side_name(enum role_side side)
{
	static const char *const names[ROLE_SIDE_COUNT] = { "", "alloc", "free", "unmap" };

	return side < ROLE_SIDE_COUNT ? names[side] : "";
}
