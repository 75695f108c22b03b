/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decoding records by format files, as several kernels give them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "capture/points.h"
#include "common/bytes.h"

#define COMMON                                                                                     \
	"format:\n"                                                                                \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"                     \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"             \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char madvise_format[] =
	"name: sys_enter_madvise\nID: 300\n" COMMON
	"\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long start;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:size_t len_in;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:int behavior;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"start: 0x%08lx\", ((unsigned long)(REC->start))\n";

static const char exec_format[] =
	"name: sched_process_exec\nID: 301\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t old_pid;\toffset:16;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"pid=%d\", REC->pid\n";

/* Before 6.16: no group_dead. */
static const char exit_format[] = "name: sched_process_exit\nID: 302\n" COMMON
				  "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
				  "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
				  "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\n"
				  "print fmt: \"pid=%d\", REC->pid\n";

static const char mmap_format[] = "name: sys_enter_mmap\nID: 303\n" COMMON
				  "\tfield:int __syscall_nr;\toffset:8;\tsize:4;\tsigned:1;\n"
				  "\tfield:unsigned long fd;\toffset:48;\tsize:8;\tsigned:0;\n\n"
				  "print fmt: \"fd: 0x%08lx\", ((unsigned long)(REC->fd))\n";

static int setup(void **state)
{
	struct points *p;

	if (points_new_empty(&p) < 0)
		return -1;
	*state = p;
	return points_add_format(p, "syscalls", EVENT_ENTER(CALL_MADVISE), madvise_format,
	                         strlen(madvise_format)) ||
	       points_add_format(p, "sched", EVENT_EXEC, exec_format, strlen(exec_format)) ||
	       points_add_format(p, "sched", EVENT_EXIT, exit_format, strlen(exit_format)) ||
	       points_add_format(p, "syscalls", EVENT_ENTER(CALL_MMAP), mmap_format,
	                         strlen(mmap_format));
}

static int teardown(void **state)
{
	points_free(*state);
	return 0;
}

static void record_begin(uint8_t *data, unsigned id, uint32_t task)
{
	memset(data, 0, 64);
	store_le16(data, (uint16_t)id);
	store_le32(data + 4, task);
}

/* The upper half of a 32-bit argument's slot is whatever the register held. */
static void test_32_bit_arguments_are_cut(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 300, 77);
	store_le64(data + 16, 0x7f0000001000ULL);
	store_le64(data + 24, 0x7fb000);
	store_le64(data + 32, 0xdeadbeef00000004ULL);
	assert_int_equal(points_decode(*state, data, 40, &rec), 0);
	assert_int_equal(rec.event.kind, EVENT_ENTER(CALL_MADVISE));
	assert_int_equal(rec.event.task, 77);
	assert_int_equal(rec.event.arg[0], 0x7f0000001000ULL);
	assert_int_equal(rec.event.arg[1], 0x7fb000);
	assert_int_equal(rec.event.arg[2], 4);
	assert_null(rec.text);
}

static void test_descriptors_are_signed(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 303, 1);
	store_le64(data + 48, 0xffffffffULL);
	assert_int_equal(points_decode(*state, data, 56, &rec), 0);
	assert_int_equal((int64_t)rec.event.arg[4], -1);
}

static void test_text_of_a_record(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 301, 5);
	store_le32(data + 8, 9u << 16 | 20);
	store_le32(data + 16, 4);
	memcpy(data + 20, "/bin/cat", 9);
	assert_int_equal(points_decode(*state, data, 32, &rec), 0);
	assert_int_equal(rec.event.arg[0], 4);
	assert_int_equal(rec.text_size, 8);
	assert_memory_equal(rec.text, "/bin/cat", 8);
}

static void test_text_beyond_the_record_is_cut(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 301, 5);
	memset(data + 20, 'x', 44);
	store_le32(data + 8, 0x4000u << 16 | 28);
	assert_int_equal(points_decode(*state, data, 32, &rec), 0);
	assert_int_equal(rec.text_size, 4);
	store_le32(data + 8, 4u << 16 | 0x8000);
	assert_int_equal(points_decode(*state, data, 32, &rec), 0);
	assert_null(rec.text);
}

static void test_a_field_that_older_kernels_lack(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 302, 5);
	assert_int_equal(points_decode(*state, data, 32, &rec), 0);
	assert_int_equal(rec.event.arg[0], 2);
}

static void test_unknown_and_cut_records(void **state)
{
	struct point_record rec;
	uint8_t data[64];

	record_begin(data, 299, 5);
	assert_int_equal(points_decode(*state, data, 40, &rec), 1);
	record_begin(data, 60000, 5);
	assert_int_equal(points_decode(*state, data, 40, &rec), 1);
	record_begin(data, 300, 5);
	assert_int_equal(points_decode(*state, data, 39, &rec), 1);
	assert_int_equal(points_decode(*state, data, 3, &rec), 1);
}

static void test_a_format_that_is_none(void **state)
{
	assert_int_equal(points_add_format(*state, "sched", EVENT_EXIT, "nonsense", 8), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_32_bit_arguments_are_cut, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptors_are_signed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text_of_a_record, setup, teardown),
		cmocka_unit_test_setup_teardown(test_text_beyond_the_record_is_cut, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_a_field_that_older_kernels_lack, setup,
		                                teardown),
		cmocka_unit_test_setup_teardown(test_unknown_and_cut_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_format_that_is_none, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
