/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How faithful a replay was: what was recorded, planned, done, and done differently. */

#include <string.h>

#include "common/cleanup.h"
#include "replay/replay_result.h"

static int put(json_t *object, const char *key, json_t *value)
{
	return value && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

static json_t *number(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *by_call(const uint64_t *counts)
{
	json_t *object = json_object();

	for (unsigned call = 0; object && call < CALL_COUNT; call++)
		if (counts[call] && put(object, call_name(call), number(counts[call])) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

/* Deterministic for a trace and options: two results of the same replay are equal here. */
static json_t *plan_object(const struct plan_header *h, const struct replay_setup *setup)
{
	const struct plan_counts *c = &h->counts;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "operations", c->operations },
		{ "touches", c->touches },
		{ "tasks", h->task_count },
		{ "roots", h->root_count },
		{ "spaces", h->space_count },
		{ "files", h->file_count },
		{ "recorded_faults", c->recorded_faults },
		{ "recorded_kernel_faults", c->recorded_kernel_faults },
		{ "dropped_faults", c->dropped_faults },
		{ "assumed_maps", c->assumed_maps },
		{ "assumed_bytes", c->assumed_bytes },
		{ "emulated", c->emulated },
		{ "split", c->split },
		{ "waits", c->waits },
		{ "unknown_files", c->unknown_files },
		{ "skipped", c->skipped },
		{ "orphans", c->orphans },
		{ "peak_bytes", c->peak_bytes },
		{ "peak_tasks", c->peak_tasks },
	};
	json_t *object = json_pack(
		"{s:s, s:s, s:s, s:o, s:o}", "place", replay_place_names[setup->place], "order",
		replay_order_names[setup->order], "touch", replay_touch_names[setup->touch],
		"calls", by_call(c->calls), "refused", by_call(c->refused));

	for (size_t i = 0; object && i < ARRAY_SIZE(rows); i++)
		if (put(object, rows[i].name, number(rows[i].value)) < 0) {
			json_decref(object);
			return NULL;
		}
	return object;
}

static const char *touch_outcome(uint64_t got)
{
	return got == 7 ? "SIGBUS" : got ? "SIGSEGV" : "success";
}

static void describe_got(enum plan_kind kind, uint64_t got, char *out, size_t size)
{
	if (kind == PLAN_TOUCH || kind == PLAN_TOUCH_RUN)
		snprintf(out, size, "%s", touch_outcome(got));
	else
		event_value_format(out, size, ARG_RESULT_ADDRESS, got);
}

void replay_describe_mismatch(const struct plan *plan, const struct state_mismatch *m, char *out,
                              size_t size)
{
	const uint64_t *op = plan_find(plan, m->task, m->ordinal);
	char want[64] = "success", got[64];
	size_t at;

	plan_describe(plan, m->task, m->ordinal, out, size);
	if (!op)
		return;
	if (plan_head_errno(*op))
		event_value_format(want, sizeof(want), ARG_RESULT,
		                   (uint64_t) - (int64_t)plan_head_errno(*op));
	describe_got(plan_head_kind(*op), m->got, got, sizeof(got));
	at = strlen(out);
	snprintf(out + at, size - at, ": %s recorded, %s now", want, got);
}

static json_t *mismatches_array(const struct plan *plan, const struct execute_figures *f)
{
	json_t *array = json_array();
	char text[512];

	for (uint32_t i = 0; array && i < f->first_count; i++) {
		replay_describe_mismatch(plan, &f->first[i], text, sizeof(text));
		if (json_array_append_new(array, json_string(text)) < 0) {
			json_decref(array);
			return NULL;
		}
	}
	return array;
}

static int add_outcome(json_t *to, const struct plan *plan, const struct replay_totals *t)
{
	const struct execute_figures *f = &t->last;
	const struct plan_counts *c = &plan->header->counts;
	int error = put(to, "faults",
	                json_pack("{s:I, s:f}", "recorded", (json_int_t)c->recorded_faults, "taken",
	                          t->faults));

	if (error >= 0)
		error = put(to, "forbidden",
		            json_pack("{s:I, s:I}", "segv", (json_int_t)f->segv, "sigbus",
		                      (json_int_t)f->sigbus));
	if (error >= 0)
		error = put(to, "alignment",
		            json_pack("{s:I, s:I, s:I}", "placed_large",
		                      (json_int_t)c->placed_large, "aligned_recorded",
		                      (json_int_t)c->placed_aligned, "aligned_replayed",
		                      (json_int_t)f->placed_aligned));
	if (error >= 0)
		error = put(to, "drift",
		            json_pack("{s:f, s:f}", "max", (double)t->drift_max / 1e9, "sum",
		                      (double)t->drift_sum / 1e9));
	if (error >= 0)
		error = put(to, "mismatches_first", mismatches_array(plan, f));
	return error;
}

static int add_denominators(struct result *r, const struct plan_counts *c, uint32_t copies,
                            const struct replay_totals *t)
{
	json_t *to = result_denominators(r);
	char name[64];
	int error = put(to, "operations", number(t->last.operations));

	if (error >= 0)
		error = put(to, "touches", number(t->last.touches));
	for (unsigned call = 0; call < CALL_COUNT && error >= 0; call++)
		if (c->calls[call]) {
			snprintf(name, sizeof(name), "calls.%s", call_name(call));
			error = put(to, name, number(c->calls[call] * copies));
		}
	return error;
}

int replay_result_fidelity(struct result *r, const struct replay_setup *setup,
                           const struct trace_reader *reader, const struct plan *plan,
                           const struct replay_totals *t)
{
	const struct trace_status *status = trace_reader_status(reader);
	const struct plan_header *h = plan->header;
	json_t *to = result_fidelity(r);
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "lost", status->lost > h->counts.lost ? status->lost : h->counts.lost },
		{ "mismatches", t->mismatches },
		{ "plan_bytes", h->bytes },
		{ "operations", h->counts.operations },
		{ "operations_done", t->last.operations },
		{ "touches", t->last.touches },
		{ "refused_passed", t->last.refused },
		{ "mappings_replayed", t->mappings },
		{ "mappings_recorded", h->counts.mappings },
		{ "peak_calls_recorded", h->counts.peak_calls },
		{ "peak_calls_replayed", t->peak_in_flight },
		{ "peak_tasks_recorded", h->counts.peak_tasks },
		{ "peak_tasks_replayed", t->peak_alive },
	};
	int error = put(to, "plan", plan_object(h, setup));

	for (size_t i = 0; i < ARRAY_SIZE(rows) && error >= 0; i++)
		error = put(to, rows[i].name, number(rows[i].value));
	if (error >= 0)
		error = put(to, "incomplete", json_boolean(!status->complete));
	if (error >= 0)
		error = put(to, "streamed", json_boolean(t->streamed));
	if (error >= 0)
		error = add_outcome(to, plan, t);
	if (error >= 0)
		error = add_denominators(r, &h->counts, setup->execute.copies, t);
	return error;
}
