/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The second instance, its thread, and the mappings that were read and not yet
 * asked for. A failure of the thread costs freshness, not the recording: the
 * mappings are then read when the recording meets the exec.
 */

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "capture/buffers.h"
#include "capture/maps.h"
#include "capture/watch.h"
#include "common/cleanup.h"

#define BUFFER_BYTES (64u << 10) /* per CPU: some hundred execs */
#define PENDING_MAX 512
/* An exec has one time in each instance; an interrupt may lie in between. */
#define SAME_EXEC_NS 2000000

struct watch {
	const struct points *points;
	struct instance *instance;
	struct buffers *buffers;
	struct siphash_key key;
	int epoll_fd, stop_fd;
	bool running;
	pthread_t thread;
	pthread_mutex_t lock; /* of what follows */
	struct trace_maps
		pending[PENDING_MAX]; /* oldest first; time: of the exec in this instance */
	unsigned count;
};

static void pending_remove(struct watch *w, unsigned i)
{
	memmove(w->pending + i, w->pending + i + 1, (--w->count - i) * sizeof(w->pending[0]));
}

static void pending_add(struct watch *w, const struct trace_maps *maps)
{
	pthread_mutex_lock(&w->lock);
	if (w->count == PENDING_MAX) {
		maps_clear(&w->pending[0]);
		pending_remove(w, 0);
	}
	w->pending[w->count++] = *maps;
	pthread_mutex_unlock(&w->lock);
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
	if (maps_process_runs(maps.process, rec.text, rec.text_size))
		pending_add(w, &maps);
	else
		maps_clear(&maps);
	return 0;
}

static int take(struct watch *w)
{
	struct merge_item item;
	int r = buffers_fill(w->buffers, true);

	/* A gap is no matter: such an exec is looked at when the recording meets it. */
	while (r >= 0 && (r = buffers_next(w->buffers, &item)) > 0)
		if (r == MERGE_RECORD)
			r = snapshot(w, &item);
	return r;
}

static void hurry(void)
{
	struct sched_param param = { .sched_priority = 1 };

	if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &param))
		setpriority(PRIO_PROCESS, 0, -20);
}

static void *run(void *arg)
{
	struct watch *w = arg;
	struct epoll_event event;

	hurry();
	for (;;) {
		int n = epoll_wait(w->epoll_fd, &event, 1, -1);

		if (n < 0 && errno != EINTR)
			return NULL;
		if (n > 0 && event.data.ptr == w)
			return NULL;
		if (n > 0 && take(w) < 0)
			return NULL;
	}
}

static int set_up_wakeups(struct watch *w)
{
	struct epoll_event stop = { .events = EPOLLIN, .data.ptr = w };

	w->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	w->stop_fd = eventfd(0, EFD_CLOEXEC);
	if (w->epoll_fd < 0 || w->stop_fd < 0 ||
	    epoll_ctl(w->epoll_fd, EPOLL_CTL_ADD, w->stop_fd, &stop) < 0)
		return error_errno();
	return buffers_watch(w->buffers, w->epoll_fd);
}

static int set_up(struct watch *w, struct journal *journal, uint32_t task)
{
	const struct buffers_options options = { .plain_reads = true };
	int r = instance_new(&w->instance, journal, BUFFER_BYTES);

	if (r >= 0)
		r = buffers_new(&w->buffers, w->instance, &options);
	if (r >= 0)
		r = set_up_wakeups(w);
	if (r >= 0)
		r = instance_follow_task(w->instance, task);
	if (r >= 0)
		r = points_enable_kind(w->points, w->instance, EVENT_EXEC);
	if (r >= 0)
		r = -pthread_create(&w->thread, NULL, run, w);
	if (r < 0)
		return r;
	w->running = true;
	return instance_on(w->instance, true);
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
	w->epoll_fd = w->stop_fd = -1;
	pthread_mutex_init(&w->lock, NULL);
	r = set_up(w, journal, task);
	if (r < 0) {
		watch_free(w);
		return r;
	}
	*out = w;
	return 0;
}

static void stop(struct watch *w)
{
	const uint64_t one = 1;

	if (!w->running)
		return;
	/* An eventfd with nothing in it takes a 1 at once. */
	if (write(w->stop_fd, &one, sizeof(one)) == sizeof(one))
		pthread_join(w->thread, NULL);
	w->running = false;
}

struct watch *watch_free(struct watch *w)
{
	if (!w)
		return NULL;
	stop(w);
	for (unsigned i = 0; i < w->count; i++)
		maps_clear(&w->pending[i]);
	if (w->epoll_fd >= 0)
		close(w->epoll_fd);
	if (w->stop_fd >= 0)
		close(w->stop_fd);
	buffers_free(w->buffers);
	instance_free(w->instance);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

int watch_find(struct watch *w, uint32_t task, uint64_t time, struct trace_maps *out)
{
	int r = 1;

	pthread_mutex_lock(&w->lock);
	for (unsigned i = 0; i < w->count && r > 0; i++) {
		const struct trace_maps *maps = &w->pending[i];
		uint64_t apart = maps->time > time ? maps->time - time : time - maps->time;

		if (maps->process != task || apart > SAME_EXEC_NS)
			continue;
		*out = *maps;
		out->time = time;
		pending_remove(w, i);
		r = 0;
	}
	pthread_mutex_unlock(&w->lock);
	return r;
}
