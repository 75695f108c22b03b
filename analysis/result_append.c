/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Joining results of boots of one kernel. Everything is made beside the result
 * and put into it at the end, so that an error leaves it as it was.
 */

#include <limits.h>
#include <math.h>
#include <string.h>

#include "analysis/compat.h"
#include "analysis/result_tree.h"
#include "common/cleanup.h"
#include "common/log.h"

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

static json_t *member(const struct result *r, const char *key)
{
	return json_object_get(r->tree, key);
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

	json_array_foreach(member(r, "repetitions"), i, row)
		next = boot_of(row) >= next ? boot_of(row) + 1 : next;
	return (unsigned)next;
}

static json_t *number(double value)
{
	return value == floor(value) && fabs(value) <= 9e15 ? json_integer((json_int_t)value)
	                                                    : json_real(value);
}

static int put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) < 0 ? -ENOMEM : 0;
}

/* The rows of both; NULL without memory. */
static json_t *join_rows(const struct result *into, const struct result *from, unsigned boot)
{
	_cleanup_(cleanup_json) json_t *added = json_deep_copy(member(from, "repetitions"));
	json_t *rows = json_copy(member(into, "repetitions")), *row;
	size_t i;

	json_array_foreach(
		added, i, row) if (put(row, "boot", json_integer((json_int_t)boot + boot_of(row))) <
	                           0) goto failed;
	if (added && rows && json_array_extend(rows, added) >= 0)
		return rows;
failed:
	json_decref(rows);
	return NULL;
}

/* Means of the boots; what only one has is kept. */
static json_t *join_denominators(const struct result *into, const struct result *from)
{
	double have = fmax(1, result_next_boot(into)), more = fmax(1, result_next_boot(from));
	json_t *joined = json_deep_copy(member(into, "denominators")), *value;
	const char *key;

	json_object_foreach(member(from, "denominators"), key, value)
	{
		const json_t *mine = json_object_get(joined, key);
		double x = json_number_value(mine), y = json_number_value(value);

		if (mine && x == y)
			continue;
		if (put(joined, key, number(mine ? (x * have + y * more) / (have + more) : y)) <
		    0) {
			json_decref(joined);
			return NULL;
		}
	}
	return joined;
}

/* The worse of both: larger numbers, what is true, the first list that holds anything. */
static int join_fidelity(json_t *to, const json_t *from)
{
	const char *key;
	json_t *value;
	int r = 0;

	json_object_foreach((json_t *)from, key, value)
	{
		json_t *mine = json_object_get(to, key);
		bool worse = !mine || (json_is_true(value) && json_is_false(mine)) ||
		             (json_array_size(value) && !json_array_size(mine)) ||
		             (json_is_number(mine) &&
		              json_number_value(value) > json_number_value(mine));

		if (json_is_object(mine) && json_is_object(value))
			r = strcmp(key, "plan") ? join_fidelity(mine, value) : 0;
		else if (worse)
			r = put(to, key, json_deep_copy(value));
		if (r < 0)
			return r;
	}
	return 0;
}

static json_t *source_named(const json_t *sources, const char *name)
{
	json_t *source;
	size_t i;

	json_array_foreach((json_t *)sources, i, source)
	{
		const char *other = json_string_value(json_object_get(source, "name"));

		if (other && !strcmp(other, name))
			return source;
	}
	return NULL;
}

static int join_sources(json_t *to, const json_t *from)
{
	json_t *source;
	size_t i;

	json_array_foreach((json_t *)from, i, source)
	{
		const char *name = json_string_value(json_object_get(source, "name"));
		json_t *mine = name ? source_named(to, name) : NULL;
		double dropped = json_number_value(json_object_get(source, "dropped"));

		if (mine && dropped > 0 &&
		    put(mine, "dropped",
		        number(dropped + json_number_value(json_object_get(mine, "dropped")))) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* A setting that changed while the other boot ran must not be forgotten. */
static int join_settings(json_t *to, const json_t *from)
{
	const json_t *before = json_object_get(from, "settings_before");
	json_t *after = json_object_get(to, "settings_after"), *value;
	const char *key;

	json_object_foreach(json_object_get(from, "settings_after"), key, value)
	{
		const json_t *was = json_object_get(before, key);

		if (!json_is_object(after) || !was || !compat_is_setting(key) ||
		    reasons_same_value(was, value, 0))
			continue;
		if (json_object_set(after, key, value) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int check_room(const struct result *into, const struct result *from, unsigned boot)
{
	size_t rows = json_array_size(member(into, "repetitions")) +
	              json_array_size(member(from, "repetitions"));

	if (rows <= RESULT_MAX_ROWS && boot <= INT_MAX - result_next_boot(from))
		return 0;
	log_error("%s and %s: together they would be too large: at most %u rows in a result",
	          result_path(into), result_path(from), RESULT_MAX_ROWS);
	return -EINVAL;
}

static int check_same(const struct result *into, const struct result *from)
{
	struct reasons reasons = { 0 };
	int r = compat_check_boots(into, from, &reasons);

	if (r == 0 && reasons.count) {
		log_error("%s and %s cannot be joined: %s", result_path(into), result_path(from),
		          reasons.texts[0]);
		r = -EINVAL;
	} else if (r < 0) {
		log_error("%s: %s", result_path(from), strerror(-r));
	}
	reasons_clear(&reasons);
	return r;
}

static int join(struct result *into, const struct result *from, unsigned boot)
{
	_cleanup_(cleanup_json) json_t *rows = join_rows(into, from, boot);
	_cleanup_(cleanup_json) json_t *denominators = join_denominators(into, from);
	_cleanup_(cleanup_json) json_t *fidelity = json_deep_copy(member(into, "fidelity"));
	_cleanup_(cleanup_json) json_t *provenance = json_deep_copy(member(into, "provenance"));
	const json_t *theirs = member(from, "provenance");
	int r;

	if (!rows || !denominators || !fidelity || !provenance)
		return -ENOMEM;
	r = join_fidelity(fidelity, member(from, "fidelity"));
	if (r >= 0)
		r = join_sources(json_object_get(provenance, "sources"),
		                 json_object_get(theirs, "sources"));
	if (r >= 0)
		r = join_settings(provenance, theirs);
	if (r < 0 || json_object_update_missing(member(into, "units"), member(from, "units")) ||
	    json_object_update_missing(member(into, "better"), member(from, "better")) ||
	    json_object_set(into->tree, "repetitions", rows) < 0 ||
	    json_object_set(into->tree, "denominators", denominators) < 0 ||
	    json_object_set(into->tree, "fidelity", fidelity) < 0 ||
	    json_object_set(into->tree, "provenance", provenance) < 0)
		return -ENOMEM;
	into->row = NULL;
	return 0;
}

int result_append(struct result *into, const struct result *from, unsigned boot)
{
	int r = check_same(into, from);

	if (r >= 0)
		r = check_room(into, from, boot);
	if (r < 0)
		return r;
	r = join(into, from, boot);
	if (r < 0)
		log_error("%s: %s", result_path(from), strerror(-r));
	return r;
}
