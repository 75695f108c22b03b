/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two sides may be compared. The keys are described in result.h. */

#include <fnmatch.h>
#include <math.h>
#include <stdarg.h>
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
static const char *const not_options[] = { "repeat", "warmup", "output", "quiet", "force" };
/* Options that do change the plan, and so its counts; "plan" by itself is good too. */
static const char *const plan_options[] = {
	"plan",           "place",      "order", "touch",   "copies",
	"drop_map_stack", "incomplete", "seal",  "hugetlb",
};
/* Words of a kernel's command line that name the kernel or its files. */
static const char *const boot_words[] = { "BOOT_IMAGE=", "initrd=" };

int reasons_add(struct reasons *r, const char *fmt, ...)
{
	char **texts;
	va_list ap;
	int n;

	if (r->count == REASONS_MAX)
		return 0;
	texts = realloc(r->texts, (r->count + 1) * sizeof(*texts));
	if (!texts)
		return -ENOMEM;
	r->texts = texts;
	va_start(ap, fmt);
	n = vasprintf(&texts[r->count], fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	r->count++;
	return 0;
}

void reasons_clear(struct reasons *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->texts[i]);
	free(r->texts);
	*r = (struct reasons){ 0 };
}

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
	for (size_t i = 0; i < vary->count; i++)
		if (same_name(vary->items[i], key) ||
		    (!strcmp(vary->items[i], "mthp") && !fnmatch("thp_[0-9]*kB", key, 0)))
			return true;
	return false;
}

/* A value as one short text. */
static void show(const json_t *value, char *out, size_t size)
{
	_cleanup_free_ char *dumped = NULL;

	if (!json_is_string(value))
		dumped = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS);
	snprintf(out, size, "%s",
	         json_is_string(value) ? json_string_value(value)
	         : dumped              ? dumped
	                               : "?");
}

static bool number_of(const json_t *value, double *out)
{
	const char *text = json_string_value(value);
	char *end;

	if (json_is_number(value)) {
		*out = json_number_value(value);
		return true;
	}
	if (!text || !*text)
		return false;
	*out = strtod(text, &end);
	return !*end && isfinite(*out);
}

/* A number and its text are the same value. */
static bool same_value(const json_t *a, const json_t *b, double tolerance)
{
	double x, y;

	if (json_equal((json_t *)a, (json_t *)b))
		return true;
	return number_of(a, &x) && number_of(b, &y) &&
	       fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

static int add_difference(struct reasons *out, const char *what, const char *key, const json_t *a,
                          const json_t *b, const char *hint)
{
	char left[48], right[48];

	show(a, left, sizeof(left));
	show(b, right, sizeof(right));
	return reasons_add(out, "%s%.64s differs: %s against %s%s", what, key, left, right, hint);
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
	if (is_varied(vary, key) || listed(rule->ignored, rule->ignored_count, key))
		return 0;
	if (a && b ? same_value(a, b, 0) : !rule->absent_differs)
		return 0;
	return add_difference(out, rule->key, key, a ? a : json_null(), b ? b : json_null(),
	                      " (if on purpose, name it with --vary)");
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
	return reasons_add(out, "the kernels' command lines differ (if on purpose, name cmdline "
	                        "with --vary)");
}

static int compare_provenance(const json_t *a, const json_t *b, const struct option_list *vary,
                              struct reasons *out)
{
	static const struct {
		const char *key, *what;
		double tolerance;
		bool needed; /* one side without it is a difference */
	} rows[] = {
		{ "trace_id", "the trace: ", 0, true },
		{ "spinlock", "the kind of spinlock: ", 0, false },
		{ "arch", "the machine: ", 0, false },
		{ "cpus", "the machine: ", 0, false },
		{ "numa_nodes", "the machine: ", 0, false },
		{ "memory", "the machine: ", MEMORY_TOLERANCE, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const json_t *x = json_object_get(a, rows[i].key);
		const json_t *y = json_object_get(b, rows[i].key);
		int r;

		if ((!x || !y) && (!rows[i].needed || x == y))
			continue;
		if ((x && y && same_value(x, y, rows[i].tolerance)) || is_varied(vary, rows[i].key))
			continue;
		r = add_difference(out, rows[i].what, rows[i].key, x ? x : json_null(),
		                   y ? y : json_null(), "");
		if (r < 0)
			return r;
	}
	return compare_command_lines(a, b, vary, out);
}

/* An option that changes what is replayed was named as different on purpose. */
static bool plan_is_varied(const struct option_list *vary)
{
	for (size_t i = 0; i < ARRAY_SIZE(plan_options); i++)
		if (is_varied(vary, plan_options[i]))
			return true;
	return false;
}

static int compare_results(const struct result *a, const struct result *b,
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

int compat_check(const struct side *a, const struct side *b, const struct option_list *vary,
                 struct reasons *out)
{
	return compare_results(a->results[0], b->results[0], vary, out);
}

static int check_settings_kept(const char *path, const json_t *provenance, struct reasons *out)
{
	const json_t *after = json_object_get(provenance, "settings_after");
	const char *key;
	json_t *before;

	json_object_foreach(json_object_get(provenance, "settings_before"), key, before)
	{
		const json_t *now = json_object_get(after, key);
		int r;

		if (!now || same_value(before, now, 0) ||
		    listed(not_settings, ARRAY_SIZE(not_settings), key))
			continue;
		r = reasons_add(out, "%s: somebody changed the setting %.64s while it ran", path,
		                key);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_fidelity(const char *path, const json_t *fidelity, struct reasons *out)
{
	static const struct {
		const char *key, *what;
	} counts[] = {
		{ "lost", "events are missing from the recording" },
		{ "mismatches", "operations did not go as recorded" },
	};
	double n;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		int r;

		if (!number_of(json_object_get(fidelity, counts[i].key), &n) || n <= 0)
			continue;
		r = reasons_add(out, "%s: %.0f %s", path, n, counts[i].what);
		if (r < 0)
			return r;
	}
	if (json_is_true(json_object_get(fidelity, "incomplete")))
		return reasons_add(out, "%s: an incomplete recording was replayed", path);
	return 0;
}

int compat_check_side(const struct side *side, const struct option_list *vary, struct reasons *out)
{
	for (size_t i = 0; i < side->count; i++) {
		const json_t *p = result_provenance(side->results[i]);
		const json_t *first = result_provenance(side->results[0]);
		int r;

		r = check_fidelity(side->paths[i], result_fidelity(side->results[i]), out);
		if (r >= 0)
			r = check_settings_kept(side->paths[i], p, out);
		if (r >= 0 && i > 0)
			r = compare_results(side->results[0], side->results[i], vary, out);
		if (r >= 0 && i > 0 &&
		    (!json_equal(json_object_get(p, "kernel"), json_object_get(first, "kernel")) ||
		     !json_equal(json_object_get(p, "kernel_version"),
		                 json_object_get(first, "kernel_version"))))
			r = reasons_add(out,
			                "%s and %s are of different kernels: they cannot be pooled",
			                side->paths[0], side->paths[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
