/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two sides may be compared. The keys are described in result.h. */

#include <fnmatch.h>
#include <string.h>

#include "analysis/compat.h"
#include "common/cleanup.h"

/* Kernels of the same machine reserve different amounts for themselves. */
#define MEMORY_TOLERANCE 0.02

/* In settings these describe the kernel or the machine, which are looked at elsewhere. */
static const char *const not_settings[] = {
	"kernel", "kernel_version", "tool",      "arch",         "cpus",  "numa_nodes",
	"memory", "zero_page",      "time_base", "address_bits", "clock",
};
/* Options that do not change what a repetition does. */
static const char *const not_options[] = {
	"repeat", "warmup", "output", "quiet", "force", "append"
};
/* Options that do change the plan, and so its counts; "plan" by itself is good too. */
static const char *const plan_options[] = {
	"plan",           "place",      "order", "touch",   "copies",
	"drop_map_stack", "incomplete", "seal",  "hugetlb",
};
/* Passes that are no sources of locks: one more or less leaves the others as they are. */
static const char *const not_sources[] = { "time", "latency" };
/* Words of a kernel's command line that name the kernel or its files. */
static const char *const boot_words[] = { "BOOT_IMAGE=", "initrd=" };

static bool listed(const char *const *list, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], key))
			return true;
	return false;
}

/* An option may be named as it is typed: drop-map-stack is the key drop_map_stack. */
static bool same_name(const char *a, const char *b)
{
	for (; *a && *b; a++, b++)
		if (*a != *b && !(*a == '-' && *b == '_'))
			return false;
	return *a == *b;
}

static bool is_varied(const struct option_list *vary, const char *key)
{
	for (size_t i = 0; vary && i < vary->count; i++)
		if (same_name(vary->items[i], key) ||
		    (!strcmp(vary->items[i], "mthp") && !fnmatch("thp_[0-9]*kB", key, 0)))
			return true;
	return false;
}

/* What differs between two builds of one kernel: lockdep takes memory, and only one has lock_stat.
 */
static const char *build_items[] = { "memory", "sources" };
static const struct option_list between_builds = { .items = build_items,
	                                           .count = ARRAY_SIZE(build_items) };

/* Who compares may name what differs on purpose; who joins results may not. */
static bool may_vary(const struct option_list *vary)
{
	return vary && vary != &between_builds;
}

static const char *hint_of(const struct option_list *vary)
{
	return may_vary(vary) ? " (if on purpose, name it with --vary)" : "";
}

struct object_rule {
	const char *key; /* of the object, for the message */
	const char *const *ignored;
	size_t ignored_count;
	bool absent_differs; /* a key that only one side has is a difference */
};

static int compare_value(const struct object_rule *rule, const char *key, const json_t *a,
                         const json_t *b, const struct option_list *vary, struct reasons *out)
{
	char what[120];

	if (is_varied(vary, key) || listed(rule->ignored, rule->ignored_count, key))
		return 0;
	if (a && b ? reasons_same_value(a, b, 0) : !rule->absent_differs)
		return 0;
	snprintf(what, sizeof(what), "%s%.64s", rule->key, key);
	return reasons_add_difference(out, what, a, b, hint_of(vary));
}

static int compare_objects(const struct object_rule *rule, const json_t *a, const json_t *b,
                           const struct option_list *vary, struct reasons *out)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)a, key, value)
	{
		r = compare_value(rule, key, value, json_object_get(b, key), vary, out);
		if (r < 0)
			return r;
	}
	json_object_foreach((json_t *)b, key, value)
	{
		if (json_object_get(a, key))
			continue;
		r = compare_value(rule, key, NULL, value, vary, out);
		if (r < 0)
			return r;
	}
	return r;
}

static bool is_boot_word(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(boot_words); i++)
		if (!strncmp(word, boot_words[i], strlen(boot_words[i])))
			return true;
	return false;
}

/* The command line without the words that name the kernel; one blank behind each word. */
static char *command_line(const json_t *provenance)
{
	const char *text = json_string_value(json_object_get(provenance, "cmdline"));
	char *out = text ? malloc(strlen(text) + 2) : NULL, *to = out;

	while (out && *text) {
		size_t len = strcspn(text, " ");

		if (len && !is_boot_word(text)) {
			memcpy(to, text, len);
			to += len;
			*to++ = ' ';
		}
		text += len + (text[len] == ' ');
	}
	if (out)
		*to = '\0';
	return out;
}

static int compare_command_lines(const json_t *a, const json_t *b, const struct option_list *vary,
                                 struct reasons *out)
{
	_cleanup_free_ char *left = command_line(a), *right = command_line(b);

	if (!left || !right || !strcmp(left, right) || is_varied(vary, "cmdline"))
		return 0;
	return reasons_add(out, "the kernels' command lines differ%s",
	                   may_vary(vary) ? " (if on purpose, name cmdline with --vary)" : "");
}

/* The sources of locks that were used: "lock_stat, entries", or "none". NULL without memory. */
static json_t *sources_used(const json_t *provenance)
{
	char names[200] = "";
	json_t *source;
	size_t i;

	json_array_foreach(json_object_get(provenance, "sources"), i, source)
	{
		const char *name = json_string_value(json_object_get(source, "name"));
		size_t at = strlen(names);

		if (name && json_is_true(json_object_get(source, "used")) &&
		    !listed(not_sources, ARRAY_SIZE(not_sources), name))
			snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", name);
	}
	/* Cut in the middle of a character it is no UTF-8, and for the message only. */
	return json_string_nocheck(*names ? names : "none");
}

static int compare_sources(const json_t *a, const json_t *b, const struct option_list *vary,
                           struct reasons *out)
{
	json_t *left = sources_used(a), *right = sources_used(b);
	int r = left && right ? 0 : -ENOMEM;

	if (r == 0 && !is_varied(vary, "sources") && !json_equal(left, right))
		r = reasons_add_difference(
			out, "what observed the locks", left, right,
			may_vary(vary) ? " (if on purpose, name sources with --vary)" : "");
	json_decref(left);
	json_decref(right);
	return r;
}

static int compare_facts(const json_t *a, const json_t *b, const struct option_list *vary,
                         struct reasons *out)
{
	static const struct {
		const char *object, *key, *what;
		double tolerance;
		bool needed; /* one side without it is a difference */
	} rows[] = {
		{ NULL, "trace_id", "the trace or command", 0, true },
		{ NULL, "spinlock", "the kind of spinlock", 0, false },
		{ NULL, "arch", "the machine: arch", 0, false },
		{ NULL, "cpus", "the machine: cpus", 0, false },
		{ NULL, "numa_nodes", "the machine: numa_nodes", 0, false },
		{ NULL, "memory", "the machine: memory", MEMORY_TOLERANCE, false },
		{ "lab", "emulated", "the machine: emulated", 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const char *object = rows[i].object, *key = rows[i].key;
		const json_t *x = json_object_get(object ? json_object_get(a, object) : a, key);
		const json_t *y = json_object_get(object ? json_object_get(b, object) : b, key);
		int r;

		if ((!x || !y) && (!rows[i].needed || x == y))
			continue;
		if ((x && y && reasons_same_value(x, y, rows[i].tolerance)) || is_varied(vary, key))
			continue;
		r = reasons_add_difference(out, rows[i].what, x, y, "");
		if (r < 0)
			return r;
	}
	return 0;
}

static int compare_provenance(const json_t *a, const json_t *b, const struct option_list *vary,
                              struct reasons *out)
{
	int r = compare_facts(a, b, vary, out);

	if (r >= 0)
		r = compare_sources(a, b, vary, out);
	return r < 0 ? r : compare_command_lines(a, b, vary, out);
}

/* An option that changes what is replayed was named as different on purpose. */
static bool plan_is_varied(const struct option_list *vary)
{
	for (size_t i = 0; i < ARRAY_SIZE(plan_options); i++)
		if (is_varied(vary, plan_options[i]))
			return true;
	return false;
}

int compat_check_results(const struct result *a, const struct result *b,
                         const struct option_list *vary, struct reasons *out)
{
	/* A setting that one kernel does not know is not set differently there. */
	static const struct object_rule settings = { "the setting ", not_settings,
		                                     ARRAY_SIZE(not_settings), false };
	static const struct object_rule options = { "the option ", not_options,
		                                    ARRAY_SIZE(not_options), true };
	static const struct object_rule plan = { "what was replayed: ", NULL, 0, true };
	const json_t *pa = result_provenance((struct result *)a);
	const json_t *pb = result_provenance((struct result *)b);
	int r;

	r = compare_provenance(pa, pb, vary, out);
	if (r >= 0)
		r = compare_objects(&settings, json_object_get(pa, "settings_before"),
		                    json_object_get(pb, "settings_before"), vary, out);
	if (r >= 0)
		r = compare_objects(&options, json_object_get(pa, "options"),
		                    json_object_get(pb, "options"), vary, out);
	if (r < 0 || plan_is_varied(vary))
		return r;
	return compare_objects(&plan, json_object_get(result_fidelity((struct result *)a), "plan"),
	                       json_object_get(result_fidelity((struct result *)b), "plan"), vary,
	                       out);
}

static int compare_kernels(const json_t *a, const json_t *b, struct reasons *out)
{
	static const char *const keys[] = { "kernel", "kernel_version" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);

		if (json_equal((json_t *)x, (json_t *)y) || x == y)
			continue;
		return reasons_add_difference(out, i ? "the build of the kernel" : "the kernel", x,
		                              y, "");
	}
	return 0;
}

int compat_check_boots(const struct result *a, const struct result *b, struct reasons *out)
{
	int r = compare_kernels(result_provenance((struct result *)a),
	                        result_provenance((struct result *)b), out);

	return r < 0 ? r : compat_check_results(a, b, NULL, out);
}

int compat_check_builds(const struct result *a, const struct result *b, struct reasons *out)
{
	return compat_check_results(a, b, &between_builds, out);
}

int compat_check(const struct side *a, const struct side *b, const struct option_list *vary,
                 struct reasons *out)
{
	return compat_check_results(a->results[0], b->results[0], vary, out);
}

bool compat_is_setting(const char *key)
{
	return !listed(not_settings, ARRAY_SIZE(not_settings), key);
}
