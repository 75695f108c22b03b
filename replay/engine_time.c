/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The latency pass: every operation is timed by the time stamp counter, and
 * calls in flight at once are counted. Rows are shared by tasks, hence atomic.
 */

#include "replay/engine.h"

static _engine_ struct state_latency *latency_row(const struct engine *e, enum plan_kind kind)
{
	struct state_latency *all =
		(struct state_latency *)(STATE_BASE + engine_state()->latencies);

	return all + (e->task % STATE_LATENCY_ROWS) * PLAN_KIND_COUNT + kind;
}

static _engine_ bool kind_is_call(enum plan_kind kind)
{
	return kind > PLAN_TOUCH_RUN;
}

_engine_ uint64_t engine_time_begin(struct engine *e, enum plan_kind kind)
{
	uint64_t flying;

	if (kind_is_call(kind)) {
		flying = __atomic_add_fetch(&engine_state()->in_flight, 1, __ATOMIC_RELAXED);
		if (flying > e->self->peak_in_flight)
			e->self->peak_in_flight = flying;
	}
	return arch_ticks();
}

static _engine_ void keep_largest(uint64_t *where, uint64_t value)
{
	uint64_t seen = __atomic_load_n(where, __ATOMIC_RELAXED);

	while (seen < value && !__atomic_compare_exchange_n(where, &seen, value, true,
	                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

_engine_ void engine_time_end(struct engine *e, enum plan_kind kind, uint64_t begun)
{
	uint64_t ticks = arch_ticks() - begun;
	uint64_t ns = (uint64_t)((unsigned __int128)ticks * engine_state()->tick_ns >> 32);
	struct state_latency *row = latency_row(e, kind);

	if (kind_is_call(kind))
		__atomic_fetch_sub(&engine_state()->in_flight, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row->count, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row->sum, ns, __ATOMIC_RELAXED);
	__atomic_fetch_add(&row->bucket[state_latency_bucket(ns)], 1, __ATOMIC_RELAXED);
	keep_largest(&row->max, ns);
}
