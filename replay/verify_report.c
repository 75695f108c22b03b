/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text and JSON of a verification. */

#include <inttypes.h>
#include <stdio.h>

#include "common/json_out.h"
#include "replay/verify_report.h"

uint64_t verify_faults_allowed(uint64_t recorded)
{
	uint64_t share = recorded / 50;

	return share > 32 ? share : 32;
}

static bool faults_equal(const struct verify_outcome *o)
{
	uint64_t a = o->faults_recorded, b = o->faults_replayed;

	return !o->faults_compared || (a > b ? a - b : b - a) <= o->faults_allowed;
}

bool verify_outcome_equal(const struct verify_outcome *o)
{
	return !o->plan.differences && !o->run.differences && !o->tasks_missing && faults_equal(o);
}

static void text_differences(const struct verify_report *r, const char *side)
{
	for (uint64_t i = 0; i < r->differences && i < VERIFY_SHOWN; i++) {
		const struct verify_difference *d = &r->first[i];

		printf("task %u, operation %zu: %s: recorded %s, %s %s\n", d->task, d->index + 1,
		       d->what, d->want, side, d->got);
	}
	if (r->differences > VERIFY_SHOWN)
		printf("… and %" PRIu64 " more\n", r->differences - VERIFY_SHOWN);
}

void verify_outcome_text(const struct verify_outcome *o)
{
	text_differences(&o->plan, "planned");
	text_differences(&o->run, "replayed");
	if (o->tasks_missing)
		printf("%" PRIu64 " of %" PRIu64 " tasks were not replayed\n", o->tasks_missing,
		       o->tasks);
	printf("%s: %" PRIu64 " operations of %" PRIu64 " tasks compared, %" PRIu64
	       " differences, %" PRIu64 " not replayable\n",
	       verify_outcome_equal(o) ? "equal" : "different", o->run.operations, o->tasks,
	       o->plan.differences + o->run.differences, o->run.not_replayed);
	if (o->faults_compared)
		printf("faults: %" PRIu64 " recorded, %" PRIu64 " replayed (may differ by %" PRIu64
		       "), %" PRIu64 " of the replayer itself left out\n",
		       o->faults_recorded, o->faults_replayed, o->faults_allowed,
		       o->faults_outside);
	else
		printf("faults: not compared, %s\n", o->faults_why);
	if (o->orphans)
		printf("%" PRIu64 " recorded calls have no beginning or end: not compared\n",
		       o->orphans);
}

static void json_differences(struct json_out *j, const struct verify_report *r, const char *stage)
{
	for (uint64_t i = 0; i < r->differences && i < VERIFY_SHOWN; i++) {
		const struct verify_difference *d = &r->first[i];

		json_out_object(j, NULL);
		json_out_string(j, "stage", stage);
		json_out_u64(j, "task", d->task);
		json_out_u64(j, "operation", d->index + 1);
		json_out_string(j, "what", d->what);
		json_out_string(j, "recorded", d->want);
		json_out_string(j, "replayed", d->got);
		json_out_end(j);
	}
}

void verify_outcome_json(const struct verify_outcome *o)
{
	struct json_out j;

	json_out_init(&j, stdout, true);
	json_out_object(&j, NULL);
	json_out_bool(&j, "equal", verify_outcome_equal(o));
	json_out_u64(&j, "operations", o->run.operations);
	json_out_u64(&j, "tasks", o->tasks);
	json_out_u64(&j, "tasks_missing", o->tasks_missing);
	json_out_u64(&j, "not_replayed", o->run.not_replayed);
	json_out_u64(&j, "orphans", o->orphans);
	json_out_u64(&j, "lost", o->lost);
	json_out_object(&j, "faults");
	json_out_bool(&j, "compared", o->faults_compared);
	json_out_u64(&j, "recorded", o->faults_recorded);
	json_out_u64(&j, "replayed", o->faults_replayed);
	json_out_u64(&j, "allowed", o->faults_allowed);
	json_out_u64(&j, "own", o->faults_outside);
	json_out_end(&j);
	json_out_u64(&j, "difference_count", o->plan.differences + o->run.differences);
	json_out_array(&j, "differences");
	json_differences(&j, &o->plan, "plan");
	json_differences(&j, &o->run, "run");
	json_out_end(&j);
	json_out_end(&j);
}
