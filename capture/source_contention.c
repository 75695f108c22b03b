/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source `contention`: waits for locks on the whole machine, from the tracepoints
 * lock:contention_begin (with the call stack, which gives the role) and
 * lock:contention_end, both since 5.19. Only who queues is seen: of two tasks at a
 * spinlock, the second waits on the lock word and gives no event.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "capture/instance.h"
#include "capture/perf_event.h"
#include "capture/perf_rings.h"
#include "capture/settings.h"
#include "capture/stack_roles.h"
#include "capture/sysfile.h"
#include "capture/waits.h"
#include "common/log.h"

#define BEGIN "contention_begin"
#define END "contention_end"
#define RING_BYTES (2u << 20)

/* One of the two, as its format file has it. */
struct contention_point {
	uint64_t id;
	unsigned lock_offset;
};

struct contention {
	struct contention_point begin, end;
	struct symbols *symbols;
	struct stack_roles *roles;
	struct waits *waits;
	struct perf_rings *rings;
	uint64_t strange; /* samples without a lock in them */
};

static int read_file(const char *event, const char *file, char *out, size_t size)
{
	const char *tracefs = instance_tracefs();
	char path[512];

	if (!tracefs)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/lock/%s/%s", tracefs, event, file);
	return sysfile_read(path, out, size);
}

/* -ENOENT: no such event; -EPROTO: without the field that it had so far. */
static int load_point(struct contention_point *p, const char *event)
{
	char text[SYSFILE_MAX];
	const char *field;
	unsigned size;
	int r = read_file(event, "id", text, sizeof(text));

	if (r < 0)
		return r;
	p->id = strtoull(text, NULL, 10);
	r = read_file(event, "format", text, sizeof(text));
	if (r < 0)
		return r;
	field = strstr(text, " lock_addr;");
	if (!p->id || !field ||
	    sscanf(field, " lock_addr; offset:%u; size:%u;", &p->lock_offset, &size) != 2 ||
	    size != sizeof(uint64_t))
		return -EPROTO;
	return 0;
}

static int load_points(struct contention_point *begin, struct contention_point *end, char *why,
                       size_t size)
{
	int r = instance_explain(why, size);

	if (r < 0)
		return r;
	r = load_point(begin, BEGIN);
	if (r >= 0)
		r = load_point(end, END);
	if (r == -ENOENT)
		snprintf(why, size, "this kernel has no lock:" BEGIN ": boot one from 5.19 on");
	else if (r == -EPROTO)
		snprintf(why, size, "lock:" BEGIN " is not of a form that is known");
	else if (r < 0)
		snprintf(why, size, "lock:" BEGIN " cannot be read: %s", strerror(-r));
	return r;
}

static struct perf_event_attr event_of(const struct contention_point *p)
{
	struct perf_event_attr event = { .type = PERF_TYPE_TRACEPOINT,
		                         .config = p->id,
		                         .sample_period = 1,
		                         .sample_type = PERF_SAMPLE_RAW };

	perf_event_prepare(&event);
	return event;
}

static int contention_check(const struct source_options *options, char *why, size_t size)
{
	struct contention_point begin, end;
	struct perf_event_attr event;
	int r = load_points(&begin, &end, why, size);

	if (r >= 0)
		r = symbols_explain(why, size);
	if (r < 0)
		return r;
	event = event_of(&begin);
	r = perf_event_try(&event);
	if (r < 0)
		perf_event_explain(r, why, size);
	return r;
}

static int on_sample(void *context, const struct perf_sample *sample)
{
	struct contention *c = context;
	struct wait_event e = { .time = sample->time, .task = sample->tid, .cpu = sample->cpu };
	const struct contention_point *p;
	uint16_t id = 0;
	int r = 0;

	if (sample->raw_size >= sizeof(id))
		memcpy(&id, sample->raw, sizeof(id));
	e.end = id == c->end.id;
	p = e.end ? &c->end : &c->begin;
	if (id != p->id || sample->raw_size < sizeof(e.lock) ||
	    sample->raw_size - sizeof(e.lock) < p->lock_offset) {
		c->strange++;
		return 0;
	}
	memcpy(&e.lock, sample->raw + p->lock_offset, sizeof(e.lock));
	if (!e.end) {
		r = stack_roles_place(c->roles, sample->chain, sample->chain_count);
		e.what = (uint32_t)r;
	}
	return r < 0 ? r : waits_add(c->waits, &e);
}

static int on_round(void *context, uint64_t until)
{
	struct contention *c = context;

	return waits_flush(c->waits, until);
}

static void on_ended(void *context, uint32_t what, uint64_t ns)
{
	struct contention *c = context;
	struct stack_sum *sum = stack_roles_sum(c->roles, what);

	sum->count++;
	sum->wait += (double)ns;
}

static void contention_close(void *state)
{
	struct contention *c = state;

	if (!c)
		return;
	perf_rings_free(c->rings);
	waits_free(c->waits);
	stack_roles_free(c->roles);
	symbols_free(c->symbols);
	free(c);
}

static int open_parts(struct contention *c)
{
	struct perf_event_attr events[2];
	struct perf_rings_options options = { .events = events,
		                              .count = 2,
		                              .bytes = RING_BYTES,
		                              .sample = on_sample,
		                              .round = on_round,
		                              .context = c };
	int r = stack_roles_load(&c->roles, &c->symbols);

	if (r < 0)
		return r;
	events[0] = event_of(&c->begin);
	events[1] = event_of(&c->end);
	events[1].sample_max_stack = 1; /* the begin has it */
	r = waits_new(&c->waits, on_ended, c);
	return r < 0 ? r : perf_rings_new(&c->rings, &options);
}

static int contention_open(void **state, const struct source_options *options)
{
	struct contention *c = calloc(1, sizeof(*c));
	char why[256];
	int r;

	if (!c)
		return -ENOMEM;
	r = load_points(&c->begin, &c->end, why, sizeof(why));
	if (r < 0)
		log_error("%s", why);
	else
		r = open_parts(c);
	if (r < 0) {
		contention_close(c);
		return r;
	}
	*state = c;
	return 0;
}

static int contention_start(void *state)
{
	struct contention *c = state;

	stack_roles_reset(c->roles);
	waits_reset(c->waits);
	c->strange = 0;
	return perf_rings_start(c->rings);
}

static int contention_stop(void *state)
{
	struct contention *c = state;

	return perf_rings_stop(c->rings);
}

static void fill(struct lock_figure *f, const struct stack_sum *sum, const void *context)
{
	if (f->contentions < 0)
		f->contentions = f->wait = 0;
	f->contentions += (double)sum->count;
	f->wait += sum->wait;
}

static double wait_of(const struct stack_sum *sum)
{
	return sum->wait;
}

static void write_note(const struct contention *c, struct lock_figures *out)
{
	const char *kind = settings_spinlock_kind();
	struct waits_rest rest;
	int n = 0;

	waits_rest(c->waits, &rest);
	if (!strcmp(kind, "test-and-set"))
		n = snprintf(out->note, sizeof(out->note),
		             "spinlocks are test-and-set here: waits for them give no events; ");
	snprintf(out->note + n, sizeof(out->note) - (size_t)n,
	         "%llu waits began before, %llu had not ended", (unsigned long long)rest.ends,
	         (unsigned long long)rest.begins);
}

static int contention_read(void *state, struct lock_figures *out)
{
	struct contention *c = state;
	struct perf_loss loss;
	int r = stack_roles_figures(c->roles, out, fill, NULL);

	if (r >= 0)
		r = stack_roles_unresolved(c->roles, out, wait_of);
	if (r < 0) {
		log_error("contention: out of memory");
		return r;
	}
	perf_rings_loss(c->rings, &loss);
	out->dropped = loss.lost + loss.throttled + loss.damaged + c->strange;
	write_note(c, out);
	return 0;
}

const struct source source_contention = {
	.name = "contention",
	.gives = "contentions and wait times by role",
	.check = contention_check,
	.open = contention_open,
	.start = contention_start,
	.stop = contention_stop,
	.read = contention_read,
	.close = contention_close,
};
