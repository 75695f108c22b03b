/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each CPU gets a chain of linked reads, one page each, so that its pages
 * arrive in order and all CPUs are read with one system call. The descriptors
 * are non-blocking: a read that finds data completes while it is submitted.
 * One that finds none either fails with EAGAIN or, on most kernels, stays armed
 * until there is data; it is cancelled then, and its chain with it.
 */

#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#include "capture/uring.h"

#define CHAIN 32 /* pages of a CPU per submission */
#define QUEUES_AT_ONCE 64
#define CANCEL_MARK (1ULL << 63)

/* What is under way for one queue of the current batch. */
struct chain {
	unsigned submitted, completed;
	unsigned pages; /* read */
	bool cancelling;
	bool ended; /* saw the end of data */
};

struct uring {
	struct io_uring ring;
	struct chain chains[QUEUES_AT_ONCE];
	unsigned in_flight; /* reads and cancellations */
	int error;
};

int uring_new(struct uring **out, unsigned queues)
{
	unsigned at_once = queues < QUEUES_AT_ONCE ? queues : QUEUES_AT_ONCE;
	struct uring *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	/* Room for every chain and one cancellation per chain. */
	r = io_uring_queue_init(at_once * (CHAIN + 1), &u->ring, 0);
	if (r < 0) {
		free(u);
		return r;
	}
	*out = u;
	return 0;
}

struct uring *uring_free(struct uring *u)
{
	if (!u)
		return NULL;
	io_uring_queue_exit(&u->ring);
	free(u);
	return NULL;
}

static void chain_begin(struct uring *u, const struct page_queue *q, unsigned index)
{
	struct chain *c = &u->chains[index];
	unsigned room = q->slots - q->count;
	unsigned length = room < CHAIN ? room : CHAIN;

	*c = (struct chain){ 0 };
	for (unsigned i = 0; i < length; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);

		if (!sqe)
			break;
		io_uring_prep_read(sqe, q->fd, page_queue_slot(q, q->count + i),
		                   (unsigned)q->page_bytes, (uint64_t)-1);
		io_uring_sqe_set_data64(sqe, (uint64_t)index << 16 | i);
		if (i + 1 < length)
			sqe->flags |= IOSQE_IO_LINK;
		c->submitted++;
		u->in_flight++;
	}
}

static void complete(struct uring *u, const struct io_uring_cqe *cqe)
{
	uint64_t data = io_uring_cqe_get_data64(cqe);
	struct chain *c = &u->chains[(data & ~CANCEL_MARK) >> 16];

	u->in_flight--;
	if (data & CANCEL_MARK) {
		c->cancelling = false;
		return;
	}
	c->completed++;
	if (cqe->res > 0) {
		c->pages++;
		return;
	}
	c->ended = true;
	if (cqe->res < 0 && cqe->res != -EAGAIN && cqe->res != -ECANCELED && !u->error)
		u->error = cqe->res;
}

static void reap(struct uring *u)
{
	struct io_uring_cqe *cqe;

	while (io_uring_peek_cqe(&u->ring, &cqe) == 0) {
		complete(u, cqe);
		io_uring_cqe_seen(&u->ring, cqe);
	}
}

/* Reads of a chain complete in order: the first that has not is the armed one. */
static void cancel_armed(struct uring *u, unsigned queues)
{
	for (unsigned i = 0; i < queues; i++) {
		struct chain *c = &u->chains[i];
		struct io_uring_sqe *sqe;

		if (c->completed == c->submitted || c->cancelling)
			continue;
		sqe = io_uring_get_sqe(&u->ring);
		if (!sqe)
			return;
		io_uring_prep_cancel64(sqe, (uint64_t)i << 16 | c->completed, 0);
		io_uring_sqe_set_data64(sqe, CANCEL_MARK | (uint64_t)i << 16);
		c->cancelling = true;
		u->in_flight++;
	}
}

static int run_chains(struct uring *u, unsigned queues)
{
	int r = io_uring_submit(&u->ring);

	if (r < 0)
		return r;
	reap(u);
	while (u->in_flight) {
		cancel_armed(u, queues);
		r = io_uring_submit_and_wait(&u->ring, 1);
		if (r < 0 && r != -EINTR)
			return r;
		reap(u);
	}
	return u->error;
}

static int fill_batch(struct uring *u, struct page_queue *queues, unsigned count)
{
	bool again = true;
	int r = 0;

	for (unsigned i = 0; i < count; i++)
		queues[i].more = true;
	while (again && r >= 0) {
		for (unsigned i = 0; i < count; i++) {
			u->chains[i] = (struct chain){ 0 };
			if (queues[i].more && queues[i].count < queues[i].slots)
				chain_begin(u, &queues[i], i);
		}
		r = run_chains(u, count);
		again = false;
		for (unsigned i = 0; i < count; i++) {
			queues[i].count += u->chains[i].pages;
			if (u->chains[i].ended)
				queues[i].more = false;
			again |= queues[i].more && queues[i].count < queues[i].slots;
		}
	}
	return r;
}

int uring_fill(struct uring *u, struct page_queue *queues, unsigned count)
{
	u->error = 0;
	for (unsigned i = 0; i < count; i += QUEUES_AT_ONCE) {
		unsigned n = count - i < QUEUES_AT_ONCE ? count - i : QUEUES_AT_ONCE;
		int r = fill_batch(u, queues + i, n);

		if (r < 0)
			return r;
	}
	return 0;
}
