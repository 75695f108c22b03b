/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Per-CPU queues of an instance and the account of its losses. */

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "capture/buffers.h"
#include "capture/drain.h"
#include "common/log.h"

#define HELD_PER_CPU_MAX (4u << 20)

struct cpu_account {
	uint64_t told; /* lost events that gaps have accounted for */
	uint64_t last; /* time of the last record */
};

struct buffers {
	struct instance *instance;
	struct page_queue *queues;
	struct cpu_account *accounts; /* by CPU number */
	unsigned count; /* of queues */
	unsigned cpus;
	unsigned remaining; /* next CPU to look at for remaining loss */
	struct drain *drain;
	struct merge *merge;
	uint64_t until;
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

struct buffers *buffers_free(struct buffers *b)
{
	if (!b)
		return NULL;
	drain_free(b->drain);
	merge_free(b->merge);
	for (unsigned i = 0; i < b->count; i++) {
		close(b->queues[i].fd);
		free(b->queues[i].pages);
	}
	free(b->queues);
	free(b->accounts);
	free(b);
	return NULL;
}

/* One descriptor per CPU: more than the usual limit on large machines. */
static void raise_descriptor_limit(unsigned cpus)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= cpus + 64)
		return;
	limit.rlim_cur = limit.rlim_max < cpus + 64 ? limit.rlim_max : cpus + 64;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		log_warn("only %llu open files are allowed: too few for %u CPUs",
		         (unsigned long long)limit.rlim_cur, cpus);
}

static int queue_open(struct buffers *b, unsigned cpu, size_t bytes)
{
	struct page_queue *q = &b->queues[b->count];
	int fd = instance_open_raw(b->instance, cpu);

	if (fd == -ENOENT || fd == -ENODEV || fd == -ENXIO)
		return 0; /* no such CPU after all */
	if (fd < 0) {
		log_error("tracefs instances/%s/per_cpu/cpu%u/trace_pipe_raw: %s",
		          instance_name(b->instance), cpu, strerror(-fd));
		return fd;
	}
	*q = (struct page_queue){ .fd = fd, .cpu = cpu };
	q->page_bytes = instance_page_bytes(b->instance);
	q->slots = (unsigned)(bytes / q->page_bytes);
	if (q->slots < 4)
		q->slots = 4;
	q->pages = malloc(q->slots * q->page_bytes);
	b->count++;
	return q->pages ? 0 : -ENOMEM;
}

static int open_all(struct buffers *b, const struct buffers_options *options)
{
	size_t bytes = options->held_bytes / b->cpus;
	int r = 0;

	if (bytes > HELD_PER_CPU_MAX)
		bytes = HELD_PER_CPU_MAX;
	raise_descriptor_limit(b->cpus);
	for (unsigned cpu = 0; cpu < b->cpus && r >= 0; cpu++) {
		b->accounts[cpu].last = options->start;
		r = queue_open(b, cpu, bytes);
	}
	if (r >= 0)
		r = merge_new(&b->merge, b->queues, b->count, options->start);
	if (r >= 0)
		r = drain_new(&b->drain, b->queues, b->count, options->plain_reads);
	return r;
}

int buffers_new(struct buffers **out, struct instance *instance,
                const struct buffers_options *options)
{
	struct buffers *b = calloc(1, sizeof(*b));
	int r = -ENOMEM;

	if (!b)
		return -ENOMEM;
	b->instance = instance;
	b->cpus = instance_cpus(instance);
	b->queues = calloc(b->cpus, sizeof(*b->queues));
	b->accounts = calloc(b->cpus, sizeof(*b->accounts));
	if (b->cpus && b->queues && b->accounts)
		r = open_all(b, options);
	if (r < 0) {
		buffers_free(b);
		return r;
	}
	*out = b;
	return 0;
}

int buffers_fill(struct buffers *b, bool last)
{
	uint64_t began = last ? UINT64_MAX : now_ns();
	int r = drain_fill(b->drain);

	if (r < 0) {
		log_error("reading tracefs instances/%s: %s", instance_name(b->instance),
		          strerror(-r));
		return r;
	}
	b->until = merge_begin_round(b->merge, began);
	return 0;
}

/* The kernel did not say how many: what its counter moved, at least 1. */
static uint64_t count_unknown(struct buffers *b, unsigned cpu)
{
	uint64_t overrun;

	if (instance_overrun(b->instance, cpu, &overrun) < 0 || overrun <= b->accounts[cpu].told)
		return 1;
	return overrun - b->accounts[cpu].told;
}

int buffers_next(struct buffers *b, struct merge_item *out)
{
	int r = merge_next(b->merge, b->until, out);

	if (r == MERGE_GAP) {
		if (!out->missed)
			out->missed = count_unknown(b, out->cpu);
		b->accounts[out->cpu].told += out->missed;
	}
	if (r == MERGE_RECORD)
		b->accounts[out->cpu].last = out->time;
	return r;
}

bool buffers_more(const struct buffers *b)
{
	for (unsigned i = 0; i < b->count; i++)
		if (b->queues[i].more)
			return true;
	return false;
}

int buffers_remaining_loss(struct buffers *b, struct merge_item *out)
{
	while (b->remaining < b->cpus) {
		unsigned cpu = b->remaining++;
		uint64_t overrun;

		if (instance_overrun(b->instance, cpu, &overrun) < 0 ||
		    overrun <= b->accounts[cpu].told)
			continue;
		*out = (struct merge_item){ .cpu = cpu,
			                    .time = now_ns(),
			                    .since = b->accounts[cpu].last,
			                    .missed = overrun - b->accounts[cpu].told };
		return 1;
	}
	return 0;
}

int buffers_watch(const struct buffers *b, int epoll_fd)
{
	for (unsigned i = 0; i < b->count; i++) {
		struct epoll_event event = { .events = EPOLLIN };

		if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, b->queues[i].fd, &event) < 0)
			return error_errno();
	}
	return 0;
}

bool buffers_use_io_uring(const struct buffers *b)
{
	return drain_uses_io_uring(b->drain);
}
