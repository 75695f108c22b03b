/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The values of one metric. A lock, or a part of one, that a row does not mention
 * while it has the same measure of other locks was not taken there: 0. Nobody
 * who writes a result can know what else there is on another kernel.
 */

#include <string.h>

#include "analysis/side.h"
#include "common/cleanup.h"

#define LOCKS "lock."
/* Passes that are looked for on the other side: a file may name as many as it has rows. */
#define PASS_LOOKS 16

/* In these nothing seen is 0; the last part of a name. */
static const char *const measures[] = {
	"acquisitions",
	"acquisitions_per_operation",
	"acquisitions_per_folio",
	"acquisitions_per_cut",
	"contentions",
	"wait",
	"hold",
	"share",
};

/* The bit of a lock's measure, or 0. */
static uint32_t measure_of(const char *name)
{
	const char *last = strrchr(name, '.');

	for (size_t i = 0; !strncmp(name, LOCKS, strlen(LOCKS)) && i < ARRAY_SIZE(measures); i++)
		if (!strcmp(last + 1, measures[i]))
			return UINT32_C(1) << i;
	return 0;
}

uint32_t side_measures(const json_t *metrics)
{
	uint32_t all = 0;
	const char *name;
	json_t *unused;

	json_object_foreach((json_t *)metrics, name, unused) all |= measure_of(name);
	return all;
}

void sample_clear(struct sample *s)
{
	free(s->values);
	*s = (struct sample){ 0 };
}

/* Where the values are sought. */
struct seeker {
	const struct side *side;
	const struct metric_key *key;
	const char *pass;
	uint32_t zero; /* measure whose presence in a row makes absence 0; or 0 */
};

static bool is_sought(const struct seeker *s, const struct side_row *row)
{
	return row->order == s->key->order && !strcmp(row->pass, s->pass);
}

static bool value_in(const struct seeker *s, const struct side_row *row, double *out)
{
	const json_t *value = json_object_get(row->metrics, s->key->name);

	*out = json_number_value(value);
	return value || (row->measures & s->zero);
}

/* The source of this pass says that it could not observe this role there. */
static bool is_unseen(const struct side *side, const char *pass, const char *name)
{
	const char *role = name + strlen(LOCKS);
	size_t len = strcspn(role, "."), k;

	for (size_t i = 0; i < side->count; i++) {
		const json_t *source = result_source(side->results[i], pass);
		json_t *unseen;

		json_array_foreach(json_object_get(source, "unseen"), k, unseen)
		{
			const char *text = json_string_value(unseen);

			if (text && strlen(text) == len && !strncmp(text, role, len))
				return true;
		}
	}
	return false;
}

static bool pass_has(const struct side *side, const char *pass, const struct metric_key *key)
{
	for (size_t i = 0; i < side->row_count; i++) {
		const struct side_row *row = &side->rows[i];

		if (row->order == key->order && !strcmp(row->pass, pass) &&
		    json_object_get(row->metrics, key->name))
			return true;
	}
	return false;
}

/* The timing pass, else the first where the other side has it too, else the first that has it. */
static const char *own_pass(const struct side *side, const struct side *other,
                            const struct metric_key *key)
{
	const char *first = NULL, *last = NULL;
	unsigned looks = 0;

	if (pass_has(side, RESULT_PASS_TIME, key))
		return RESULT_PASS_TIME;
	for (size_t i = 0; i < side->row_count && looks < PASS_LOOKS; i++) {
		const struct side_row *row = &side->rows[i];

		/* Rows of a pass mostly follow each other: one look at the other side for all. */
		if (row->order != key->order || (last && !strcmp(last, row->pass)) ||
		    !json_object_get(row->metrics, key->name))
			continue;
		if (pass_has(other, row->pass, key))
			return row->pass;
		looks++;
		first = first ? first : row->pass;
		last = row->pass;
	}
	return first;
}

/* A pass in which this side never saw the lock, but would have. */
static const char *empty_pass(const struct side *side, const char *pass,
                              const struct metric_key *key)
{
	uint32_t measure = measure_of(key->name);

	for (size_t i = 0; pass && i < side->row_count; i++) {
		const struct side_row *row = &side->rows[i];

		if (row->order == key->order && (row->measures & measure) &&
		    !strcmp(row->pass, pass))
			return is_unseen(side, pass, key->name) ? NULL : pass;
	}
	return NULL;
}

void side_passes(const struct side *a, const struct side *b, const struct metric_key *key,
                 const char **pass_a, const char **pass_b)
{
	*pass_a = own_pass(a, b, key);
	*pass_b = own_pass(b, a, key);
	if (!*pass_a)
		*pass_a = empty_pass(a, *pass_b, key);
	else if (!*pass_b)
		*pass_b = empty_pass(b, *pass_a, key);
}

struct boot_sum {
	double sum;
	size_t rows, have;
};

static void sample_boots(const struct seeker *s, struct boot_sum *sums, struct sample *out)
{
	for (size_t i = 0; i < s->side->row_count; i++) {
		const struct side_row *row = &s->side->rows[i];
		double value;

		if (!is_sought(s, row))
			continue;
		sums[row->boot].rows++;
		sums[row->boot].have += value_in(s, row, &value);
		sums[row->boot].sum += value;
	}
	for (size_t i = 0; i < s->side->boots; i++) {
		out->wanted += sums[i].rows > 0;
		/* A boot where only some rounds have the metric is not like the others. */
		if (sums[i].have && sums[i].have == sums[i].rows)
			out->values[out->n++] = sums[i].sum / (double)sums[i].have;
	}
}

static void sample_rows(const struct seeker *s, struct sample *out)
{
	for (size_t i = 0; i < s->side->row_count; i++) {
		const struct side_row *row = &s->side->rows[i];
		double value;

		if (!is_sought(s, row))
			continue;
		out->wanted++;
		if (value_in(s, row, &value))
			out->values[out->n++] = value;
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
	struct seeker s = { side, key, pass, measure_of(key->name) };
	_cleanup_free_ struct boot_sum *sums = NULL;

	*out = (struct sample){ .pass = pass };
	if (!pass)
		return 0;
	if (s.zero && is_unseen(side, pass, key->name))
		s.zero = 0;
	out->values = calloc(side->row_count, sizeof(*out->values));
	if (!out->values)
		return -ENOMEM;
	if (by_boot) {
		sums = calloc(side->boots, sizeof(*sums));
		if (!sums)
			return -ENOMEM;
		sample_boots(&s, sums, out);
	} else {
		sample_rows(&s, out);
	}
	out->stats = stats_of(out->values, out->n);
	return shrink(out);
}
