/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perf events on every CPU. All events of a CPU write to the ring of the first
 * (PERF_EVENT_IOC_SET_OUTPUT), so their order is kept.
 */

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "capture/perf_event.h"
#include "capture/perf_rings.h"
#include "common/cleanup.h"
#include "common/log.h"

/* A ring with less room than that may have had none for the next sample. */
#define SAMPLE_ROOM 4096

struct ring {
	uint32_t cpu;
	int fds[PERF_RINGS_EVENTS];
	struct perf_event_mmap_page *map; /* one page, then the ring */
	uint64_t lost_before[PERF_RINGS_EVENTS];
};

struct perf_rings {
	struct perf_rings_options options;
	struct perf_event_attr events[PERF_RINGS_EVENTS];
	bool counts_lost; /* reading an event tells what it lost (6.0) */
	struct ring *rings;
	size_t count, bytes;
	struct pollfd *polled;
	int stop_fd;
	pthread_t thread;
	bool running;
	uint64_t round_began;
	struct perf_loss loss;
	int error; /* of the thread's callbacks */
};

static size_t ring_bytes(size_t wanted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = page;

	while (bytes < wanted && bytes * 2 <= PERF_RINGS_MEMORY / perf_event_cpus())
		bytes *= 2;
	return bytes;
}

/* The events of one CPU; -ENODEV: it is offline. */
static int ring_open(struct perf_rings *r, struct ring *ring, size_t page)
{
	void *map;

	for (size_t i = 0; i < r->options.count; i++) {
		ring->fds[i] = perf_event_open_on(&r->events[i], ring->cpu);
		if (ring->fds[i] < 0)
			return ring->fds[i];
		if (i > 0 && ioctl(ring->fds[i], PERF_EVENT_IOC_SET_OUTPUT, ring->fds[0]) < 0)
			return error_errno();
		if (i > 0)
			continue;
		map = mmap(NULL, page + r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fds[0],
		           0);
		if (map == MAP_FAILED)
			return error_errno();
		ring->map = map;
	}
	return 0;
}

static void ring_close(struct ring *ring, size_t bytes)
{
	for (size_t i = 0; i < PERF_RINGS_EVENTS; i++)
		if (ring->fds[i] >= 0)
			close(ring->fds[i]);
	if (ring->map)
		munmap(ring->map, bytes);
}

static int open_all(struct perf_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint32_t cpus = perf_event_cpus();

	r->rings = calloc(cpus, sizeof(*r->rings));
	r->polled = calloc(cpus + 1, sizeof(*r->polled));
	if (!r->rings || !r->polled)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < cpus; cpu++) {
		struct ring *ring = &r->rings[r->count];
		int ret;

		*ring = (struct ring){ .cpu = cpu, .fds = { -1, -1 } };
		ret = ring_open(r, ring, page);
		if (ret < 0)
			ring_close(ring, page + r->bytes);
		if (ret < 0 && ret != -ENODEV)
			return ret;
		if (ret == 0)
			r->polled[++r->count] = (struct pollfd){ ring->fds[0], POLLIN, 0 };
	}
	r->polled[0] = (struct pollfd){ r->stop_fd, POLLIN, 0 };
	return r->count ? 0 : -ENODEV;
}

/* Whether this kernel tells how much an event lost; otherwise its records must do. */
static void ask_for_lost(struct perf_rings *r)
{
	struct perf_event_attr event = r->events[0];

	event.read_format |= PERF_FORMAT_LOST;
	r->counts_lost = perf_event_try(&event) == 0;
	for (size_t i = 0; r->counts_lost && i < r->options.count; i++)
		r->events[i].read_format |= PERF_FORMAT_LOST;
}

int perf_rings_new(struct perf_rings **out, const struct perf_rings_options *options)
{
	struct perf_rings *r;
	char why[256];
	int ret;

	if (!options->count || options->count > PERF_RINGS_EVENTS)
		return -EINVAL;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->options = *options;
	r->bytes = ring_bytes(options->bytes);
	for (size_t i = 0; i < options->count; i++) {
		r->events[i] = options->events[i];
		r->events[i].wakeup_watermark = (uint32_t)(r->bytes / 2);
	}
	ask_for_lost(r);
	r->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ret = r->stop_fd < 0 ? error_errno() : open_all(r);
	if (ret < 0) {
		perf_event_explain(ret, why, sizeof(why));
		log_error("%s", why);
		perf_rings_free(r);
		return ret;
	}
	*out = r;
	return 0;
}

struct perf_rings *perf_rings_free(struct perf_rings *r)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!r)
		return NULL;
	if (r->running && perf_rings_stop(r) < 0)
		log_error("perf events: not ended as they should");
	for (size_t i = 0; i < r->count; i++)
		ring_close(&r->rings[i], page + r->bytes);
	if (r->stop_fd >= 0)
		close(r->stop_fd);
	free(r->rings);
	free(r->polled);
	free(r);
	return NULL;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The kernel writes data_head behind the data; data_tail gives the room back (perf_event.h). */
static int ring_drain(struct perf_rings *r, struct ring *ring)
{
	struct perf_walk walk = { .sample_type = r->events[0].sample_type,
		                  .cpu = ring->cpu,
		                  .sample = r->options.sample,
		                  .context = r->options.context };
	uint64_t tail = ring->map->data_tail;
	uint64_t head = __atomic_load_n(&ring->map->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)ring->map + sysconf(_SC_PAGESIZE);
	int ret = 0;

	if (r->error == 0)
		ret = perf_ring_walk(data, r->bytes, tail, head, &walk, &r->loss);
	__atomic_store_n(&ring->map->data_tail, head, __ATOMIC_RELEASE);
	return ret;
}

static void drain_all(struct perf_rings *r, bool last)
{
	uint64_t until = last ? UINT64_MAX : r->round_began;

	r->round_began = now();
	for (size_t i = 0; i < r->count; i++) {
		int ret = ring_drain(r, &r->rings[i]);

		if (ret < 0 && r->error == 0)
			r->error = ret;
	}
	if (r->error == 0 && r->options.round)
		r->error = r->options.round(r->options.context, until);
}

static void *drain_thread(void *arg)
{
	struct perf_rings *r = arg;

	while (poll(r->polled, r->count + 1, -1) >= 0 || errno == EINTR) {
		if (r->polled[0].revents)
			return NULL;
		drain_all(r, false);
	}
	r->error = error_errno();
	return NULL;
}

/* Signals are the business of the threads that were there before. */
static int start_thread(struct perf_rings *r)
{
	sigset_t all, before;
	int ret;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	ret = pthread_create(&r->thread, NULL, drain_thread, r);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return -ret;
}

static uint64_t lost_of(int fd)
{
	uint64_t values[2] = { 0, 0 }; /* the count, then what was lost of it */

	return read(fd, values, sizeof(values)) == sizeof(values) ? values[1] : 0;
}

/* Later events first: what ends a thing is seen wherever its begin is. */
static int switch_events(struct perf_rings *r, unsigned long request)
{
	for (size_t k = r->options.count; k-- > 0;)
		for (size_t i = 0; i < r->count; i++)
			if (ioctl(r->rings[i].fds[k], request, 0) < 0)
				return error_errno();
	return 0;
}

/* What is left over from before is not of this time. */
static void discard(struct perf_rings *r)
{
	uint64_t drop;

	while (read(r->stop_fd, &drop, sizeof(drop)) > 0)
		;
	for (size_t i = 0; i < r->count; i++) {
		struct ring *ring = &r->rings[i];

		__atomic_store_n(&ring->map->data_tail,
		                 __atomic_load_n(&ring->map->data_head, __ATOMIC_ACQUIRE),
		                 __ATOMIC_RELEASE);
		for (size_t k = 0; r->counts_lost && k < r->options.count; k++)
			ring->lost_before[k] = lost_of(ring->fds[k]);
	}
	r->loss = (struct perf_loss){ 0 };
	r->error = 0;
	r->round_began = 0;
}

int perf_rings_start(struct perf_rings *r)
{
	int ret;

	discard(r);
	ret = start_thread(r);
	if (ret < 0) {
		log_error("perf events: no thread to read them: %s", strerror(-ret));
		return ret;
	}
	r->running = true;
	ret = switch_events(r, PERF_EVENT_IOC_ENABLE);
	if (ret < 0)
		log_error("perf events: cannot switch them on: %s", strerror(-ret));
	return ret;
}

/* Records tell of a loss only when a later one is written. */
static void count_lost(struct perf_rings *r)
{
	r->loss.lost = r->counts_lost ? 0 : r->loss.lost;
	for (size_t i = 0; i < r->count; i++)
		for (size_t k = 0; r->counts_lost && k < r->options.count; k++)
			r->loss.lost += lost_of(r->rings[i].fds[k]) - r->rings[i].lost_before[k];
}

/* Where the kernel does not count, a full ring is taken for one that lost something. */
static void suspect_full(struct perf_rings *r)
{
	for (size_t i = 0; !r->counts_lost && i < r->count; i++) {
		const struct perf_event_mmap_page *map = r->rings[i].map;

		if (r->bytes - (map->data_head - map->data_tail) < SAMPLE_ROOM)
			r->loss.lost++;
	}
}

int perf_rings_stop(struct perf_rings *r)
{
	uint64_t one = 1;
	int ret = switch_events(r, PERF_EVENT_IOC_DISABLE);

	if (write(r->stop_fd, &one, sizeof(one)) < 0 && ret == 0)
		ret = error_errno();
	if (r->running)
		pthread_join(r->thread, NULL);
	r->running = false;
	suspect_full(r);
	drain_all(r, true);
	count_lost(r);
	if (ret == 0)
		ret = r->error;
	if (ret < 0)
		log_error("perf events: reading them failed: %s", strerror(-ret));
	return ret;
}

void perf_rings_loss(const struct perf_rings *r, struct perf_loss *out)
{
	*out = r->loss;
}
