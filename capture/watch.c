/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The second instance, and the mappings that were read and not yet asked for. */

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "capture/buffers.h"
#include "capture/maps.h"
#include "capture/watch.h"
#include "common/cleanup.h"

#define BUFFER_BYTES (64u << 10) /* per CPU: some hundred execs */
#define PENDING_MAX 512
/* An exec has one time in each instance; an interrupt may lie in between. */
#define SAME_EXEC_NS 2000000

struct pending {
	struct trace_maps maps; /* time: of the exec in this instance */
};

struct watch {
	const struct points *points;
	struct instance *instance;
	struct buffers *buffers;
	struct siphash_key key;
	int epoll_fd;
	struct pending pending[PENDING_MAX];
	unsigned count; /* oldest first */
};

static int set_up(struct watch *w, struct journal *journal, uint32_t task)
{
	const struct buffers_options options = { .plain_reads = true };
	int r = instance_new(&w->instance, journal, BUFFER_BYTES);

	if (r >= 0)
		r = buffers_new(&w->buffers, w->instance, &options);
	if (r < 0)
		return r;
	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	r = w->epoll_fd < 0 ? error_errno() : buffers_watch(w->buffers, w->epoll_fd);
	if (r >= 0)
		r = instance_follow_task(w->instance, task);
	if (r >= 0)
		r = points_enable_kind(w->points, w->instance, EVENT_EXEC);
	return r < 0 ? r : instance_on(w->instance, true);
}

int watch_new(struct watch **out, const struct points *points, struct journal *journal,
              uint32_t task, const struct siphash_key *key)
{
	struct watch *w = calloc(1, sizeof(*w));
	int r;

	if (!w)
		return -ENOMEM;
	w->points = points;
	w->key = *key;
	w->epoll_fd = -1;
	r = set_up(w, journal, task);
	if (r < 0) {
		watch_free(w);
		return r;
	}
	*out = w;
	return 0;
}

struct watch *watch_free(struct watch *w)
{
	if (!w)
		return NULL;
	for (unsigned i = 0; i < w->count; i++)
		maps_clear(&w->pending[i].maps);
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	buffers_free(w->buffers);
	instance_free(w->instance);
	free(w);
	return NULL;
}

int watch_fd(const struct watch *w)
{
	return w->epoll_fd;
}

static void pending_remove(struct watch *w, unsigned i)
{
	memmove(w->pending + i, w->pending + i + 1, (--w->count - i) * sizeof(w->pending[0]));
}

static int snapshot(struct watch *w, const struct merge_item *item)
{
	struct trace_maps maps = { .time = item->time, .flags = MAPS_READ_LATE };
	struct point_record rec;
	int r;

	if (points_decode(w->points, item->data, item->size, &rec) ||
	    rec.event.kind != EVENT_EXEC || !rec.text)
		return 0;
	maps.process = rec.event.task;
	r = maps_read(&maps, maps.process, &w->key);
	if (r != 0)
		return r < 0 ? r : 0;
	/* The process may have gone on to another program meanwhile. */
	if (!maps_process_runs(maps.process, rec.text, rec.text_size)) {
		maps_clear(&maps);
		return 0;
	}
	if (w->count == PENDING_MAX) {
		maps_clear(&w->pending[0].maps);
		pending_remove(w, 0);
	}
	w->pending[w->count++].maps = maps;
	return 0;
}

int watch_take(struct watch *w)
{
	struct merge_item item;
	int r = buffers_fill(w->buffers, true);

	/* A gap is no matter: such an exec is looked at when the recording meets it. */
	while (r >= 0 && (r = buffers_next(w->buffers, &item)) > 0)
		if (r == MERGE_RECORD)
			r = snapshot(w, &item);
	return r;
}

int watch_find(struct watch *w, uint32_t task, uint64_t time, struct trace_maps *out)
{
	for (unsigned i = 0; i < w->count; i++) {
		const struct trace_maps *maps = &w->pending[i].maps;
		uint64_t apart = maps->time > time ? maps->time - time : time - maps->time;

		if (maps->process != task || apart > SAME_EXEC_NS)
			continue;
		*out = *maps;
		out->time = time;
		pending_remove(w, i);
		return 0;
	}
	return 1;
}
