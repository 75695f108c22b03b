/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events of any kind in any order through every model of traces/: pairing,
 * lineage, descriptors, spaces, shapes. Records of 16 bytes are kind, task,
 * six arguments of two bytes, two bytes of time; see make-survey-seeds.
 */

#include <stdlib.h>

#include "common/bytes.h"
#include "fuzz.h"
#include "traces/budget.h"
#include "traces/survey.h"

#define RECORD 16
#define TASKS 24
#define BASE 0x7f0000000000ULL
#define PAGE 0x1000ULL
#define HUGE_PAGE 0x200000ULL

struct input {
	const uint8_t *data;
	size_t left;
	struct event event;
};

/* Values near what matters, from a class and a byte. */
static uint64_t value_of(uint8_t class, uint8_t v)
{
	switch (class % 8) {
	case 0:
		return v;
	case 1:
		return BASE + v * PAGE;
	case 2:
		return BASE + v * HUGE_PAGE;
	case 3:
		return v * PAGE;
	case 4:
		return v * HUGE_PAGE;
	case 5:
		return 0 - (uint64_t)v;
	case 6:
		return 1ULL << v % 64;
	default:
		return (uint64_t)v * 0x0101010101010101ULL;
	}
}

static int input_next(void *from, const struct event **out)
{
	struct input *in = from;
	const uint8_t *p = in->data;
	uint64_t time = in->event.time;

	if (in->left < RECORD)
		return 0;
	in->event = (struct event){ .kind = p[0], .task = p[1] % TASKS };
	for (unsigned i = 0; i < EVENT_MAX_ARGS; i++)
		in->event.arg[i] = value_of(p[2 + 2 * i], p[3 + 2 * i]);
	if (in->event.kind == EVENT_NEWTASK || in->event.kind == EVENT_EXEC)
		in->event.arg[0] %= TASKS;
	in->event.time = time + load_le16(p + 14);
	in->data += RECORD;
	in->left -= RECORD;
	*out = &in->event;
	return 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const thp[] = { "always", "madvise", "never" };
	struct input in = { .data = data, .left = size };
	const struct trace_loss loss = { .from = 5000, .to = 6000 };
	const struct event_source source = { input_next, &in, &loss, size % 2 };
	struct trace_meta *meta = NULL;
	struct survey *s = NULL;
	size_t before = budget_taken();

	if (trace_meta_new(&meta) < 0 || trace_meta_set(meta, META_THP, thp[size % 3]) < 0 ||
	    trace_meta_set(meta, META_KERNEL, size % 5 ? "6.18.1" : "6.1.9") < 0)
		abort();
	if (survey_run_source(&source, meta, NULL, 0, &s) < 0)
		abort();
	if (s->events != size / RECORD || s->lineage.alive > s->tasks ||
	    s->lineage.alive > s->lineage.alive_peak || s->calls.abandoned > s->calls.unfinished)
		abort();
	survey_free(s);
	trace_meta_free(meta);
	/* Full nodes are kept for good; all else is given back. */
	if (budget_taken() > before + (1 << 16))
		abort();
	return 0;
}
