/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rings of perf events on this kernel: what there was no room for is counted. */

#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/perf_event.h"
#include "capture/perf_rings.h"
#include "common/cleanup.h"

#define SKIPPED 77
#define PERIOD_NS 500000
#define BURN_NS 400000000

struct context {
	int gate; /* read from before each sample is taken; -1: no gate */
	size_t samples, rounds;
	uint64_t last_time, last_until;
	int answer;
};

static struct perf_event_attr timer(void)
{
	struct perf_event_attr event = { .type = PERF_TYPE_SOFTWARE,
		                         .config = PERF_COUNT_SW_CPU_CLOCK,
		                         .sample_period = PERIOD_NS };

	perf_event_prepare(&event);
	return event;
}

static int on_sample(void *context, const struct perf_sample *sample)
{
	struct context *c = context;
	char byte;

	if (c->gate >= 0 && read(c->gate, &byte, 1) < 0)
		return -EIO;
	c->samples++;
	c->last_time = sample->time;
	return c->answer;
}

static int on_round(void *context, uint64_t until)
{
	struct context *c = context;

	c->rounds++;
	c->last_until = until;
	return 0;
}

static int64_t cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* CPU time, however long that takes. */
static void burn(void)
{
	int64_t end = cpu_time() + BURN_NS;

	while (cpu_time() < end)
		;
}

static struct perf_rings *make(struct context *c, size_t bytes)
{
	struct perf_event_attr event = timer();
	struct perf_rings_options options = { .events = &event,
		                              .count = 1,
		                              .bytes = bytes,
		                              .sample = on_sample,
		                              .round = on_round,
		                              .context = c };
	struct perf_rings *r;

	assert_int_equal(perf_rings_new(&r, &options), 0);
	return r;
}

static void test_samples_come(void **state)
{
	struct context c = { .gate = -1 };
	struct perf_rings *r = make(&c, 1 << 20);
	struct perf_loss loss;

	assert_int_equal(perf_rings_start(r), 0);
	burn();
	assert_int_equal(perf_rings_stop(r), 0);
	perf_rings_loss(r, &loss);
	perf_rings_free(r);
	assert_true(c.samples > 0);
	assert_true(c.rounds > 0);
	assert_true(c.last_until == UINT64_MAX);
	assert_int_equal(loss.lost, 0);
	assert_int_equal(loss.damaged, 0);
}

/* Nobody takes samples out of a ring of one page until all is over. */
static void test_lost_samples_are_counted(void **state)
{
	struct context c = { 0 };
	struct perf_rings *r;
	struct perf_loss loss;
	int pipe_fds[2];

	assert_int_equal(pipe(pipe_fds), 0);
	c.gate = pipe_fds[0];
	r = make(&c, 4096);
	assert_int_equal(perf_rings_start(r), 0);
	burn();
	close(pipe_fds[1]);
	assert_int_equal(perf_rings_stop(r), 0);
	perf_rings_loss(r, &loss);
	assert_true(loss.lost > 0);
	/* What was lost before is not lost again. */
	c.gate = -1;
	assert_int_equal(perf_rings_start(r), 0);
	assert_int_equal(perf_rings_stop(r), 0);
	perf_rings_loss(r, &loss);
	assert_int_equal(loss.lost, 0);
	perf_rings_free(r);
	close(pipe_fds[0]);
}

static void test_answer_of_a_callback_ends_it(void **state)
{
	struct context c = { .gate = -1, .answer = -ENOMEM };
	struct perf_rings *r = make(&c, 4096);

	assert_int_equal(perf_rings_start(r), 0);
	burn();
	assert_int_equal(perf_rings_stop(r), -ENOMEM);
	assert_int_equal(c.samples, 1);
	perf_rings_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples_come),
		cmocka_unit_test(test_lost_samples_are_counted),
		cmocka_unit_test(test_answer_of_a_callback_ends_it),
	};
	struct perf_event_attr event = timer();
	char why[256];
	int r = perf_event_try(&event);

	if (r < 0) {
		perf_event_explain(r, why, sizeof(why));
		printf("skipped: %s\n", why);
		return SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
