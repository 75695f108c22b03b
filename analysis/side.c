/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison. */

#include <string.h>

#include "analysis/side.h"
#include "common/cleanup.h"
#include "common/log.h"

static json_t *rows_of(const struct result *r)
{
	return json_object_get(result_json(r), "repetitions");
}

static int append_label(char **label, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	size_t len = strlen(name);
	char *joined;

	if (len > 5 && !strcmp(name + len - 5, ".json"))
		len -= 5;
	if (asprintf(&joined, "%s%s%.*s", *label ? *label : "", *label ? "+" : "", (int)len, name) <
	    0)
		return -ENOMEM;
	free(*label);
	*label = joined;
	return 0;
}

static int check_distinct(const struct side *side)
{
	const struct result *last = side->results[side->count - 1];

	for (size_t i = 0; i + 1 < side->count; i++) {
		if (!json_equal(rows_of(side->results[i]), rows_of(last)))
			continue;
		log_error("%s and %s hold the same runs: counting them twice would prove nothing",
		          side->paths[i], side->paths[side->count - 1]);
		return -EINVAL;
	}
	return 0;
}

static int compare_numbers(const void *a, const void *b)
{
	json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;

	return (x > y) - (x < y);
}

/* The file's rows, its boots numbered on from those of the files before. */
static int add_rows(struct side *side, const struct result *r)
{
	const json_t *rows = rows_of(r), *row;
	size_t n = json_array_size(rows), i, distinct = 0;
	_cleanup_free_ json_int_t *boots = calloc(n + 1, sizeof(*boots));
	struct side_row *all = realloc(side->rows, (side->row_count + n + 1) * sizeof(*all));

	if (all)
		side->rows = all;
	if (!all || !boots)
		return -ENOMEM;
	json_array_foreach((json_t *)rows, i, row)
		boots[i] = json_integer_value(json_object_get(row, "boot"));
	qsort(boots, n, sizeof(*boots), compare_numbers);
	for (i = 0; i < n; i++)
		if (i == 0 || boots[i] != boots[i - 1])
			boots[distinct++] = boots[i];
	json_array_foreach((json_t *)rows, i, row)
	{
		json_int_t boot = json_integer_value(json_object_get(row, "boot"));
		const json_t *order = json_object_get(row, "order");
		json_int_t *at = bsearch(&boot, boots, distinct, sizeof(*boots), compare_numbers);

		all[side->row_count++] = (struct side_row){
			.pass = json_string_value(json_object_get(row, "pass")),
			.metrics = json_object_get(row, "metrics"),
			.measures = side_measures(json_object_get(row, "metrics")),
			.boot = side->boots + (size_t)(at - boots),
			.order = order ? (int)json_integer_value(order) : RESULT_NO_ORDER,
		};
	}
	side->boots += distinct;
	return 0;
}

static int add_file(struct side *side, const char *path, size_t len)
{
	size_t n = side->count + 1;
	struct result **results = realloc(side->results, n * sizeof(*results));
	char **paths;
	int r;

	if (!results)
		return -ENOMEM;
	side->results = results;
	paths = realloc(side->paths, n * sizeof(*paths));
	if (!paths)
		return -ENOMEM;
	side->paths = paths;
	paths[n - 1] = strndup(path, len);
	if (!paths[n - 1])
		return -ENOMEM;
	results[n - 1] = NULL;
	side->count = n;
	r = result_read(&results[n - 1], paths[n - 1]);
	if (r >= 0)
		r = append_label(&side->label, paths[n - 1]);
	if (r >= 0)
		r = check_distinct(side);
	return r >= 0 ? add_rows(side, results[n - 1]) : r;
}

int side_read(struct side *out, const char *operand)
{
	*out = (struct side){ 0 };
	for (;;) {
		size_t len = strcspn(operand, ",");
		int r;

		if (len == 0) {
			log_error("'%s': a file name is missing beside a comma", operand);
			return -EINVAL;
		}
		r = add_file(out, operand, len);
		if (r < 0)
			return r;
		if (!operand[len])
			return 0;
		operand += len + 1;
	}
}

void side_clear(struct side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		result_free(side->results[i]);
		free(side->paths[i]);
	}
	free(side->results);
	free(side->paths);
	free(side->rows);
	free(side->label);
	*side = (struct side){ 0 };
}

const char *side_fact(const struct side *side, const char *key)
{
	const char *fact = NULL;

	if (side->count)
		fact = json_string_value(json_object_get(result_provenance(side->results[0]), key));
	return fact ? fact : "";
}

int side_names(const struct side *side, json_t *names)
{
	for (size_t i = 0; i < side->count; i++) {
		const json_t *row;
		size_t k;

		json_array_foreach(rows_of(side->results[i]), k, row)
		{
			int r = result_row_names(row, names);

			if (r < 0)
				return r;
		}
	}
	return 0;
}
