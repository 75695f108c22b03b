/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of results that are joined. */

#include <limits.h>
#include <math.h>
#include <string.h>

#include "analysis/result_parts.h"
#include "common/cleanup.h"
#include "common/log.h"

json_t *parts_member(const struct result *r, const char *key)
{
	return json_object_get(r->tree, key);
}

json_t *parts_number(double value)
{
	return value == floor(value) && fabs(value) <= 9e15 ? json_integer((json_int_t)value)
	                                                    : json_real(value);
}

int parts_put(json_t *object, const char *key, json_t *value)
{
	return json_object_set_new(object, key, value) < 0 ? -ENOMEM : 0;
}

int parts_join_fidelity(json_t *to, const json_t *from)
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
			r = strcmp(key, "plan") ? parts_join_fidelity(mine, value) : 0;
		else if (worse)
			r = parts_put(to, key, json_deep_copy(value));
		if (r < 0)
			return r;
	}
	return 0;
}

int parts_join_settings(json_t *to, const json_t *from)
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

json_t *parts_source(const json_t *sources, const char *name)
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

static int check_room(const struct result *into, const struct result *from, unsigned boot)
{
	size_t rows = json_array_size(parts_member(into, "repetitions")) +
	              json_array_size(parts_member(from, "repetitions"));

	if (rows <= RESULT_MAX_ROWS && boot <= INT_MAX - result_next_boot(from))
		return 0;
	log_error("%s and %s: together they would be too large: at most %u rows in a result",
	          result_path(into), result_path(from), RESULT_MAX_ROWS);
	return -EINVAL;
}

int parts_check_same(const struct result *into, const struct result *from, unsigned boot,
                     parts_check *check)
{
	struct reasons reasons = { 0 };
	int r = check(into, from, &reasons);

	if (r == 0 && reasons.count) {
		log_error("%s and %s cannot be joined: %s", result_path(into), result_path(from),
		          reasons.texts[0]);
		r = -EINVAL;
	} else if (r < 0) {
		log_error("%s: %s", result_path(from), strerror(-r));
	}
	reasons_clear(&reasons);
	return r < 0 ? r : check_room(into, from, boot);
}

int parts_copy(struct parts *p, const struct result *into)
{
	p->denominators = json_deep_copy(parts_member(into, "denominators"));
	p->fidelity = json_deep_copy(parts_member(into, "fidelity"));
	p->provenance = json_deep_copy(parts_member(into, "provenance"));
	return p->denominators && p->fidelity && p->provenance ? 0 : -ENOMEM;
}

int parts_replace(struct result *into, const struct result *from, const struct parts *p)
{
	if (json_object_update_missing(parts_member(into, "units"), parts_member(from, "units")) <
	            0 ||
	    json_object_update_missing(parts_member(into, "better"), parts_member(from, "better")) <
	            0 ||
	    json_object_set(into->tree, "repetitions", p->rows) < 0 ||
	    json_object_set(into->tree, "denominators", p->denominators) < 0 ||
	    json_object_set(into->tree, "fidelity", p->fidelity) < 0 ||
	    json_object_set(into->tree, "provenance", p->provenance) < 0)
		return -ENOMEM;
	into->row = NULL;
	return 0;
}

void parts_clear(struct parts *p)
{
	json_decref(p->rows);
	json_decref(p->denominators);
	json_decref(p->fidelity);
	json_decref(p->provenance);
	*p = (struct parts){ 0 };
}
