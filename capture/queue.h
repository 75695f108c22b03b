/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Raw ring-buffer pages of one CPU that were read and are not yet handled. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

struct page_queue {
	int fd; /* non-blocking */
	unsigned cpu;
	uint8_t *pages;
	size_t page_bytes;
	unsigned slots, head, count;
	bool more; /* reading stopped for want of room: the kernel may have more */
};

static inline uint8_t *page_queue_slot(const struct page_queue *q, unsigned i)
{
	return q->pages + (size_t)((q->head + i) % q->slots) * q->page_bytes;
}

static inline void page_queue_pop(struct page_queue *q)
{
	q->head = (q->head + 1) % q->slots;
	q->count--;
}
