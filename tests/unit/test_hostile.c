/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that were made to hurt, files of a later version, and what is no trace at all:
 * each is refused with one line that says why.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "traces/codec.h"
#include "traces/frames.h"
#include "traces/seek.h"
#include "trace_sample.h"

/* Standard error into a memfd, to look at the lines. */
static int messages;

static int capture_messages(void **state)
{
	messages = memfd_create("messages", MFD_CLOEXEC);
	return messages < 0 || dup2(messages, STDERR_FILENO) < 0;
}

/* One line came since the last call, and it holds each of the texts. */
static void assert_line(const char *text, const char *more)
{
	char line[1024] = "";
	ssize_t n = pread(messages, line, sizeof(line) - 1, 0);

	assert_int_equal(ftruncate(messages, 0), 0);
	assert_int_equal(lseek(messages, 0, SEEK_SET), 0);
	assert_true(n > 0);
	line[n] = 0;
	if (!strstr(line, text) || !strstr(line, more) || strchr(line, '\n') != line + n - 1)
		printf("wanted one line with '%s' and '%s', got: %s", text, more, line);
	assert_non_null(strstr(line, text));
	assert_non_null(strstr(line, more));
	assert_ptr_equal(strchr(line, '\n'), line + n - 1);
}

static void assert_refused(const char *path, int error, const char *text)
{
	struct trace_reader *r;

	assert_int_equal(trace_reader_new(&r, path, 0), error);
	assert_line(path, text);
}

/* Blocks that no writer of ours would write. */
struct forge {
	struct buffer file;
	struct frame_writer *frames;
	uint64_t sequence;
	struct sample sample;
};

static void forge_block(struct forge *f, uint32_t type, uint16_t flags, const void *payload,
                        size_t len)
{
	struct block_header h = { type, flags, (uint32_t)len, f->sequence++ };
	uint8_t header[FORMAT_BLOCK_HEADER];
	struct evts_part parts[] = { { header, sizeof(header) }, { payload, len } };
	const uint8_t *frame;
	size_t size;

	block_header_encode(header, &h);
	assert_int_equal(frame_write(f->frames, parts, 2, &frame, &size), 0);
	assert_int_equal(buffer_bytes(&f->file, frame, size), 0);
}

static void forge_begin(struct forge *f, unsigned version)
{
	uint8_t head[8] = { (uint8_t)version };

	*f = (struct forge){ 0 };
	assert_int_equal(frame_writer_new(&f->frames, 0), 0);
	forge_block(f, BLOCK_HEAD, FORMAT_BLOCK_REQUIRED, head, sizeof(head));
}

static const char *forge_path(struct forge *f)
{
	sample_of_bytes(&f->sample, f->file.data, f->file.len);
	return f->sample.path;
}

static void forge_end(struct forge *f)
{
	frame_writer_free(f->frames);
	buffer_clear(&f->file);
	if (f->sample.path[0])
		close(f->sample.fd);
}

static void forge_tail(struct forge *f)
{
	uint8_t tail[32] = { 0 };

	forge_block(f, BLOCK_TAIL, FORMAT_BLOCK_REQUIRED, tail, sizeof(tail));
}

/* One exit event. */
static size_t forge_events(uint8_t out[128], uint32_t cpu, uint16_t kind)
{
	uint8_t *p = out;

	memset(out, 0, 128);
	store_le32(p, cpu);
	store_le32(p + 4, 1);
	p += FORMAT_EVTS_HEAD;
	p[0] = 12; /* page shift */
	p[3] = 1; /* shapes */
	p[4] = 1; /* tasks */
	p += FORMAT_EVTS_DIRECTORY;
	store_le16(p, kind);
	p += FORMAT_SHAPE;
	store_le32(p, 7); /* task */
	p += 4;
	return (size_t)(p - out) + 1; /* and the shape of the event, 0 */
}

static void test_newer_version(void **state)
{
	struct forge f;

	forge_begin(&f, FORMAT_VERSION + 1);
	forge_tail(&f);
	assert_refused(forge_path(&f), -EPROTONOSUPPORT, "format version 2");
	forge_end(&f);
}

static void test_required_block_of_unknown_type(void **state)
{
	struct forge f;

	forge_begin(&f, FORMAT_VERSION);
	forge_block(&f, BLOCK_TYPE('N', 'E', 'W', '\033'), FORMAT_BLOCK_REQUIRED, "x", 1);
	forge_tail(&f);
	assert_refused(forge_path(&f), -EPROTONOSUPPORT, "'NEW?'");
	forge_end(&f);
}

static void test_optional_block_of_unknown_type_is_skipped(void **state)
{
	struct trace_reader *r;
	struct forge f;

	forge_begin(&f, FORMAT_VERSION);
	forge_block(&f, BLOCK_TYPE('N', 'I', 'C', 'E'), 0, "x", 1);
	forge_tail(&f);
	assert_int_equal(trace_reader_new(&r, forge_path(&f), 0), 0);
	assert_true(trace_reader_status(r)->complete);
	trace_reader_free(r);
	forge_end(&f);
}

static void test_unknown_event_kind(void **state)
{
	const struct event *e;
	struct trace_reader *r;
	uint8_t payload[128];
	struct forge f;

	forge_begin(&f, FORMAT_VERSION);
	forge_block(&f, BLOCK_EVTS, FORMAT_BLOCK_REQUIRED, payload,
	            forge_events(payload, 0, EVENT_EXIT));
	assert_int_equal(trace_reader_new(&r, forge_path(&f), 0), 0);
	assert_int_equal(trace_reader_next(r, &e), 1);
	assert_int_equal(e->kind, EVENT_EXIT);
	trace_reader_free(r);
	close(f.sample.fd);
	forge_block(&f, BLOCK_EVTS, FORMAT_BLOCK_REQUIRED, payload,
	            forge_events(payload, 1, EVENT_KIND_COUNT));
	assert_refused(forge_path(&f), -EPROTONOSUPPORT, "kind of event");
	forge_end(&f);
}

static void test_too_many_cpus(void **state)
{
	struct forge f;
	uint8_t payload[128];

	forge_begin(&f, FORMAT_VERSION);
	for (uint32_t cpu = 0; cpu <= 4096; cpu++)
		forge_block(&f, BLOCK_EVTS, FORMAT_BLOCK_REQUIRED, payload,
		            forge_events(payload, cpu, EVENT_EXIT));
	assert_refused(forge_path(&f), -E2BIG, "4096 CPUs");
	forge_end(&f);
}

static void test_too_many_records(void **state)
{
	const uint32_t count = (FORMAT_BLOCK_MAX - FORMAT_BLOCK_HEADER - 4) / 32;
	uint8_t *payload = calloc(1, 4 + count * 32);
	struct forge f;

	store_le32(payload, count);
	forge_begin(&f, FORMAT_VERSION);
	for (int i = 0; i < 100; i++)
		forge_block(&f, BLOCK_LOSS, FORMAT_BLOCK_REQUIRED, payload, 4 + count * 32);
	assert_refused(forge_path(&f), -E2BIG, "64 MiB of records");
	free(payload);
	forge_end(&f);
}

/* A valid frame header that promises a lot, behind a valid first block. */
static void refuse_frame(const uint8_t *header, size_t len, const char *why)
{
	struct forge f;

	forge_begin(&f, FORMAT_VERSION);
	assert_int_equal(buffer_bytes(&f.file, header, len), 0);
	assert_int_equal(buffer_reserve(&f.file, 64), 0);
	memset(f.file.data + f.file.len, 0, 64);
	f.file.len += 64;
	assert_refused(forge_path(&f), -EBADMSG, why);
	forge_end(&f);
}

static void test_zstd_bombs(void **state)
{
	/* Magic; descriptor with checksum; window; content size. */
	static const uint8_t content[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0, 0, 0, 0x40 };
	static const uint8_t content64[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xe4, 0, 0, 0, 0, 0, 1, 0, 0 };
	static const uint8_t window[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x84, 0xa8, 0, 0, 1, 0 };
	static const uint8_t dictionary[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x65, 9, 0, 0 };
	static const uint8_t no_checksum[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x60, 0, 0 };
	static const uint8_t no_size[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x50 };

	refuse_frame(content, sizeof(content), "larger than 1 MiB when decompressed");
	refuse_frame(content64, sizeof(content64), "larger than 1 MiB when decompressed");
	refuse_frame(window, sizeof(window), "window larger than 1 MiB");
	refuse_frame(dictionary, sizeof(dictionary), "without checksum or content size");
	refuse_frame(no_checksum, sizeof(no_checksum), "without checksum or content size");
	refuse_frame(no_size, sizeof(no_size), "without checksum or content size");
}

/* A table whose sizes add up but point into frames. */
static void test_lying_seek_table(void **state)
{
	struct buffer entries = { 0 }, table = { 0 };
	struct trace_reader *r;
	struct forge f;
	size_t frames;

	forge_begin(&f, FORMAT_VERSION);
	frames = f.file.len;
	forge_tail(&f);
	assert_int_equal(seek_add(&entries, (uint32_t)frames - 3, 36), 0);
	assert_int_equal(seek_add(&entries, (uint32_t)(f.file.len - frames) + 3, 60), 0);
	assert_int_equal(seek_table(&entries, &table), 0);
	assert_int_equal(buffer_bytes(&f.file, table.data, table.len), 0);
	assert_refused(forge_path(&f), -EBADMSG, "damaged");
	/* Who does not believe the table sees that only it is wrong. */
	assert_int_equal(trace_reader_new(&r, f.sample.path, TRACE_TOLERATE_DAMAGE), 0);
	assert_int_equal(trace_reader_status(r)->damage_count, 1);
	assert_int_equal(trace_reader_status(r)->lost, 0);
	trace_reader_free(r);
	buffer_clear(&entries);
	buffer_clear(&table);
	forge_end(&f);
}

/* Looks like a frame at every place: the search must give up, not try for ever. */
static void test_file_full_of_frame_beginnings(void **state)
{
	static const uint8_t beginning[] = { 0x28, 0xb5, 0x2f, 0xfd, 0xa4, 0, 0, 0x10, 0, 0xff };
	const struct trace_status *st;
	struct trace_reader *r;
	struct forge f;

	forge_begin(&f, FORMAT_VERSION);
	for (int i = 0; i < 100000; i++)
		assert_int_equal(buffer_bytes(&f.file, beginning, sizeof(beginning)), 0);
	assert_int_equal(trace_reader_new(&r, forge_path(&f), TRACE_TOLERATE_DAMAGE), 0);
	st = trace_reader_status(r);
	assert_string_equal(st->damage[0].what, "too damaged to go on");
	assert_int_equal(st->blocks, 1);
	trace_reader_free(r);
	forge_end(&f);
}

static void refuse_bytes(const void *bytes, size_t len, int error, const char *text)
{
	struct sample s;

	sample_of_bytes(&s, bytes, len);
	assert_refused(s.path, error, text);
	close(s.fd);
}

static void test_what_is_no_trace(void **state)
{
	/* zstd of "hello": a frame of somebody else. */
	static const uint8_t other[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x24, 0x05, 0x29, 0x00, 0x00,
		                         'h',  'e',  'l',  'l',  'o',  0x42, 0x2c, 0x35, 0x8a };

	refuse_bytes("", 0, -ENODATA, "empty file");
	refuse_bytes("what is this?\n", 14, -EBADMSG, "not a trace");
	refuse_bytes(other, sizeof(other), -EBADMSG, "not a trace");
	refuse_bytes(other, 3, -ENODATA, "cut short");
	assert_refused("/", -EISDIR, "is a directory");
	assert_refused("/dev/null", -EINVAL, "is a device");
	assert_refused("/nonexistent/t.mmt.zst", -ENOENT, "No such file");
}

static void test_pipe_is_refused_without_waiting(void **state)
{
	const char *path = "test_hostile.fifo";

	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_refused(path, -EINVAL, "is a pipe");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newer_version),
		cmocka_unit_test(test_required_block_of_unknown_type),
		cmocka_unit_test(test_optional_block_of_unknown_type_is_skipped),
		cmocka_unit_test(test_unknown_event_kind),
		cmocka_unit_test(test_too_many_cpus),
		cmocka_unit_test(test_too_many_records),
		cmocka_unit_test(test_zstd_bombs),
		cmocka_unit_test(test_lying_seek_table),
		cmocka_unit_test(test_file_full_of_frame_beginnings),
		cmocka_unit_test(test_what_is_no_trace),
		cmocka_unit_test(test_pipe_is_refused_without_waiting),
	};

	return cmocka_run_group_tests(tests, capture_messages, NULL);
}
