/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small trace in memory for tests of the file format: deterministic events on
 * several CPUs and one record of each type.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "traces/reader.h"
#include "traces/writer.h"

#define SAMPLE_CPUS 3

struct sample {
	int fd; /* a memfd */
	char path[40]; /* names it for open() */
	struct event *events; /* in the order they were written */
	size_t count;
};

static void sample_make_file(struct sample *s)
{
	s->fd = memfd_create("sample", MFD_CLOEXEC);
	assert_true(s->fd >= 0);
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
}

static void sample_event(struct event *e, size_t i)
{
	*e = (struct event){ .time = 5000 + i * 1000, .cpu = (uint32_t)(i * i % SAMPLE_CPUS) };
	e->task = (uint32_t)(100 + i % 5);
	if (i % 10 == 9) {
		e->kind = i % 20 == 9 ? EVENT_ENTER(CALL_MADVISE) : EVENT_LEAVE(CALL_MADVISE);
		e->arg[0] = i % 20 == 9 ? 0x7f0000000000 + i * 0x801000 : 0;
		e->arg[1] = i % 20 == 9 ? 0x7fb000 : 0;
		e->arg[2] = i % 20 == 9 ? 4 : 0;
	} else {
		e->kind = EVENT_FAULT_USER;
		e->arg[0] = 0x7f0000000000 + i * 4096;
		e->arg[1] = 6;
	}
}

static struct trace_meta *sample_meta(void)
{
	struct trace_meta *meta;

	assert_int_equal(trace_meta_new(&meta), 0);
	assert_int_equal(trace_meta_set(meta, META_KERNEL, "6.18.0"), 0);
	assert_int_equal(trace_meta_set_u64(meta, META_PAGE_SIZE, 4096), 0);
	assert_int_equal(trace_meta_set_u64(meta, META_TIME_BASE, 4000), 0);
	return meta;
}

static void sample_records(struct trace_writer *w)
{
	struct trace_map map = { 0x1000, 0x3000, 0x2000, 77, 5, MAP_KIND_FILE };
	struct trace_maps maps = { .time = 4500, .process = 100, .count = 1, .maps = &map };
	struct trace_name name = { .time = 4600, .task = 100, .name = "ld.lld" };
	struct trace_stat stat = { .time = 4700, .when = STAT_START };

	maps.flags = MAPS_READ_LATE;
	assert_int_equal(trace_meta_new(&stat.pairs), 0);
	assert_int_equal(trace_meta_set(stat.pairs, "pgfault", "123"), 0);
	assert_int_equal(trace_writer_maps(w, &maps), 0);
	assert_int_equal(trace_writer_name(w, &name), 0);
	assert_int_equal(trace_writer_stat(w, &stat), 0);
	trace_meta_free(stat.pairs);
}

/* `every` events a flush; with `lost` a loss record of that many; `whole`: with TAIL. */
static _unused_ void sample_write(struct sample *s, size_t count, size_t every, uint64_t lost,
                                  bool whole)
{
	struct trace_meta *meta = sample_meta();
	struct trace_tail tail = { .time = 99, .status = 256, .flags = TAIL_STATUS_KNOWN };
	struct trace_loss loss = {
		.events = lost, .from = 6000, .to = 7000, .cpu = 1, .reason = LOSS_RING
	};
	struct trace_writer *w;

	sample_make_file(s);
	s->events = calloc(count + 1, sizeof(*s->events));
	assert_non_null(s->events);
	s->count = count;
	assert_int_equal(trace_writer_new(&w, dup(s->fd), meta, NULL), 0);
	sample_records(w);
	for (size_t i = 0; i < count; i++) {
		sample_event(&s->events[i], i);
		assert_int_equal(trace_writer_event(w, &s->events[i]), 0);
		if (i % every == every - 1)
			assert_int_equal(trace_writer_flush(w), 0);
	}
	if (lost)
		assert_int_equal(trace_writer_loss(w, &loss), 0);
	tail.time = 5000 + count * 1000;
	if (whole)
		assert_int_equal(trace_writer_finish(w, &tail), 0);
	else
		assert_int_equal(trace_writer_flush(w), 0);
	trace_writer_free(w);
	trace_meta_free(meta);
}

static _unused_ void sample_clear(struct sample *s)
{
	free(s->events);
	close(s->fd);
}

/* The bytes of a sample's file; the caller frees. */
static _unused_ uint8_t *sample_bytes(const struct sample *s, size_t *len)
{
	off_t end = lseek(s->fd, 0, SEEK_END);
	uint8_t *bytes = malloc((size_t)end + 1);

	assert_non_null(bytes);
	assert_int_equal(pread(s->fd, bytes, (size_t)end, 0), end);
	*len = (size_t)end;
	return bytes;
}

/* A file of these bytes. */
static _unused_ void sample_of_bytes(struct sample *s, const uint8_t *bytes, size_t len)
{
	*s = (struct sample){ 0 };
	sample_make_file(s);
	assert_int_equal(pwrite(s->fd, bytes, len, 0), (ssize_t)len);
}

/*
 * Messages of the code under test are expected, and would bury the tests' own. Set LOUD to
 * see them, and where an assertion failed.
 */
static _unused_ int silence(void)
{
	return getenv("LOUD") || freopen("/dev/null", "w", stderr) ? 0 : -1;
}
