/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folios and cuts from the kernel's counters (Documentation/admin-guide/mm/transhuge.rst).
 * thp_deferred_split_page counts folios of the huge-page size only (deferred_split_folio()).
 */

#include <math.h>
#include <stdio.h>

#include "common/cleanup.h"
#include "replay/pass_units.h"

#define FIRST_ORDER 1u
#define HUGE_PAGE_ORDER 9u /* of x86-64 */
#define PAGE_KIB 4u
#define CUTS "thp_deferred_split_page"

static double rise(const struct trace_meta *before, const struct trace_meta *after, const char *key)
{
	if (!trace_meta_get(after, key))
		return -1;
	return (double)(int64_t)(trace_meta_get_u64(after, key, 0) -
	                         trace_meta_get_u64(before, key, 0));
}

/* Kernels without counters for each size (until 6.9) are asked for huge pages only. */
double pass_units_folios(const struct trace_meta *before, const struct trace_meta *after,
                         unsigned order)
{
	char key[64];
	double folios;

	snprintf(key, sizeof(key), "thp/%ukB/anon_fault_alloc", PAGE_KIB << order);
	folios = rise(before, after, key);
	if (folios < 0 && order == HUGE_PAGE_ORDER)
		folios = rise(before, after, "thp_fault_alloc");
	return folios;
}

double pass_units_cuts(const struct trace_meta *before, const struct trace_meta *after)
{
	return rise(before, after, CUTS);
}

static void add(struct pass_unit *unit, double value)
{
	if (value < 0)
		return;
	unit->sum += value;
	unit->count++;
}

void pass_units_add(struct pass_units *u, const struct trace_meta *before,
                    const struct trace_meta *after, unsigned order)
{
	unsigned first = order ? order : FIRST_ORDER, last = order ? order : RESULT_MAX_ORDER;

	for (unsigned at = first; at <= last; at++)
		add(&u->folios[at], pass_units_folios(before, after, at));
	/* While another size is swept there are no huge pages to cut. */
	if (!order || order == HUGE_PAGE_ORDER)
		add(&u->cuts, pass_units_cuts(before, after));
}

static int put(json_t *to, const char *name, const struct pass_unit *unit)
{
	double mean = unit->sum / unit->count;

	return json_object_set_new(to, name,
	                           mean == floor(mean) ? json_integer((json_int_t)mean)
	                                               : json_real(mean)) < 0
	               ? -ENOMEM
	               : 0;
}

int pass_units_put(const struct pass_units *u, json_t *denominators)
{
	char name[32];
	int r = 0;

	for (unsigned order = 0; order <= RESULT_MAX_ORDER && r >= 0; order++) {
		snprintf(name, sizeof(name), "folios.order%u", order);
		if (u->folios[order].count)
			r = put(denominators, name, &u->folios[order]);
	}
	return r >= 0 && u->cuts.count ? put(denominators, "cuts", &u->cuts) : r;
}
