/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Traces for tests of the compiler: events are said one after the other, a
 * microsecond apart, written to a memory file and compiled. A plan is looked at
 * as text: each task's operations in a line, with addresses as distances from
 * ORIGIN, the place of the recorded address BASE.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "replay/plan_check.h"
#include "traces/writer.h"

#define BASE 0x7f0000000000ULL
#define ORIGIN CLUSTER_BASE
#define PAGE 4096ULL
#define ANON (MAP_PRIVATE | MAP_ANONYMOUS)
#define RW (PROT_READ | PROT_WRITE)

struct script {
	int fd;
	char path[40];
	struct trace_meta *meta;
	struct trace_writer *writer;
	struct compile_options options;
	uint64_t now;
	uint64_t seed; /* of a random stream */
	struct trace_reader *reader;
	struct plan plan;
};

static void script_begin(struct script *s)
{
	*s = (struct script){
		.now = 1000000,
		.plan.fd = -1,
		.options = { .rules = RULE_ALL, .max_tasks = 1000, .max_plan_bytes = 64 << 20 },
	};
	s->fd = memfd_create("script", MFD_CLOEXEC);
	assert_true(s->fd >= 0);
	snprintf(s->path, sizeof(s->path), "/proc/self/fd/%d", s->fd);
	assert_int_equal(trace_meta_new(&s->meta), 0);
	assert_int_equal(trace_meta_set(s->meta, META_KERNEL, "6.18.0"), 0);
	assert_int_equal(trace_meta_set(s->meta, META_THP, "always"), 0);
	assert_int_equal(trace_meta_set_u64(s->meta, META_PAGE_SIZE, PAGE), 0);
}

static void script_open(struct script *s)
{
	if (!s->writer)
		assert_int_equal(trace_writer_new(&s->writer, dup(s->fd), s->meta, NULL), 0);
}

static _unused_ void event(struct script *s, uint32_t task, unsigned kind, const uint64_t *arg,
                           size_t count)
{
	struct event e = { .time = s->now += 1000, .task = task, .kind = (uint16_t)kind };

	script_open(s);
	memcpy(e.arg, arg, count * sizeof(*arg));
	assert_int_equal(trace_writer_event(s->writer, &e), 0);
}

#define EVENT(s, task, kind, ...)                                                                  \
	event(s, task, kind, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)
#define ENTER(s, task, call, ...) EVENT(s, task, EVENT_ENTER(CALL_##call), __VA_ARGS__)
#define LEAVE(s, task, call, result) EVENT(s, task, EVENT_LEAVE(CALL_##call), (uint64_t)(result))
#define CALL(s, task, call, result, ...)                                                           \
	do {                                                                                       \
		ENTER(s, task, call, __VA_ARGS__);                                                 \
		LEAVE(s, task, call, result);                                                      \
	} while (0)

#define MAP(s, task, at, length) CALL(s, task, MMAP, at, 0, length, RW, ANON, -1, 0)
#define UNMAP(s, task, at, length) CALL(s, task, MUNMAP, 0, at, length)
#define WRITE(s, task, at) EVENT(s, task, EVENT_FAULT_USER, at, FAULT_USER | FAULT_WRITE)
#define READ(s, task, at) EVENT(s, task, EVENT_FAULT_USER, at, FAULT_USER)
#define THREAD_FLAGS 0x50f00 /* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM */
#define THREAD(s, task, child) EVENT(s, task, EVENT_NEWTASK, child, THREAD_FLAGS)
#define FORK(s, task, child) EVENT(s, task, EVENT_NEWTASK, child, 0x1200000)
#define VFORK(s, task, child) EVENT(s, task, EVENT_NEWTASK, child, 0x4100)
#define EXEC(s, task) EVENT(s, task, EVENT_EXEC, task)
#define EXIT(s, task) EVENT(s, task, EVENT_EXIT, 1)

static _unused_ int script_compile(struct script *s)
{
	struct trace_tail tail = { .time = s->now + 1 };

	script_open(s);
	if (!s->reader) {
		assert_int_equal(trace_writer_finish(s->writer, &tail), 0);
		s->writer = trace_writer_free(s->writer);
		assert_int_equal(trace_reader_new(&s->reader, s->path, 0), 0);
	}
	plan_release(&s->plan);
	return plan_compile(&s->plan, s->reader, &s->options);
}

static _unused_ void script_end(struct script *s)
{
	plan_release(&s->plan);
	trace_writer_free(s->writer);
	trace_reader_free(s->reader);
	trace_meta_free(s->meta);
	close(s->fd);
}

static _unused_ void show_address(FILE *out, uint64_t offset, uint32_t anchor)
{
	if (anchor)
		fprintf(out, " a%u+%llx", anchor, (unsigned long long)offset);
	else
		fprintf(out, " %llx", (unsigned long long)(offset - ORIGIN));
}

static _unused_ void show_op(FILE *out, const uint64_t *op)
{
	enum plan_kind kind = plan_head_kind(*op);
	unsigned flags = plan_head_flags(*op) & ~(unsigned)PLAN_NOTIFY;
	uint32_t index = plan_head_index(*op);

	if (kind == PLAN_WAIT) {
		fprintf(out, "wait %u:%u", (uint32_t)(*op >> 8) & 0xffffff, index);
		return;
	}
	fputs(plan_kind_name(kind), out);
	if (kind == PLAN_TIME) {
		fprintf(out, " %llu", (unsigned long long)(*op >> 8));
		return;
	}
	if (kind == PLAN_SPAWN || kind == PLAN_EXEC || kind == PLAN_WAIT_CHILD)
		fprintf(out, " %u", index);
	if (kind == PLAN_REFUSED)
		fprintf(out, " %s", call_name((unsigned)op[1]));
	if (kind >= PLAN_TOUCH && kind <= PLAN_MSEAL) {
		show_address(out, op[1], index);
		if (kind == PLAN_TOUCH_RUN)
			fprintf(out, " %ux%u", (uint32_t)op[2], (uint32_t)(op[2] >> 32));
		else if (kind != PLAN_TOUCH && kind != PLAN_BRK && kind != PLAN_SHMDT)
			fprintf(out, " %llx", (unsigned long long)op[2]);
	}
	if (kind == PLAN_MREMAP) {
		fprintf(out, " %llx", (unsigned long long)op[3]);
		show_address(out, op[4], (uint32_t)(op[5] >> 32));
	}
	if (plan_head_small(*op))
		fprintf(out, " /%u", plan_head_small(*op));
	if (plan_head_errno(*op))
		fprintf(out, " E%u", plan_head_errno(*op));
	if (flags & PLAN_CHOOSE)
		fputs(" choose", out);
	if (flags & PLAN_ASSUMED)
		fputs(" assumed", out);
	if (flags & PLAN_CONT)
		fputs(" cont", out);
	if (flags & PLAN_UNCHECKED)
		fputs(" unchecked", out);
}

static _unused_ const struct plan_task *plan_task(const struct script *s, uint32_t task)
{
	return (const struct plan_task *)plan_at(&s->plan, s->plan.header->tasks) + task;
}

static _unused_ const struct plan_space *plan_space(const struct script *s, uint32_t space)
{
	return (const struct plan_space *)plan_at(&s->plan, s->plan.header->spaces) + space;
}

static _unused_ void show_task(FILE *out, const struct script *s, uint32_t task)
{
	const uint64_t *first = plan_at(&s->plan, plan_task(s, task)->words), *op;

	for (op = first; plan_head_kind(*op) != PLAN_END; op += 1 + plan_operands(op)) {
		if (op != first)
			fputs("; ", out);
		show_op(out, op);
	}
}

/* "mmap 0 1000 /3; touch 0 /1; …" of a task. */
static _unused_ void expect(const struct script *s, uint32_t task, const char *expected)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	show_task(out, s, task);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

/* The plan keeps what plans promise, or is shown. */
static _unused_ void check_plan(const struct script *s)
{
	char why[200] = "";

	if (!plan_check(&s->plan, why, sizeof(why)))
		return;
	for (uint32_t i = 0; i < s->plan.header->task_count; i++) {
		fprintf(stderr, "%u (of %u, flags %llx): ", i, plan_task(s, i)->parent,
		        (unsigned long long)plan_task(s, i)->clone_flags);
		show_task(stderr, s, i);
		fputs("\n", stderr);
	}
	fail_msg("seed %llu: %s", (unsigned long long)s->seed, why);
}

static _unused_ void compile_well(struct script *s)
{
	assert_int_equal(script_compile(s), 0);
	check_plan(s);
}

static _unused_ const struct plan_counts *counts(const struct script *s)
{
	return &s->plan.header->counts;
}

#define SCRIPT _cleanup_(script_end) struct script s
