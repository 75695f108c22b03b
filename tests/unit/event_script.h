/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An array of events as a source, for tests of what consumes a trace. Times are positions. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "traces/source.h"

struct script {
	struct event *events;
	size_t count, room, at;
	struct trace_loss losses[4];
	size_t loss_count;
};

static inline int script_next(void *from, const struct event **out)
{
	struct script *s = from;

	if (s->at == s->count)
		return 0;
	*out = &s->events[s->at++];
	return 1;
}

static inline struct event_source script_source(struct script *s)
{
	s->at = 0;
	return (struct event_source){ script_next, s, s->losses, s->loss_count };
}

static inline struct event *script_event(struct script *s, unsigned kind, uint32_t task, uint64_t a,
                                         uint64_t b)
{
	if (s->count == s->room) {
		s->room = s->room ? s->room * 2 : 64;
		s->events = realloc(s->events, s->room * sizeof(*s->events));
		assert_non_null(s->events);
	}
	s->events[s->count] = (struct event){
		.time = s->count, .arg = { a, b }, .task = task, .kind = (uint16_t)kind
	};
	return &s->events[s->count++];
}

/* The sides of a call that are recorded. args: EVENT_MAX_ARGS of them. */
static inline void script_call(struct script *s, enum call call, uint32_t task,
                               const uint64_t *args, uint64_t result)
{
	if (call_recorded(call) != CALL_LEAVE_ONLY)
		memcpy(script_event(s, EVENT_ENTER(call), task, 0, 0)->arg, args,
		       EVENT_MAX_ARGS * sizeof(*args));
	if (call_recorded(call) != CALL_ENTER_ONLY)
		script_event(s, EVENT_LEAVE(call), task, result, 0);
}

#define SCRIPT_CALL(s, call, task, result, ...)                                                    \
	script_call((s), (call), (task), (const uint64_t[EVENT_MAX_ARGS]){ __VA_ARGS__ }, (result))

static inline void script_clear(struct script *s)
{
	free(s->events);
	*s = (struct script){ 0 };
}
