/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result file: building and writing. */

#include <math.h>
#include <string.h>

#include "analysis/metrics.h"
#include "analysis/result.h"
#include "analysis/result_tree.h"
#include "common/cleanup.h"
#include "common/json_out.h"
#include "common/log.h"
#include "common/output_file.h"

/* Whole numbers up to here are exact in a double and are written as such. */
#define EXACT_MAX 9007199254740992.0

static const char *const better_names[] = {
	[BETTER_NONE] = "none",
	[BETTER_LESS] = "less",
	[BETTER_MORE] = "more",
};

int result_better_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(better_names); i++)
		if (!strcmp(name, better_names[i]))
			return (int)i;
	return -EINVAL;
}

int result_wrap(struct result **out, json_t *tree)
{
	struct result *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	r->tree = tree;
	*out = r;
	return 0;
}

int result_new(struct result **out)
{
	json_t *tree;
	int r;

	tree = json_pack("{s:s, s:i, s:{}, s:[], s:{}, s:{}, s:{}, s:{}, s:[]}", "schema",
	                 RESULT_SCHEMA, "version", RESULT_VERSION, "provenance", "primary", "units",
	                 "better", "denominators", "fidelity", "repetitions");
	if (!tree)
		return -ENOMEM;
	r = result_wrap(out, tree);
	if (r < 0)
		json_decref(tree);
	return r;
}

struct result *result_free(struct result *r)
{
	if (r) {
		json_decref(r->tree);
		free(r->path);
		free(r);
	}
	return NULL;
}

json_t *result_provenance(struct result *r)
{
	return json_object_get(r->tree, "provenance");
}

const json_t *result_source(struct result *r, const char *name)
{
	json_t *source;
	size_t i;

	json_array_foreach(json_object_get(result_provenance(r), "sources"), i, source)
	{
		const char *its = json_string_value(json_object_get(source, "name"));

		if (its && !strcmp(its, name))
			return source;
	}
	return NULL;
}

json_t *result_fidelity(struct result *r)
{
	return json_object_get(r->tree, "fidelity");
}

json_t *result_denominators(struct result *r)
{
	return json_object_get(r->tree, "denominators");
}

/* A JSON string of any bytes: what is not UTF-8 becomes U+FFFD. NULL without memory. */
static json_t *safe_string(const char *text)
{
	_cleanup_free_ char *clean = malloc(strlen(text) * 3 + 1);
	char *to = clean;
	uint32_t code;

	if (!clean)
		return NULL;
	while (*text) {
		unsigned length = utf8_decode(text, &code);

		memcpy(to, length ? text : "\xef\xbf\xbd", length ? length : 3);
		to += length ? length : 3;
		text += length ? length : 1;
	}
	*to = '\0';
	return json_string(clean);
}

json_t *result_pairs(int (*next)(const void *from, size_t i, const char **key, const char **value),
                     const void *from)
{
	json_t *object = json_object();
	const char *key, *value;

	for (size_t i = 0; object && next(from, i, &key, &value) > 0; i++) {
		json_t *name = safe_string(key);

		if (!name ||
		    json_object_set_new(object, json_string_value(name), safe_string(value)) < 0) {
			json_decref(object);
			object = NULL;
		}
		json_decref(name);
	}
	return object;
}

int result_metric(struct result *r, const char *name, const char *unit, enum result_better better,
                  bool primary)
{
	json_t *list = json_object_get(r->tree, "primary");

	if (strlen(name) > RESULT_MAX_NAME || strlen(unit) > RESULT_MAX_NAME)
		return -E2BIG;
	if (primary && !result_is_primary(r, name)) {
		if (json_array_size(list) >= RESULT_MAX_PRIMARY)
			return -E2BIG;
		if (json_array_append_new(list, json_string(name)) < 0)
			return -ENOMEM;
	}
	if (json_object_set_new(json_object_get(r->tree, "units"), name, json_string(unit)) < 0 ||
	    json_object_set_new(json_object_get(r->tree, "better"), name,
	                        json_string(better_names[better])) < 0)
		return -ENOMEM;
	return 0;
}

int result_row(struct result *r, unsigned boot, unsigned round, const char *pass)
{
	json_t *row;

	row = json_pack("{s:I, s:I, s:s, s:{}}", "boot", (json_int_t)boot, "round",
	                (json_int_t)round, "pass", pass, "metrics");
	if (!row || json_array_append_new(json_object_get(r->tree, "repetitions"), row) < 0)
		return -ENOMEM;
	r->row = json_object_get(row, "metrics");
	return 0;
}

int result_row_order(struct result *r, unsigned order)
{
	const json_t *rows = json_object_get(r->tree, "repetitions");
	json_t *row = json_array_get(rows, json_array_size(rows) - 1);

	if (!r->row || order > RESULT_MAX_ORDER)
		return -EINVAL;
	return json_object_set_new(row, "order", json_integer((json_int_t)order)) < 0 ? -ENOMEM : 0;
}

int result_row_names(const json_t *row, json_t *names)
{
	const json_t *order = json_object_get(row, "order");
	json_int_t bit = RESULT_ORDER_BIT(order ? json_integer_value(order) : RESULT_NO_ORDER);
	const char *name;
	json_t *unused;

	json_object_foreach(json_object_get(row, "metrics"), name, unused)
	{
		json_t *seen = json_object_get(names, name);

		if (seen)
			json_integer_set(seen, json_integer_value(seen) | bit);
		else if (json_object_set_new(names, name, json_integer(bit)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int declare_known(struct result *r, const char *name)
{
	const struct metric_row *row = metric_find(name);
	int e;

	if (!row)
		return result_metric(r, name, "", BETTER_NONE, false);
	e = result_metric(r, name, row->unit, row->better, row->primary);
	/* The eleventh primary one is exploratory. */
	return e == -E2BIG && row->primary ? result_metric(r, name, row->unit, row->better, false)
	                                   : e;
}

int result_value(struct result *r, const char *name, double value)
{
	json_t *number;

	if (!r->row || !(fabs(value) <= RESULT_MAX_VALUE))
		return -EINVAL;
	if (!json_object_get(json_object_get(r->tree, "units"), name)) {
		int e = declare_known(r, name);

		if (e < 0)
			return e;
	}
	number = value == floor(value) && fabs(value) <= EXACT_MAX ? json_integer((json_int_t)value)
	                                                           : json_real(value);
	return json_object_set_new(r->row, name, number) < 0 ? -ENOMEM : 0;
}

static int write_stream(const struct result *r, FILE *f)
{
	errno = 0;
	if (json_dumpf(r->tree, f, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) < 0 ||
	    fputc('\n', f) == EOF || fflush(f) == EOF)
		return error_errno();
	return 0;
}

static int write_path(const struct result *r, const char *path, bool force)
{
	_cleanup_fclose_ FILE *f = NULL;
	int fd, e;

	fd = output_file_open(path, force);
	if (fd < 0)
		return fd;
	f = fdopen(fd, "w");
	if (!f) {
		e = error_errno();
		close(fd);
	} else {
		e = write_stream(r, f);
	}
	if (e == 0 && fsync(fd) < 0 && errno != EINVAL && errno != EROFS)
		e = error_errno();
	if (e < 0) {
		unlink(path);
		output_file_say(path, e);
	}
	return e;
}

int result_write(const struct result *r, const char *path, bool force)
{
	int e;

	if (strcmp(path, "-"))
		return write_path(r, path, force);
	e = write_stream(r, stdout);
	if (e < 0)
		log_error("standard output: cannot write the result: %s", strerror(-e));
	return e;
}

const char *result_path(const struct result *r)
{
	return r->path ? r->path : "this result";
}

const json_t *result_json(const struct result *r)
{
	return r->tree;
}

const char *result_unit(const struct result *r, const char *name)
{
	const char *unit =
		json_string_value(json_object_get(json_object_get(r->tree, "units"), name));

	return unit ? unit : "";
}

enum result_better result_direction(const struct result *r, const char *name)
{
	const char *better =
		json_string_value(json_object_get(json_object_get(r->tree, "better"), name));
	int parsed = better ? result_better_parse(better) : -EINVAL;

	return parsed < 0 ? BETTER_NONE : (enum result_better)parsed;
}

bool result_is_primary(const struct result *r, const char *name)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(r->tree, "primary"), i,
	                   item) if (!strcmp(json_string_value(item), name)) return true;
	return false;
}
