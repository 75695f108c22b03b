/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One side of a comparison. */

#include <string.h>

#include "analysis/side.h"
#include "common/cleanup.h"
#include "common/log.h"

/* Passes that are looked for on the other side: a file may name as many as it has rows. */
#define PASS_LOOKS 16

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

void sample_clear(struct sample *s)
{
	free(s->values);
	*s = (struct sample){ 0 };
}

static const json_t *value_in(const struct side_row *row, const struct metric_key *key)
{
	return row->order == key->order ? json_object_get(row->metrics, key->name) : NULL;
}

static bool pass_has(const struct side *side, const char *pass, const struct metric_key *key)
{
	for (size_t i = 0; i < side->row_count; i++)
		if (!strcmp(side->rows[i].pass, pass) && value_in(&side->rows[i], key))
			return true;
	return false;
}

const char *side_pass(const struct side *side, const struct side *other,
                      const struct metric_key *key)
{
	const char *first = NULL, *last = NULL;
	unsigned looks = 0;

	if (pass_has(side, RESULT_PASS_TIME, key))
		return RESULT_PASS_TIME;
	for (size_t i = 0; i < side->row_count && looks < PASS_LOOKS; i++) {
		const char *pass = side->rows[i].pass;

		/* Rows of a pass mostly follow each other: one look at the other side for all. */
		if (!value_in(&side->rows[i], key) || (last && !strcmp(last, pass)))
			continue;
		if (pass_has(other, pass, key))
			return pass;
		looks++;
		first = first ? first : pass;
		last = pass;
	}
	return first;
}

struct boot_sum {
	double sum;
	size_t rows, have;
};

static void sample_boots(const struct side *side, const struct metric_key *key,
                         struct boot_sum *sums, struct sample *out)
{
	for (size_t i = 0; i < side->row_count; i++) {
		const struct side_row *row = &side->rows[i];
		const json_t *value = value_in(row, key);

		if (row->order != key->order || strcmp(row->pass, out->pass))
			continue;
		sums[row->boot].rows++;
		sums[row->boot].have += value != NULL;
		sums[row->boot].sum += json_number_value(value);
	}
	for (size_t i = 0; i < side->boots; i++) {
		out->wanted += sums[i].rows > 0;
		/* A boot where only some rounds have the metric is not like the others. */
		if (sums[i].have && sums[i].have == sums[i].rows)
			out->values[out->n++] = sums[i].sum / (double)sums[i].have;
	}
}

static void sample_rows(const struct side *side, const struct metric_key *key, struct sample *out)
{
	for (size_t i = 0; i < side->row_count; i++) {
		const struct side_row *row = &side->rows[i];
		const json_t *value = value_in(row, key);

		if (row->order != key->order || strcmp(row->pass, out->pass))
			continue;
		out->wanted++;
		if (value)
			out->values[out->n++] = json_number_value(value);
	}
}

/* Thousands of metrics are kept at once. */
static int shrink(struct sample *s)
{
	double *kept = realloc(s->values, (s->n + 1) * sizeof(*kept));

	if (!kept)
		return -ENOMEM;
	s->values = kept;
	return 0;
}

int side_sample(const struct side *side, const struct metric_key *key, const char *pass,
                bool by_boot, struct sample *out)
{
	_cleanup_free_ struct boot_sum *sums = NULL;

	*out = (struct sample){ .pass = pass };
	if (!pass)
		return 0;
	out->values = calloc(side->row_count, sizeof(*out->values));
	if (!out->values)
		return -ENOMEM;
	if (by_boot) {
		sums = calloc(side->boots, sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		sample_boots(side, key, sums, out);
	} else {
		sample_rows(side, key, out);
	}
	out->stats = stats_of(out->values, out->n);
	return shrink(out);
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
