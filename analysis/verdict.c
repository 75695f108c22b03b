/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rules that turn a metric's figures into a verdict. */

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "analysis/compare.h"
#include "common/cleanup.h"

static void _printf_(2, 3) say(struct compared *m, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m->why, sizeof(m->why), fmt, ap);
	va_end(ap);
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = { "none", "same", "better", "worse" };

	return names[v];
}

static bool is_whole(double v)
{
	return v == floor(v) && fabs(v) < 9007199254740992.0;
}

bool verdict_can_test(const struct compared *m)
{
	return m->a.n >= COMPARE_LEAST && m->b.n >= COMPARE_LEAST && m->a.n == m->a.wanted &&
	       m->b.n == m->b.wanted;
}

bool verdict_is_exact(const struct compared *m)
{
	return m->a.stats.min == m->a.stats.max && m->b.stats.min == m->b.stats.max &&
	       is_whole(m->a.stats.min) && is_whole(m->b.stats.min);
}

static bool is_time(const char *unit)
{
	return !strcmp(unit, "s") || !strcmp(unit, "ms") || !strcmp(unit, "us") ||
	       !strcmp(unit, "ns");
}

static bool was_streamed(const struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (json_is_true(json_object_get(result_fidelity(side->results[i]), "streamed")))
			return true;
	return false;
}

/* Whether the source that made this pass missed something. */
static bool source_dropped(const struct side *side, const char *pass)
{
	for (size_t i = 0; i < side->count; i++) {
		const json_t *source = result_source(side->results[i], pass);

		if (json_number_value(json_object_get(source, "dropped")) > 0)
			return true;
	}
	return false;
}

static bool is_lock(const char *name)
{
	return !strncmp(name, "lock.", 5);
}

static bool is_measure(const char *name, const char *measure)
{
	const char *last = strrchr(name, '.');

	return is_lock(name) && !strcmp(last + 1, measure);
}

/* Adds what one side says of where it ran. */
static void add_circumstances(struct circumstances *c, const struct side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		const json_t *p = result_provenance(side->results[i]);
		const json_t *lab = json_object_get(p, "lab");
		double virtual_cpus = json_number_value(json_object_get(lab, "virtual_cpus"));
		double real_cpus = json_number_value(json_object_get(lab, "real_cpus"));
		bool more = real_cpus >= 1 && virtual_cpus > real_cpus && virtual_cpus <= 1e6;

		c->debug_locks |= json_is_true(json_object_get(p, "debug_locks"));
		c->emulated |= json_is_true(json_object_get(lab, "emulated"));
		if (more) {
			c->virtual_cpus = (unsigned)virtual_cpus;
			c->real_cpus = (unsigned)real_cpus;
		}
		c->is_virtual |= more || c->emulated;
	}
}

struct circumstances verdict_circumstances(const struct side *a, const struct side *b)
{
	struct circumstances c = { 0 };

	add_circumstances(&c, a);
	add_circumstances(&c, b);
	return c;
}

bool verdict_is_shown_only(struct compared *m, const struct circumstances *where)
{
	bool share = is_measure(m->name, "share");

	if (where->is_virtual &&
	    (share || is_measure(m->name, "wait") || is_measure(m->name, "hold"))) {
		if (where->virtual_cpus)
			say(m, "%u virtual CPUs on %u real ones: it shows how they were scheduled",
			    where->virtual_cpus, where->real_cpus);
		else
			say(m, "the CPUs are emulated: it shows how they were scheduled");
		return true;
	}
	if (where->debug_locks && (share || (is_time(m->unit) && !is_lock(m->name)))) {
		say(m, "a kernel with lockdep and debug spinlocks: its times are its own");
		return true;
	}
	return false;
}

/* false, and the reason said: nothing can be told about this metric. */
static bool may_judge(struct compared *m, const struct side *a, const struct side *b)
{
	if (!m->a.pass || !m->b.pass)
		say(m, "only one side has it");
	else if (m->a.n < COMPARE_LEAST || m->b.n < COMPARE_LEAST)
		say(m, "%zu against %zu: a verdict takes at least %u a side", m->a.n, m->b.n,
		    COMPARE_LEAST);
	else if (!verdict_can_test(m))
		say(m, "some repetitions lack it");
	else if (strcmp(m->a.pass, m->b.pass))
		say(m, "it comes from different passes");
	else if (is_time(m->unit) && (was_streamed(a) || was_streamed(b)))
		say(m, "the plan did not fit into memory: times include reading it");
	else if (source_dropped(a, m->a.pass) || source_dropped(b, m->b.pass))
		say(m, "the source lost events");
	else
		return true;
	return false;
}

static void decide_changed(struct compared *m)
{
	if (verdict_is_exact(m)) {
		m->changed = m->a.stats.mean != m->b.stats.mean;
		say(m, "%s: does not vary, compared exactly", m->changed ? "different" : "equal");
	} else if (!(m->p <= COMPARE_LEVEL)) {
		say(m, "within noise: p %.3g", m->p);
	} else if (!isnan(m->change) && !(fabs(m->change) > m->threshold)) {
		say(m, "p %.2g, but not above the threshold of %.1f%%", m->p, 100 * m->threshold);
	} else {
		m->changed = true;
		say(m, "p %.2g", m->p);
	}
}

/* Virtual CPUs that do not run cannot contend: only what is many times as much says something. */
static bool too_little_for_virtual(const struct compared *m)
{
	double least = fmin(m->a.stats.mean, m->b.stats.mean);
	double most = fmax(m->a.stats.mean, m->b.stats.mean);

	return is_measure(m->name, "contentions") && most < COMPARE_FOLD * fmax(least, 1);
}

void verdict_decide(struct compared *m, const struct comparison *c)
{
	m->changed = false;
	m->verdict = VERDICT_NONE;
	if (m->shown_only || !may_judge(m, c->a, c->b))
		return;
	decide_changed(m);
	if (m->changed && c->where.is_virtual && too_little_for_virtual(m)) {
		m->changed = false;
		m->shown_only = true;
		say(m, "less than %g-fold: on virtual CPUs that says nothing", COMPARE_FOLD);
	} else if (!m->changed)
		m->verdict = VERDICT_SAME;
	else if (m->better == BETTER_NONE)
		say(m, "changed, but neither direction is better");
	else if ((m->b.stats.mean < m->a.stats.mean) == (m->better == BETTER_LESS))
		m->verdict = VERDICT_BETTER;
	else
		m->verdict = VERDICT_WORSE;
}
