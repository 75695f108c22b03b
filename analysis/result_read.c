/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The result file: reading. A file may come from anyone: its size, depth and
 * every part are checked here, so that nobody behind has to.
 */

#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "analysis/result.h"
#include "analysis/result_tree.h"
#include "common/cleanup.h"
#include "common/json_out.h"
#include "common/log.h"

static void cleanup_json(json_t **j)
{
	json_decref(*j);
}

/* Reads at most RESULT_MAX_BYTES. -EFBIG beyond. */
static int read_bounded(const char *path, char **out, size_t *size)
{
	bool standard = !strcmp(path, "-");
	_cleanup_close_ int own = standard ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	_cleanup_free_ char *text = NULL;
	size_t used = 0, room = 0;
	ssize_t n = 1;

	if (own < 0 && !standard)
		return error_errno();
	while (n > 0) {
		if (used == room) {
			char *more;

			room = room ? room * 2 : 65536;
			more = realloc(text, room);
			if (!more)
				return -ENOMEM;
			text = more;
		}
		n = read(standard ? STDIN_FILENO : own, text + used, room - used);
		if (n < 0)
			return error_errno();
		used += (size_t)n;
		if (used > RESULT_MAX_BYTES)
			return -EFBIG;
	}
	*out = take_ptr(text);
	*size = used;
	return 0;
}

/* Where in a file something is wrong, for the one line. */
struct fault {
	char text[300];
};

static int _printf_(2, 3) fault(struct fault *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->text, sizeof(f->text), fmt, ap);
	va_end(ap);
	/* Names in it come from the file. */
	for (char *p = f->text; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			*p = '?';
	return -EBADMSG;
}

static bool name_fits(const char *name)
{
	return name && *name && strlen(name) <= RESULT_MAX_NAME;
}

static int check_numbers(struct fault *f, const char *what, const json_t *object)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		return fault(f, "'%s' is not an object", what);
	if (json_object_size(object) > RESULT_MAX_METRICS)
		return fault(f, "'%s' has more than %u members", what, RESULT_MAX_METRICS);
	json_object_foreach((json_t *)object, name, value)
	{
		if (!name_fits(name))
			return fault(f, "'%s' has a name that is empty or too long", what);
		if (!json_is_number(value) || !(fabs(json_number_value(value)) <= RESULT_MAX_VALUE))
			return fault(f, "'%s' in '%s' is not a number up to 1e100", name, what);
	}
	return 0;
}

static int check_names(struct fault *f, const json_t *tree)
{
	const json_t *primary = json_object_get(tree, "primary"), *item;
	const char *name;
	size_t i;

	if (!json_is_array(primary) || json_array_size(primary) > RESULT_MAX_PRIMARY)
		return fault(f, "'primary' is not a list of at most %u metrics",
		             RESULT_MAX_PRIMARY);
	json_array_foreach(primary, i, item) if (!name_fits(json_string_value(item))) return fault(
		f, "'primary' holds something that is not a name");
	if (!json_is_object(json_object_get(tree, "units")) ||
	    !json_is_object(json_object_get(tree, "better")))
		return fault(f, "'units' or 'better' is not an object");
	json_object_foreach(json_object_get(tree, "units"), name, item) if (
		!json_is_string(item) ||
		json_string_length(item) >
			RESULT_MAX_NAME) return fault(f, "the unit of '%s' is not a short text",
	                                              name);
	json_object_foreach(
		json_object_get(tree, "better"), name,
		item) if (!json_is_string(item) ||
	                  result_better_parse(json_string_value(item)) <
	                          0) return fault(f,
	                                          "'better' of '%s' is not one of less, more, none",
	                                          name);
	return 0;
}

static bool is_index(const json_t *j)
{
	return json_is_integer(j) && json_integer_value(j) >= 0 && json_integer_value(j) <= INT_MAX;
}

/* An order is there only where sizes were swept. */
static bool is_order(const json_t *j)
{
	return !j || (is_index(j) && json_integer_value(j) <= RESULT_MAX_ORDER);
}

static int check_keys(struct fault *f, json_t *names)
{
	const char *name;
	json_t *orders;
	size_t keys = 0;

	json_object_foreach(names, name, orders)
		keys += (size_t)__builtin_popcountll((uint64_t)json_integer_value(orders));
	if (keys > RESULT_MAX_KEYS)
		return fault(f, "it has more than %u metrics, each order counted", RESULT_MAX_KEYS);
	return 0;
}

static int check_rows(struct fault *f, const json_t *tree)
{
	const json_t *rows = json_object_get(tree, "repetitions"), *row;
	_cleanup_(cleanup_json) json_t *names = json_object();
	size_t i;

	if (!json_is_array(rows) || json_array_size(rows) > RESULT_MAX_ROWS)
		return fault(f, "'repetitions' is not a list of at most %u rows", RESULT_MAX_ROWS);
	json_array_foreach(rows, i, row)
	{
		struct fault inner;

		if (!is_index(json_object_get(row, "boot")) ||
		    !is_index(json_object_get(row, "round")) ||
		    !name_fits(json_string_value(json_object_get(row, "pass"))))
			return fault(f, "row %zu lacks a boot, round or pass", i);
		if (!is_order(json_object_get(row, "order")))
			return fault(f, "row %zu: its order is not a number from 0 to %u", i,
			             RESULT_MAX_ORDER);
		if (check_numbers(&inner, "metrics", json_object_get(row, "metrics")) < 0)
			return fault(f, "row %zu: %.200s", i, inner.text);
		if (result_row_names(row, names) < 0)
			return -ENOMEM;
		if (json_object_size(names) > RESULT_MAX_METRICS)
			return fault(f, "it has more than %u metrics", RESULT_MAX_METRICS);
	}
	return check_keys(f, names);
}

static int check_tree(struct fault *f, const json_t *tree)
{
	static const char *const objects[] = { "provenance", "fidelity" };
	int r;

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		if (!json_is_object(json_object_get(tree, objects[i])))
			return fault(f, "'%s' is not an object", objects[i]);
	r = check_names(f, tree);
	if (r >= 0)
		r = check_numbers(f, "denominators", json_object_get(tree, "denominators"));
	return r < 0 ? r : check_rows(f, tree);
}

static int check_version(const char *path, const json_t *tree)
{
	const char *schema = json_string_value(json_object_get(tree, "schema"));
	const json_t *version = json_object_get(tree, "version");

	if (!schema || strcmp(schema, RESULT_SCHEMA)) {
		log_error("%s: not a result of mmtape (no \"schema\": \"%s\")", path,
		          RESULT_SCHEMA);
		return -EBADMSG;
	}
	if (!json_is_integer(version) || json_integer_value(version) < 1) {
		log_error("%s: its version is not a number: make the result again", path);
		return -EBADMSG;
	}
	if (json_integer_value(version) > RESULT_VERSION) {
		log_error("%s: a result of version %lld, newer than this program's %d: use a newer "
		          "mmtape",
		          path, (long long)json_integer_value(version), RESULT_VERSION);
		return -EPROTONOSUPPORT;
	}
	return 0;
}

static int parse(json_t **out, const char *path, const char *text, size_t size)
{
	json_error_t e;

	*out = json_loadb(text, size, JSON_REJECT_DUPLICATES, &e);
	if (*out)
		return 0;
	switch (json_error_code(&e)) {
	case json_error_out_of_memory:
		log_error("%s: %s", path, strerror(ENOMEM));
		return -ENOMEM;
	case json_error_premature_end_of_input:
		log_error("%s: cut short at byte %zu: make the result again", path, size);
		return -EBADMSG;
	case json_error_numeric_overflow:
		log_error("%s: byte %d: a number too large", path, e.position);
		return -EBADMSG;
	default:
		log_error("%s: byte %d: not a result of mmtape (not JSON)", path, e.position);
		return -EBADMSG;
	}
}

int result_parse(struct result **out, const char *text, size_t size, const char *name)
{
	_cleanup_(cleanup_json) json_t *tree = NULL;
	struct fault f;
	int r;

	r = parse(&tree, name, text, size);
	if (r >= 0)
		r = check_version(name, tree);
	if (r < 0)
		return r;
	r = check_tree(&f, tree);
	if (r < 0) {
		if (r == -ENOMEM)
			fault(&f, "%s", strerror(ENOMEM));
		log_error("%s: a damaged result: %s", name, f.text);
		return r;
	}
	r = result_wrap(out, tree);
	if (r < 0)
		return r;
	take_ptr(tree);
	(*out)->path = strdup(name);
	if ((*out)->path)
		return 0;
	*out = result_free(*out);
	return -ENOMEM;
}

int result_read(struct result **out, const char *path)
{
	_cleanup_free_ char *text = NULL;
	size_t size = 0;
	int r;

	r = read_bounded(path, &text, &size);
	if (r == -EFBIG)
		log_error("%s: more than %u MiB: not a result of mmtape", path,
		          RESULT_MAX_BYTES >> 20);
	else if (r < 0)
		log_error("%s: cannot read it: %s", path, strerror(-r));
	if (r < 0)
		return r == -EFBIG ? -EBADMSG : r;
	return result_parse(out, text, size, path);
}
