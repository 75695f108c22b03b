/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Joining passes that were made on two builds of a kernel: one counts, one is timed. */

#include <string.h>

#include "analysis/result_parts.h"
#include "common/cleanup.h"
#include "common/log.h"

static bool has_pass(const json_t *rows, const char *pass)
{
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)rows, i,
	                   row) if (!strcmp(json_string_value(json_object_get(row, "pass")),
	                                    pass)) return true;
	return false;
}

/* The rows of into, and those of from whose pass it does not have. NULL without memory. */
static json_t *other_passes(const struct result *into, const struct result *from)
{
	const json_t *mine = parts_member(into, "repetitions");
	json_t *rows = json_copy((json_t *)mine), *row;
	size_t i;

	json_array_foreach(parts_member(from, "repetitions"), i, row)
	{
		if (!rows || has_pass(mine, json_string_value(json_object_get(row, "pass"))))
			continue;
		if (json_array_append_new(rows, json_deep_copy(row)) < 0) {
			json_decref(rows);
			return NULL;
		}
	}
	return rows;
}

static int join_source(json_t *list, const json_t *source)
{
	const char *name = json_string_value(json_object_get(source, "name"));
	json_t *old = name ? parts_source(list, name) : NULL;

	/* Used in both: its rows are those of into. */
	if (!name || !json_is_true(json_object_get(source, "used")) ||
	    json_is_true(json_object_get(old, "used")))
		return 0;
	if (!old)
		return json_array_append_new(list, json_deep_copy(source)) < 0 ? -ENOMEM : 0;
	json_object_clear(old);
	return json_object_update(old, (json_t *)source) < 0 ? -ENOMEM : 0;
}

/* Sources that only from used are described as there. */
static int join_sources(json_t *to, const json_t *from)
{
	json_t *source;
	size_t i;
	int r = 0;

	if (!json_is_array(json_object_get(to, "sources")))
		r = parts_put(to, "sources", json_array());
	json_array_foreach(json_object_get(from, "sources"), i, source) if (r >= 0)
		r = join_source(json_object_get(to, "sources"), source);
	return r;
}

static int add_counted_on(json_t *to, const json_t *from)
{
	static const char *const keys[] = { "kernel", "kernel_version", "debug_locks" };
	json_t *object = json_object();

	for (size_t i = 0; object && i < ARRAY_SIZE(keys); i++) {
		json_t *value = json_object_get(from, keys[i]);

		if (value && json_object_set(object, keys[i], value) < 0) {
			json_decref(object);
			return -ENOMEM;
		}
	}
	return parts_put(to, "counted_on", object);
}

static int join(struct parts *p, struct result *into, const struct result *from)
{
	const json_t *theirs = parts_member(from, "provenance");
	int r = parts_copy(p, into);

	if (r < 0)
		return r;
	p->rows = other_passes(into, from);
	if (!p->rows ||
	    json_object_update_missing(p->denominators, parts_member(from, "denominators")) < 0)
		return -ENOMEM;
	r = parts_join_fidelity(p->fidelity, parts_member(from, "fidelity"));
	if (r >= 0)
		r = join_sources(p->provenance, theirs);
	if (r >= 0)
		r = parts_join_settings(p->provenance, theirs);
	if (r >= 0)
		r = add_counted_on(p->provenance, theirs);
	return r < 0 ? r : parts_replace(into, from, p);
}

int result_join_passes(struct result *into, const struct result *from)
{
	struct parts p = { 0 };
	int r = parts_check_same(into, from, 0, compat_check_builds);

	if (r < 0)
		return r;
	r = join(&p, into, from);
	if (r < 0)
		log_error("%s: %s", result_path(from), strerror(-r));
	parts_clear(&p);
	return r;
}
