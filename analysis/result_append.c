/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joining results of boots of one kernel. Everything is made beside the result
 * and put into it at the end, so that an error leaves it as it was.
 */

#include <math.h>
#include <string.h>

#include "analysis/result_parts.h"
#include "common/cleanup.h"
#include "common/log.h"

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

static json_int_t boot_of(const json_t *row)
{
	return json_integer_value(json_object_get(row, "boot"));
}

unsigned result_next_boot(const struct result *r)
{
	json_int_t next = 0;
	const json_t *row;
	size_t i;

	json_array_foreach(parts_member(r, "repetitions"), i, row)
		next = boot_of(row) >= next ? boot_of(row) + 1 : next;
	return (unsigned)next;
}

/* The rows of both; NULL without memory. */
static json_t *join_rows(const struct result *into, const struct result *from, unsigned boot)
{
	_cleanup_(cleanup_json) json_t *added = json_deep_copy(parts_member(from, "repetitions"));
	json_t *rows = json_copy(parts_member(into, "repetitions")), *row;
	size_t i;

	json_array_foreach(
		added, i,
		row) if (parts_put(row, "boot", json_integer((json_int_t)boot + boot_of(row))) <
	                 0) goto failed;
	if (added && rows && json_array_extend(rows, added) >= 0)
		return rows;
failed:
	json_decref(rows);
	return NULL;
}

/* Means of the boots; what only one has is kept. */
static int join_denominators(json_t *to, const struct result *into, const struct result *from)
{
	double have = fmax(1, result_next_boot(into)), more = fmax(1, result_next_boot(from));
	const char *key;
	json_t *value;

	json_object_foreach(parts_member(from, "denominators"), key, value)
	{
		const json_t *mine = json_object_get(to, key);
		double x = json_number_value(mine), y = json_number_value(value);

		if (mine && x == y)
			continue;
		if (parts_put(to, key,
		              parts_number(mine ? (x * have + y * more) / (have + more) : y)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int join_sources(json_t *to, const json_t *from)
{
	json_t *source;
	size_t i;

	json_array_foreach((json_t *)from, i, source)
	{
		const char *name = json_string_value(json_object_get(source, "name"));
		json_t *mine = name ? parts_source(to, name) : NULL;
		double dropped = json_number_value(json_object_get(source, "dropped"));

		if (mine && dropped > 0 &&
		    parts_put(mine, "dropped",
		              parts_number(dropped + json_number_value(json_object_get(
							     mine, "dropped")))) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int join(struct parts *p, struct result *into, const struct result *from, unsigned boot)
{
	const json_t *theirs = parts_member(from, "provenance");
	int r = parts_copy(p, into);

	if (r < 0)
		return r;
	p->rows = join_rows(into, from, boot);
	if (!p->rows)
		return -ENOMEM;
	r = join_denominators(p->denominators, into, from);
	if (r >= 0)
		r = parts_join_fidelity(p->fidelity, parts_member(from, "fidelity"));
	if (r >= 0)
		r = join_sources(json_object_get(p->provenance, "sources"),
		                 json_object_get(theirs, "sources"));
	if (r >= 0)
		r = parts_join_settings(p->provenance, theirs);
	return r < 0 ? r : parts_replace(into, from, p);
}

int result_append(struct result *into, const struct result *from, unsigned boot)
{
	struct parts p = { 0 };
	int r = parts_check_same(into, from, boot, compat_check_boots);

	if (r < 0)
		return r;
	r = join(&p, into, from, boot);
	if (r < 0)
		log_error("%s: %s", result_path(from), strerror(-r));
	parts_clear(&p);
	return r;
}
