/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which way pages are read, and the plain way. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/drain.h"
#include "capture/uring.h"
#include "common/log.h"

struct drain {
	struct page_queue *queues;
	unsigned count;
	struct uring *uring; /* NULL: plain reads */
	bool proven; /* io_uring has worked once */
};

static const char *refusal(int error)
{
	switch (error) {
	case -ENOSYS:
		return "this kernel has no io_uring";
	case -EPERM:
	case -EACCES:
		return "io_uring is switched off (sysctl kernel.io_uring_disabled or seccomp)";
	case -ENOMEM:
		return "io_uring gets no locked memory (ulimit -l)";
	default:
		return strerror(-error);
	}
}

static void fall_back(struct drain *d, int error)
{
	log_info("%s: draining with plain reads", refusal(error));
	d->uring = uring_free(d->uring);
}

int drain_new(struct drain **out, struct page_queue *queues, unsigned count, bool plain)
{
	struct drain *d = calloc(1, sizeof(*d));
	int r;

	if (!d)
		return -ENOMEM;
	d->queues = queues;
	d->count = count;
	if (!plain) {
		r = uring_new(&d->uring, count);
		if (r < 0)
			fall_back(d, r);
	}
	*out = d;
	return 0;
}

struct drain *drain_free(struct drain *d)
{
	if (!d)
		return NULL;
	uring_free(d->uring);
	free(d);
	return NULL;
}

static int fill_plain(struct page_queue *q)
{
	q->more = true;
	while (q->count < q->slots) {
		ssize_t n = read(q->fd, page_queue_slot(q, q->count), q->page_bytes);

		if (n > 0) {
			q->count++;
			continue;
		}
		if (n < 0 && errno == EINTR)
			continue;
		q->more = false;
		return n == 0 || errno == EAGAIN ? 0 : error_errno();
	}
	return 0;
}

int drain_fill(struct drain *d)
{
	int r;

	if (d->uring) {
		r = uring_fill(d->uring, d->queues, d->count);
		if (r >= 0) {
			d->proven = true;
			return 0;
		}
		/* Refused by this kernel for these files; what was read is in the queues. */
		if (d->proven)
			return r;
		fall_back(d, r);
	}
	for (unsigned i = 0; i < d->count; i++) {
		r = fill_plain(&d->queues[i]);
		if (r < 0)
			return r;
	}
	return 0;
}

bool drain_uses_io_uring(const struct drain *d)
{
	return d->uring;
}
