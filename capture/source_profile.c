/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source `profile`: the share of the machine's busy CPU time that is spent in
 * lock code, by role. A sample counts for a role when its innermost function is
 * lock code: waiting, taking, letting go.
 *
 * Without a hardware counter the clock is a timer, which cannot fire while interrupts
 * are off. That time, waiting for the lock and holding it, is seen at the instruction that
 * allows them again: in _raw_spin_unlock_irqrestore(), which is lock code, so that it
 * counts for the role of its caller.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/chains.h"
#include "capture/perf_event.h"
#include "capture/perf_rings.h"
#include "capture/stack_roles.h"
#include "common/log.h"

#define RING_BYTES (512u << 10)
/* About a thousand a second, and not in step with the kernel's tick. */
#define PERIOD_NS 997001
#define PERIOD_CYCLES 2000003

struct profile {
	struct symbols *symbols;
	struct chains *chains;
	struct stack_roles *roles;
	struct perf_rings *rings;
	bool hardware;
	uint64_t busy; /* samples */
};

/* Cycles if the machine counts them, else the timer; -errno of the latter. */
static int choose_clock(struct perf_event_attr *event, bool *hardware)
{
	*event = (struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
		                           .config = PERF_COUNT_HW_CPU_CYCLES,
		                           .sample_period = PERIOD_CYCLES };
	perf_event_prepare(event);
	*hardware = perf_event_try(event) == 0;
	if (*hardware)
		return 0;
	*event = (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE,
		                           .config = PERF_COUNT_SW_CPU_CLOCK,
		                           .sample_period = PERIOD_NS,
		                           .exclude_idle = 1 };
	perf_event_prepare(event);
	return perf_event_try(event);
}

static int profile_check(const struct source_options *options, char *why, size_t size)
{
	struct perf_event_attr event;
	bool hardware;
	int r = symbols_explain(why, size);

	if (r < 0)
		return r;
	r = choose_clock(&event, &hardware);
	if (r < 0)
		perf_event_explain(r, why, size);
	return r;
}

static int count_stack(struct profile *p, const uint64_t *chain, size_t count, uint64_t samples)
{
	int r = stack_roles_place(p->roles, chain, count);

	if (r >= 0)
		stack_roles_sum(p->roles, (size_t)r)->count += samples;
	return r < 0 ? r : 0;
}

static int on_sample(void *context, const struct perf_sample *sample)
{
	struct profile *p = context;
	int r;

	/* Cycles are counted in the idle task too, where it polls or handles interrupts. */
	if (!sample->tid)
		return 0;
	p->busy++;
	if (!sample->chain_count)
		return 0;
	r = chains_add(p->chains, sample->chain, sample->chain_count);
	return r > 0 ? count_stack(p, sample->chain, sample->chain_count, 1) : r;
}

/* With the caller of the innermost function put in, where it is known to be missing. */
static int count_chains(struct profile *p)
{
	const uint64_t *chain;
	uint64_t samples;
	size_t count;
	int r = 0;

	for (size_t i = 0; r >= 0 && (chain = chains_at(p->chains, i, &count, &samples)); i++) {
		uint64_t whole[PERF_CHAIN_MAX + 1], lost;

		lost = chains_lost_caller(p->chains, chain, count);
		if (!lost) {
			r = count_stack(p, chain, count, samples);
			continue;
		}
		whole[0] = chain[0];
		whole[1] = lost;
		memcpy(whole + 2, chain + 1, (count - 1) * sizeof(*chain));
		r = count_stack(p, whole, count + 1, samples);
	}
	return r;
}

static void profile_close(void *state)
{
	struct profile *p = state;

	if (!p)
		return;
	perf_rings_free(p->rings);
	stack_roles_free(p->roles);
	chains_free(p->chains);
	symbols_free(p->symbols);
	free(p);
}

static int open_parts(struct profile *p)
{
	struct perf_event_attr event;
	struct perf_rings_options options = {
		.events = &event, .count = 1, .bytes = RING_BYTES, .sample = on_sample, .context = p
	};
	char why[256];
	int r = stack_roles_load(&p->roles, &p->symbols);

	if (r < 0)
		return r;
	r = chains_new(&p->chains, p->symbols);
	if (r < 0)
		return r;
	r = choose_clock(&event, &p->hardware);
	if (r < 0) {
		perf_event_explain(r, why, sizeof(why));
		log_error("profile: %s", why);
		return r;
	}
	return perf_rings_new(&p->rings, &options);
}

static int profile_open(void **state, const struct source_options *options)
{
	struct profile *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	r = open_parts(p);
	if (r < 0) {
		profile_close(p);
		return r;
	}
	*state = p;
	return 0;
}

static int profile_start(void *state)
{
	struct profile *p = state;

	stack_roles_reset(p->roles);
	chains_reset(p->chains);
	p->busy = 0;
	return perf_rings_start(p->rings);
}

static int profile_stop(void *state)
{
	struct profile *p = state;
	int r = perf_rings_stop(p->rings);

	if (r < 0)
		return r;
	r = count_chains(p);
	if (r < 0)
		log_error("profile: out of memory");
	return r;
}

static void fill(struct lock_figure *f, const struct stack_sum *sum, const void *context)
{
	const struct profile *p = context;

	if (f->share < 0)
		f->share = 0;
	if (sum->in_lock && p->busy)
		f->share += (double)sum->count / (double)p->busy;
}

/* Samples outside of lock code are nobody's. */
static double samples_of(const struct stack_sum *sum)
{
	return sum->in_lock ? (double)sum->count : 0;
}

static int profile_read(void *state, struct lock_figures *out)
{
	struct profile *p = state;
	struct perf_loss loss;
	int r = stack_roles_figures(p->roles, out, fill, p);

	if (r >= 0)
		r = stack_roles_unresolved(p->roles, out, samples_of);
	if (r < 0) {
		log_error("profile: out of memory");
		return r;
	}
	perf_rings_loss(p->rings, &loss);
	out->dropped = loss.lost + loss.throttled + loss.damaged;
	snprintf(out->note, sizeof(out->note),
	         p->hardware ? "%llu samples by CPU cycles"
	                     : "%llu samples by the clock cpu-clock: time with interrupts off "
	                       "shows where they come back on",
	         (unsigned long long)p->busy);
	return 0;
}

const struct source source_profile = {
	.name = "profile",
	.gives = "share of CPU time in lock code by role",
	.check = profile_check,
	.open = profile_open,
	.start = profile_start,
	.stop = profile_stop,
	.read = profile_read,
	.close = profile_close,
};
