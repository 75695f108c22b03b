/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what a source saw to metrics of a row, with their denominators of the same repetition. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "replay/observe_own.h"
#include "replay/pass_units.h"

#define MAX_NAME 200
#define NAMED_MOST 5 /* of what matched no role */
#define HUGE_PAGE_ORDER 9 /* of x86-64 */

bool observe_name(char *out, size_t size, const struct lock_figure *f, const char *measure)
{
	const char *side = f->side == ROLE_SIDE_NONE ? NULL : role_side_name(f->side);
	int n = snprintf(out, size, "lock.%s%s%s%s%s.%s", f->role, side ? "." : "",
	                 side ? side : "", f->path ? "." : "", f->path ? f->path : "", measure);

	return n > 0 && (size_t)n < size;
}

struct observe_units observe_units(const struct trace_meta *before, const struct trace_meta *after,
                                   unsigned order, double operations)
{
	return (struct observe_units){
		.operations = operations,
		.folios =
			fmax(0, pass_units_folios(before, after, order ? order : HUGE_PAGE_ORDER)),
		.cuts = fmax(0, pass_units_cuts(before, after)),
	};
}

static int add_value(struct result *r, const struct lock_figure *f, const char *measure,
                     double value)
{
	char name[MAX_NAME];

	if (!observe_name(name, sizeof(name), f, measure))
		return -EINVAL;
	return result_value(r, name, value);
}

static int add_rates(struct result *r, const struct lock_figure *f,
                     const struct observe_units *units)
{
	const struct {
		const char *measure;
		double per;
	} rates[] = {
		{ "acquisitions_per_operation", units->operations },
		{ "acquisitions_per_folio", units->folios },
		{ "acquisitions_per_cut", units->cuts },
	};
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rates) && e >= 0; i++)
		if (rates[i].per > 0)
			e = add_value(r, f, rates[i].measure, f->acquisitions / rates[i].per);
	return e;
}

static int add_figure(struct result *r, const struct lock_figure *f,
                      const struct observe_units *units)
{
	const struct {
		const char *measure;
		double value;
		double scale;
	} values[] = {
		{ "acquisitions", f->acquisitions, 1 },
		{ "contentions", f->contentions, 1 },
		{ "wait", f->wait, 1e-9 },
		{ "hold", f->hold, 1e-9 },
		{ "share", f->share, 1 },
	};
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(values) && e >= 0; i++)
		if (values[i].value >= 0)
			e = add_value(r, f, values[i].measure, values[i].value * values[i].scale);
	return e >= 0 && f->acquisitions >= 0 ? add_rates(r, f, units) : e;
}

static int add_figures(struct result *r, const struct lock_figures *figures,
                       const struct observed *seen, const struct observe_units *units)
{
	char name[MAX_NAME];
	int e;

	snprintf(name, sizeof(name), "lock.unresolved.share_of_%s", seen->source->name);
	e = result_value(r, name, figures->unresolved);
	for (size_t i = 0; i < figures->count && e >= 0; i++)
		e = add_figure(r, &figures->items[i], units);
	if (e >= 0 && units->folios > 0)
		e = result_value(r, "folios", units->folios);
	if (e >= 0 && units->cuts > 0)
		e = result_value(r, "cuts", units->cuts);
	return e;
}

static bool is_noted(const json_t *names, const char *name)
{
	json_t *noted;
	size_t i;

	json_array_foreach((json_t *)names, i, noted)
	{
		if (!strcmp(json_string_value(noted), name))
			return true;
	}
	return false;
}

static int note_unseen(struct observed *seen, const struct lock_figures *figures)
{
	for (size_t i = 0; i < figures->unseen_count; i++) {
		const char *role = figures->unseen[i];

		if (!seen->unseen)
			seen->unseen = json_array();
		if (!is_noted(seen->unseen, role) &&
		    json_array_append_new(seen->unseen, json_string(role)) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int heavier(const void *a, const void *b)
{
	const struct lock_unresolved *x = a, *y = b;

	return (x->amount < y->amount) - (x->amount > y->amount);
}

/* Of the repetition that has the most of it. */
static int note_unresolved(struct observed *seen, struct lock_figures *figures)
{
	json_t *list;

	if (figures->unresolved <= seen->unresolved)
		return 0;
	list = json_array();
	seen->unresolved = figures->unresolved;
	json_decref(seen->unresolved_in);
	seen->unresolved_in = list;
	if (figures->name_count)
		qsort(figures->names, figures->name_count, sizeof(*figures->names), heavier);
	for (size_t i = 0; i < figures->name_count && i < NAMED_MOST; i++)
		if (json_array_append_new(list, json_string(figures->names[i].name)) < 0)
			return -ENOMEM;
	return list ? 0 : -ENOMEM;
}

static int add_row(struct observed *seen, struct result *r, unsigned round, unsigned order,
                   const struct observe_units *units)
{
	struct lock_figures figures = { 0 };
	int e = seen->source->read(seen->state, &figures);

	if (e >= 0) {
		seen->dropped += figures.dropped;
		memcpy(seen->note, figures.note, sizeof(seen->note));
		seen->has_row = true;
		e = note_unseen(seen, &figures);
	}
	if (e >= 0)
		e = note_unresolved(seen, &figures);
	if (e >= 0)
		e = result_row(r, 0, round, seen->source->name);
	if (e >= 0 && order)
		e = result_row_order(r, order);
	if (e >= 0)
		e = add_figures(r, &figures, seen, units);
	lock_figures_clear(&figures);
	return e;
}

int observer_rows(struct observer *o, struct result *r, unsigned round, unsigned order,
                  const struct observe_units *units)
{
	int e = 0;

	for (size_t i = 0; i < o->open_count && e >= 0; i++)
		e = add_row(o->used[o->first_open + i], r, round, order, units);
	return e;
}

static bool is_used(const struct observer *o, const struct observed *seen)
{
	for (size_t i = 0; i < o->used_count; i++)
		if (o->used[i] == seen)
			return true;
	return false;
}

static json_t *describe(const struct observer *o, const struct observed *seen)
{
	if (!is_used(o, seen))
		return json_pack("{s:s, s:b, s:s}", "name", seen->source->name, "used", 0, "why",
		                 seen->why);
	return json_pack("{s:s, s:b, s:I, s:f, s:O*, s:s, s:O*}", "name", seen->source->name,
	                 "used", 1, "dropped", (json_int_t)seen->dropped, "unresolved",
	                 seen->unresolved, "unresolved_in", seen->unresolved_in, "note", seen->note,
	                 "unseen", seen->unseen);
}

int observer_provenance(const struct observer *o, json_t *sources)
{
	for (size_t i = 0; i < o->all_count; i++) {
		json_t *one = describe(o, &o->all[i]);

		if (!one || json_array_append_new(sources, one) < 0)
			return -ENOMEM;
	}
	return 0;
}
