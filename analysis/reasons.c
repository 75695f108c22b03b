/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reasons, and the values they name. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/reasons.h"
#include "common/cleanup.h"

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

bool reasons_number(const json_t *value, double *out)
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

bool reasons_same_value(const json_t *a, const json_t *b, double tolerance)
{
	double x, y;

	if (json_equal((json_t *)a, (json_t *)b))
		return true;
	return reasons_number(a, &x) && reasons_number(b, &y) &&
	       fabs(x - y) <= tolerance * fmax(fabs(x), fabs(y));
}

int reasons_add_difference(struct reasons *r, const char *what, const json_t *a, const json_t *b,
                           const char *hint)
{
	char left[48], right[48];

	show(a ? a : json_null(), left, sizeof(left));
	show(b ? b : json_null(), right, sizeof(right));
	return reasons_add(r, "%.120s differs: %s against %s%s", what, left, right, hint);
}
