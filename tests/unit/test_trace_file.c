/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writer and reader together: what was written is read, in time order. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <signal.h>

#include <cmocka.h>

#include "traces/codec.h"
#include "trace_sample.h"

static void assert_same(const struct event *a, const struct event *b)
{
	assert_int_equal(a->time, b->time);
	assert_int_equal(a->task, b->task);
	assert_int_equal(a->cpu, b->cpu);
	assert_int_equal(a->kind, b->kind);
	assert_memory_equal(a->arg, b->arg, sizeof(a->arg));
}

static void assert_reads_all(struct trace_reader *r, const struct sample *s)
{
	const struct event *e;
	size_t n = 0;
	int more;

	while ((more = trace_reader_next(r, &e)) == 1)
		assert_same(e, &s->events[n++]);
	assert_int_equal(more, 0);
	assert_int_equal(trace_reader_next(r, &e), 0);
	assert_int_equal(n, s->count);
}

static void round_trip(size_t count, size_t every, unsigned flags)
{
	const struct trace_status *st;
	struct trace_reader *r;
	struct sample s;

	sample_write(&s, count, every, 0, true);
	assert_int_equal(trace_reader_new(&r, s.path, flags), 0);
	st = trace_reader_status(r);
	assert_true(st->complete);
	assert_true(st->has_tail);
	assert_int_equal(st->events, count);
	assert_int_equal(st->lost, 0);
	assert_int_equal(st->damage_count, 0);
	assert_reads_all(r, &s);
	assert_int_equal(trace_reader_rewind(r), 0);
	assert_reads_all(r, &s);
	trace_reader_free(r);
	sample_clear(&s);
}

static void test_events_come_back_in_time_order(void **state)
{
	round_trip(20000, 20001, 0);
}

static void test_every_way_of_finding_frames_reads_the_same(void **state)
{
	round_trip(1000, 100, 0);
	round_trip(1000, 100, TRACE_SCAN);
	round_trip(1000, 100, TRACE_TOLERATE_DAMAGE);
}

static void test_no_events_is_a_trace(void **state)
{
	round_trip(0, 1, 0);
}

static void test_one_event_is_a_trace(void **state)
{
	round_trip(1, 1, 0);
}

static void test_many_cpus_merge(void **state)
{
	struct trace_meta *meta = sample_meta();
	struct trace_tail tail = { 0 };
	struct trace_writer *w;
	struct trace_reader *r;
	const struct event *e;
	struct sample s;
	uint64_t time = 0;
	uint32_t cpu = 0;
	size_t n = 0;

	sample_make_file(&s);
	assert_int_equal(trace_writer_new(&w, dup(s.fd), meta, NULL), 0);
	/* CPU after CPU, each with times that interleave with and equal those of others. */
	for (uint32_t c = 0; c < 300; c++) {
		for (uint64_t i = 0; i < 100; i++) {
			struct event ev = { .time = i * 10 + c % 7,
				            .cpu = 299 - c,
				            .task = c,
				            .kind = EVENT_EXIT,
				            .arg = { i } };

			assert_int_equal(trace_writer_event(w, &ev), 0);
		}
		assert_int_equal(trace_writer_flush(w), 0);
	}
	assert_int_equal(trace_writer_finish(w, &tail), 0);
	trace_writer_free(w);
	assert_int_equal(trace_reader_new(&r, s.path, 0), 0);
	for (; trace_reader_next(r, &e) == 1; n++) {
		assert_true(e->time > time || (e->time == time && (!n || e->cpu > cpu)));
		assert_int_equal(e->time, e->arg[0] * 10 + (299 - e->cpu) % 7);
		time = e->time;
		cpu = e->cpu;
	}
	assert_int_equal(n, 30000);
	trace_reader_free(r);
	trace_meta_free(meta);
	close(s.fd);
}

static void test_records_come_back(void **state)
{
	const struct trace_stat *stats;
	const struct trace_maps *maps;
	const struct trace_name *names;
	const struct trace_loss *losses;
	struct trace_reader *r;
	struct sample s;
	size_t n;

	sample_write(&s, 50, 51, 12, true);
	assert_int_equal(trace_reader_new(&r, s.path, 0), 0);
	assert_string_equal(trace_meta_get(trace_reader_meta(r), META_KERNEL), "6.18.0");
	maps = trace_reader_maps(r, &n);
	assert_int_equal(n, 1);
	assert_int_equal(maps[0].time, 4500);
	assert_int_equal(maps[0].process, 100);
	assert_int_equal(maps[0].flags, MAPS_READ_LATE);
	assert_int_equal(maps[0].count, 1);
	assert_int_equal(maps[0].maps[0].end, 0x3000);
	assert_int_equal(maps[0].maps[0].file, 77);
	names = trace_reader_names(r, &n);
	assert_int_equal(n, 1);
	assert_string_equal(names[0].name, "ld.lld");
	assert_int_equal(names[0].task, 100);
	stats = trace_reader_stats(r, &n);
	assert_int_equal(n, 1);
	assert_int_equal(trace_meta_get_u64(stats[0].pairs, "pgfault", 0), 123);
	losses = trace_reader_losses(r, &n);
	assert_int_equal(n, 1);
	assert_int_equal(losses[0].events, 12);
	assert_int_equal(losses[0].reason, LOSS_RING);
	assert_int_equal(trace_reader_status(r)->lost, 12);
	assert_false(trace_reader_status(r)->complete);
	assert_int_equal(trace_reader_tail(r)->events, 50);
	assert_int_equal(trace_reader_tail(r)->lost, 12);
	assert_int_equal(trace_reader_tail(r)->status, 256);
	trace_reader_free(r);
	sample_clear(&s);
}

static void test_unfinished_file_reads_and_says_so(void **state)
{
	struct trace_reader *r;
	struct sample s;

	sample_write(&s, 1000, 100, 0, false);
	assert_int_equal(trace_reader_new(&r, s.path, 0), 0);
	assert_false(trace_reader_status(r)->complete);
	assert_false(trace_reader_status(r)->has_tail);
	assert_null(trace_reader_tail(r));
	assert_int_equal(trace_reader_status(r)->lost, 1);
	assert_int_equal(trace_reader_status(r)->damage_count, 0);
	assert_reads_all(r, &s);
	trace_reader_free(r);
	sample_clear(&s);
}

/* A disk that is full from the given size on: the limit of file size stands for it. */
static void test_full_disk_leaves_a_readable_file(void **state)
{
	char path[] = "test_trace_file.XXXXXX";
	struct rlimit old, small;
	struct trace_meta *meta = sample_meta();
	struct trace_tail tail = { .time = 1 };
	struct trace_writer *w;
	struct trace_reader *r;
	const struct event *e;
	uint64_t taken = 0, seed = 1;
	size_t n = 0;
	int fd = mkstemp(path), error = 0;

	assert_true(fd >= 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = (struct rlimit){ 100000, old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_int_equal(trace_writer_new(&w, fd, meta, NULL), 0);
	for (uint64_t i = 0; i < 400000 && !error; i++) {
		struct event ev = { .time = i * 1000, .task = 1, .kind = EVENT_FAULT_USER };

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		ev.arg[0] = seed >> 30 << 12;
		error = trace_writer_event(w, &ev);
		taken++;
	}
	assert_true(error < 0);
	small.rlim_cur = 100400;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_true(trace_writer_finish(w, &tail) < 0);
	assert_int_equal(trace_writer_events(w) + trace_writer_lost(w), taken);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(trace_reader_new(&r, path, 0), 0);
	while (trace_reader_next(r, &e) == 1)
		n++;
	assert_int_equal(n, trace_writer_events(w));
	assert_int_equal(trace_reader_status(r)->lost, trace_writer_lost(w));
	assert_true(trace_reader_status(r)->lost > 0);
	trace_reader_free(r);
	trace_writer_free(w);
	trace_meta_free(meta);
	unlink(path);
}

static void test_odd_page_sizes(void **state)
{
	struct trace_meta *meta = sample_meta();
	struct event ev = { .time = 1, .kind = EVENT_FAULT_USER, .arg = { 0x7f0000010000, 4 } };
	struct trace_tail tail = { 0 };
	struct trace_writer *w;
	struct trace_reader *r;
	const struct event *e;
	struct sample s;

	sample_make_file(&s);
	assert_int_equal(trace_meta_set_u64(meta, META_PAGE_SIZE, 3), 0);
	assert_int_equal(trace_writer_new(&w, dup(s.fd), meta, NULL), -EINVAL);
	assert_int_equal(trace_meta_set_u64(meta, META_PAGE_SIZE, 65536), 0);
	assert_int_equal(trace_writer_new(&w, dup(s.fd), meta, NULL), 0);
	assert_int_equal(trace_writer_event(w, &ev), 0);
	assert_int_equal(trace_writer_finish(w, &tail), 0);
	trace_writer_free(w);
	assert_int_equal(trace_reader_new(&r, s.path, 0), 0);
	assert_int_equal(trace_reader_next(r, &e), 1);
	assert_int_equal(e->arg[0], 0x7f0000010000);
	trace_reader_free(r);
	trace_meta_free(meta);
	close(s.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events_come_back_in_time_order),
		cmocka_unit_test(test_every_way_of_finding_frames_reads_the_same),
		cmocka_unit_test(test_no_events_is_a_trace),
		cmocka_unit_test(test_one_event_is_a_trace),
		cmocka_unit_test(test_many_cpus_merge),
		cmocka_unit_test(test_records_come_back),
		cmocka_unit_test(test_unfinished_file_reads_and_says_so),
		cmocka_unit_test(test_full_disk_leaves_a_readable_file),
		cmocka_unit_test(test_odd_page_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
