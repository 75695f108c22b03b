/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape info`, run on traces written here, its standard output read back. */

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "event_script.h"
#include "traces/writer.h"

#define COLUMNS 80

extern const struct command command_info;

struct world {
	struct script script;
	struct trace_meta *meta;
	int fd; /* of the trace, a memfd */
	char path[40];
	char *output;
	json_t *json;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || trace_meta_new(&w->meta) < 0 ||
	    trace_meta_set(w->meta, META_KERNEL, "6.12.3-test") < 0)
		return -1;
	w->fd = memfd_create("trace", MFD_CLOEXEC);
	snprintf(w->path, sizeof(w->path), "/proc/self/fd/%d", w->fd);
	*state = w;
	return w->fd < 0 ? -1 : 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	json_decref(w->json);
	trace_meta_free(w->meta);
	script_clear(&w->script);
	close(w->fd);
	free(w->output);
	free(w);
	return 0;
}

/* What the tests want to find again: four cut stacks, two failed calls, a fork. */
static void make_events(struct script *s)
{
	for (unsigned i = 0; i < 300; i++)
		SCRIPT_CALL(s, CALL_MMAP, 100, 0x7f0000000000, 0, 0x2000, 3, 0x22, UINT64_MAX, 0);
	for (unsigned i = 0; i < 4; i++)
		SCRIPT_CALL(s, CALL_MADVISE, 100, 0, 0x7f1000000000, 0x7fb000, 4);
	SCRIPT_CALL(s, CALL_MUNMAP, 100, (uint64_t)-EINVAL, 0x1000, 0x1000);
	SCRIPT_CALL(s, CALL_MUNMAP, 100, (uint64_t)-EINVAL, 0x1000, 0x1000);
	script_event(s, EVENT_LEAVE(CALL_MPROTECT), 100, 0, 0);
	script_event(s, EVENT_NEWTASK, 100, 101, 0);
	script_event(s, EVENT_FAULT_USER, 101, 0x7f0000000000, FAULT_USER | FAULT_WRITE);
	script_event(s, EVENT_FAULT_KERNEL, 101, 0x7f0000001000, FAULT_WRITE);
	script_event(s, EVENT_EXIT, 101, 1, 0);
}

static void write_trace(struct world *w, uint64_t lost, bool whole)
{
	const struct trace_tail tail = { .time = 10000, .flags = TAIL_STATUS_KNOWN };
	const struct trace_loss loss = {
		.cpu = 3, .reason = LOSS_RING, .events = lost, .from = 20000, .to = 20001
	};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_new(&writer, dup(w->fd), w->meta, NULL), 0);
	for (size_t i = 0; i < w->script.count; i++)
		assert_int_equal(trace_writer_event(writer, &w->script.events[i]), 0);
	if (lost)
		assert_int_equal(trace_writer_loss(writer, &loss), 0);
	assert_int_equal(whole ? trace_writer_finish(writer, &tail) : trace_writer_flush(writer),
	                 0);
	trace_writer_free(writer);
}

/* Standard output goes to a file meanwhile. Returns the exit status. */
static int info(struct world *w, const char *option, const char *value)
{
	char *argv[] = { (char *)"info", (char *)option, (char *)value, w->path, NULL };
	int out = memfd_create("output", MFD_CLOEXEC), saved, status;
	off_t length;

	assert_true(out >= 0);
	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(out, STDOUT_FILENO);
	status = command_info.run((int)ARRAY_SIZE(argv) - 1, argv);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	length = lseek(out, 0, SEEK_END);
	free(w->output);
	w->output = calloc(1, (size_t)length + 1);
	assert_int_equal(pread(out, w->output, (size_t)length, 0), length);
	close(out);
	return status;
}

static int info_json(struct world *w)
{
	int status = info(w, "--format", "json");

	w->json = json_loads(w->output, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(w->json);
	return status;
}

static json_int_t number(const struct world *w, const char *key)
{
	json_t *value = json_object_get(w->json, key);

	assert_true(json_is_integer(value));
	return json_integer_value(value);
}

static json_int_t number_of(const struct world *w, const char *object, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(w->json, object), key));
}

static void test_counts(void **state)
{
	struct world *w = *state;

	make_events(&w->script);
	write_trace(w, 0, true);
	assert_int_equal(info_json(w), STATUS_DONE);
	assert_int_equal(number(w, "events"), (json_int_t)w->script.count);
	assert_int_equal(number(w, "tasks"), 2);
	assert_int_equal(number(w, "spaces"), 2);
	assert_int_equal(number(w, "faults"), 2);
	assert_int_equal(number(w, "faults_kernel"), 1);
	assert_int_equal(number(w, "orphans"), 1);
	assert_int_equal(number_of(w, "calls", "mmap"), 300);
	assert_int_equal(number_of(w, "failed", "munmap"), 2);
	assert_int_equal(number(w, "peak_bytes"), 8192);
}

static void test_size_is_the_files(void **state)
{
	struct world *w = *state;
	off_t bytes;

	make_events(&w->script);
	write_trace(w, 0, true);
	bytes = lseek(w->fd, 0, SEEK_END);
	info_json(w);
	assert_int_equal(number(w, "bytes"), bytes);
	assert_float_equal(json_real_value(json_object_get(w->json, "bytes_per_event")),
	                   (double)bytes / (double)w->script.count, 1e-9);
}

static void test_kernel_comes_from_metadata(void **state)
{
	struct world *w = *state;

	write_trace(w, 0, true);
	info_json(w);
	assert_string_equal(json_string_value(json_object_get(w->json, "kernel")), "6.12.3-test");
}

static void test_cut_stacks_are_the_heaviest_shape(void **state)
{
	struct world *w = *state;
	json_t *shape;

	make_events(&w->script);
	write_trace(w, 0, true);
	info_json(w);
	shape = json_array_get(json_object_get(w->json, "shapes"), 0);
	assert_string_equal(json_string_value(json_object_get(shape, "call")), "madvise");
	assert_string_equal(json_string_value(json_object_get(shape, "advice")), "MADV_DONTNEED");
	assert_int_equal(json_integer_value(json_object_get(shape, "length")), 0x7fb000);
	assert_int_equal(json_integer_value(json_object_get(shape, "count")), 4);
}

static void test_shapes_option_cuts_the_list(void **state)
{
	struct world *w = *state;

	make_events(&w->script);
	write_trace(w, 0, true);
	assert_int_equal(info(w, "--shapes", "0"), STATUS_DONE);
	assert_null(strstr(w->output, "MADV_DONTNEED"));
	assert_int_equal(info(w, "--shapes", "1"), STATUS_DONE);
	assert_non_null(strstr(w->output, "MADV_DONTNEED"));
}

static void test_loss_makes_it_incomplete(void **state)
{
	struct world *w = *state;
	json_t *loss;

	make_events(&w->script);
	write_trace(w, 17, true);
	assert_int_equal(info_json(w), STATUS_INCOMPLETE);
	assert_int_equal(number(w, "lost"), 17);
	assert_true(json_is_false(json_object_get(w->json, "complete")));
	loss = json_array_get(json_object_get(w->json, "losses"), 0);
	assert_int_equal(json_integer_value(json_object_get(loss, "cpu")), 3);
	assert_int_equal(json_integer_value(json_object_get(loss, "events")), 17);
}

static void test_no_end_makes_it_incomplete(void **state)
{
	struct world *w = *state;

	make_events(&w->script);
	write_trace(w, 0, false);
	assert_int_equal(info(w, "--format", "text"), STATUS_INCOMPLETE);
	assert_non_null(strstr(w->output, "it has no end"));
}

static void test_no_events(void **state)
{
	struct world *w = *state;

	write_trace(w, 0, true);
	assert_int_equal(info_json(w), STATUS_DONE);
	assert_int_equal(number(w, "events"), 0);
	assert_int_equal(number(w, "peak_bytes"), 0);
}

static void test_not_a_trace(void **state)
{
	struct world *w = *state;

	assert_int_equal(write(w->fd, "text\n", 5), 5);
	assert_int_equal(info(w, "--format", "text"), STATUS_FAILED);
	assert_string_equal(w->output, "");
}

static void test_every_cut_is_shown_or_refused(void **state)
{
	struct world *w = *state;
	off_t bytes;

	make_events(&w->script);
	write_trace(w, 0, true);
	bytes = lseek(w->fd, 0, SEEK_END);
	for (off_t end = bytes - 1; end > 0; end -= 7) {
		int status;

		assert_int_equal(ftruncate(w->fd, end), 0);
		status = info(w, "--format", "json");
		/* Without the last bytes only the seek table is damaged: all events are there. */
		assert_true(status == STATUS_INCOMPLETE || status == STATUS_FAILED ||
		            status == STATUS_DONE);
		assert_int_equal(status == STATUS_FAILED, !*w->output);
	}
}

static void test_text_keeps_to_its_columns(void **state)
{
	struct world *w = *state;
	char *line, *rest;

	make_events(&w->script);
	for (unsigned call = 0; call < CALL_COUNT; call++)
		SCRIPT_CALL(&w->script, call, 100, (uint64_t)-EPERM, 0);
	write_trace(w, 5, true);
	info(w, "--format", "text");
	for (line = strtok_r(w->output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (strlen(line) > COLUMNS)
			fail_msg("%zu columns: %s", strlen(line), line);
}

static void test_metadata_cannot_reach_the_terminal(void **state)
{
	struct world *w = *state;

	assert_int_equal(trace_meta_set(w->meta, META_KERNEL, "6.1\x1b[31m\x07"), 0);
	write_trace(w, 0, true);
	info(w, "--format", "text");
	assert_null(strchr(w->output, '\x1b'));
	info_json(w);
	assert_null(strchr(w->output, '\x1b'));
	assert_string_equal(json_string_value(json_object_get(w->json, "kernel")),
	                    "6.1\x1b[31m\x07");
}

#define INFO_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		INFO_TEST(test_counts),
		INFO_TEST(test_size_is_the_files),
		INFO_TEST(test_kernel_comes_from_metadata),
		INFO_TEST(test_cut_stacks_are_the_heaviest_shape),
		INFO_TEST(test_shapes_option_cuts_the_list),
		INFO_TEST(test_loss_makes_it_incomplete),
		INFO_TEST(test_no_end_makes_it_incomplete),
		INFO_TEST(test_no_events),
		INFO_TEST(test_not_a_trace),
		INFO_TEST(test_every_cut_is_shown_or_refused),
		INFO_TEST(test_text_keeps_to_its_columns),
		INFO_TEST(test_metadata_cannot_reach_the_terminal),
	};

	/* What info says about bad files would bury the tests' own output. */
	if (!getenv("LOUD") && !freopen("/dev/null", "w", stderr))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
