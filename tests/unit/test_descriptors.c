/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptor tables. */

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/falloc.h>
#include <linux/sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "traces/descriptors.h"

struct world {
	struct lineage *lineage;
	struct descriptors *descriptors;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	if (!w || lineage_new(&w->lineage) < 0 || descriptors_new(&w->descriptors) < 0)
		return -1;
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	descriptors_free(w->descriptors);
	lineage_free(w->lineage);
	free(w);
	return 0;
}

static void take(struct world *w, enum item_kind kind, const struct event *e,
                 struct paired_call *call)
{
	const struct item item = { .kind = kind, .event = *e, .call = call };
	uint32_t task;

	assert_int_equal(lineage_event(w->lineage, e, &task), 0);
	assert_int_equal(descriptors_item(w->descriptors, w->lineage, task, &item), 0);
}

static void point(struct world *w, unsigned kind, uint32_t id, uint64_t a, uint64_t b)
{
	const struct event e = { .kind = (uint16_t)kind, .task = id, .arg = { a, b } };

	take(w, ITEM_POINT, &e, NULL);
}

static void call(struct world *w, enum call call, uint32_t id, uint64_t a, uint64_t b, uint64_t c,
                 uint64_t result)
{
	struct paired_call paired = {
		.arg = { a, b, c },
		.result = result,
		.task = id,
		.call = (uint16_t)call,
		.has_enter = call_recorded(call) != CALL_LEAVE_ONLY,
		.has_leave = call_recorded(call) != CALL_ENTER_ONLY,
	};
	struct event enter = { .kind = EVENT_ENTER(call), .task = id, .arg = { a, b, c } };
	struct event leave = { .kind = EVENT_LEAVE(call), .task = id, .arg = { result } };

	if (paired.has_enter)
		take(w, ITEM_ENTER, &enter, &paired);
	if (paired.has_leave)
		take(w, ITEM_LEAVE, &leave, &paired);
}

static void open_fd(struct world *w, uint32_t id, uint64_t fd)
{
	call(w, CALL_OPENAT, id, 0, 0, 0, fd);
}

static uint32_t file_of(struct world *w, uint32_t id, uint64_t fd)
{
	uint32_t file, task = lineage_find(w->lineage, id);

	assert_int_not_equal(task, LINEAGE_NONE);
	assert_int_equal(descriptors_file(w->descriptors, w->lineage, task, fd, &file), 0);
	return file;
}

static bool known(struct world *w, uint32_t id, uint64_t fd)
{
	uint32_t file = file_of(w, id, fd);

	return descriptors_at(w->descriptors, file)->origin != FILE_UNKNOWN;
}

static void test_open_makes_a_file(void **state)
{
	open_fd(*state, 1, 3);
	open_fd(*state, 1, 4);
	assert_int_equal(file_of(*state, 1, 3), 1);
	assert_int_equal(file_of(*state, 1, 4), 2);
}

static void test_open_again_replaces(void **state)
{
	open_fd(*state, 1, 3);
	open_fd(*state, 1, 3);
	assert_int_equal(file_of(*state, 1, 3), 2);
}

static void test_failed_open_makes_nothing(void **state)
{
	struct world *w = *state;

	open_fd(w, 1, (uint64_t)-ENOENT);
	assert_int_equal(descriptors_files(w->descriptors), 0);
}

static void test_memfd_is_named_so(void **state)
{
	struct world *w = *state;

	call(w, CALL_MEMFD_CREATE, 1, 0, 0, 0, 5);
	assert_int_equal(descriptors_at(w->descriptors, file_of(w, 1, 5))->origin, FILE_MEMFD);
}

static void test_dups_share_the_file(void **state)
{
	open_fd(*state, 1, 3);
	call(*state, CALL_DUP, 1, 3, 0, 0, 4);
	call(*state, CALL_DUP2, 1, 4, 9, 0, 9);
	call(*state, CALL_DUP3, 1, 4, 10, 0, 10);
	call(*state, CALL_FCNTL, 1, 3, F_DUPFD_CLOEXEC, 20, 20);
	assert_int_equal(file_of(*state, 1, 4), 1);
	assert_int_equal(file_of(*state, 1, 9), 1);
	assert_int_equal(file_of(*state, 1, 10), 1);
	assert_int_equal(file_of(*state, 1, 20), 1);
}

static void test_other_fcntl_is_no_dup(void **state)
{
	open_fd(*state, 1, 3);
	call(*state, CALL_FCNTL, 1, 3, F_GETFL, 0, 4);
	assert_false(known(*state, 1, 4));
}

static void test_close_forgets(void **state)
{
	open_fd(*state, 1, 3);
	call(*state, CALL_CLOSE, 1, 3, 0, 0, 0);
	assert_false(known(*state, 1, 3));
}

static void test_close_range_forgets_its_range(void **state)
{
	for (unsigned fd = 3; fd < 10; fd++)
		open_fd(*state, 1, fd);
	call(*state, CALL_CLOSE_RANGE, 1, 4, UINT32_MAX, 0, 0);
	assert_true(known(*state, 1, 3));
	assert_false(known(*state, 1, 4));
	assert_false(known(*state, 1, 9));
}

static void test_close_range_cloexec_keeps(void **state)
{
	open_fd(*state, 1, 3);
	call(*state, CALL_CLOSE_RANGE, 1, 3, UINT32_MAX, CLOSE_RANGE_CLOEXEC, 0);
	assert_true(known(*state, 1, 3));
}

static void test_close_range_unshare_leaves_the_others(void **state)
{
	open_fd(*state, 1, 3);
	point(*state, EVENT_NEWTASK, 1, 2, CLONE_VM | CLONE_FILES | CLONE_THREAD);
	call(*state, CALL_CLOSE_RANGE, 2, 3, UINT32_MAX, CLOSE_RANGE_UNSHARE, 0);
	assert_false(known(*state, 2, 3));
	assert_true(known(*state, 1, 3));
}

static void test_fork_copies_the_table(void **state)
{
	open_fd(*state, 1, 3);
	point(*state, EVENT_NEWTASK, 1, 2, 0);
	assert_int_equal(file_of(*state, 2, 3), 1);
	call(*state, CALL_CLOSE, 1, 3, 0, 0, 0);
	assert_int_equal(file_of(*state, 2, 3), 1);
	open_fd(*state, 2, 4);
	assert_false(known(*state, 1, 4));
}

static void test_thread_shares_the_table(void **state)
{
	point(*state, EVENT_NEWTASK, 1, 2, CLONE_VM | CLONE_FILES | CLONE_THREAD);
	open_fd(*state, 2, 3);
	assert_true(known(*state, 1, 3));
}

static void test_exec_keeps_the_table(void **state)
{
	open_fd(*state, 1, 3);
	point(*state, EVENT_NEWTASK, 1, 2, CLONE_VFORK | CLONE_VM);
	point(*state, EVENT_EXEC, 2, 2, 0);
	assert_int_equal(file_of(*state, 2, 3), 1);
}

static void test_unknown_descriptor_stays_one_file(void **state)
{
	struct world *w = *state;
	uint32_t file;

	open_fd(w, 1, 3);
	file = file_of(w, 1, 7);
	assert_int_equal(file_of(w, 1, 7), file);
	assert_int_equal(descriptors_unknown(w->descriptors), 1);
}

static void test_minus_one_is_no_descriptor(void **state)
{
	open_fd(*state, 1, 3);
	assert_int_equal(file_of(*state, 1, UINT64_MAX), 0);
	assert_int_equal(file_of(*state, 1, UINT32_MAX), 0);
}

static void test_size_follows_ftruncate(void **state)
{
	struct world *w = *state;

	open_fd(w, 1, 3);
	call(w, CALL_FTRUNCATE, 1, 3, 8192, 0, 0);
	call(w, CALL_FTRUNCATE, 1, 3, 4096, 0, 0);
	assert_int_equal(descriptors_at(w->descriptors, 1)->size, 4096);
	assert_int_equal(descriptors_at(w->descriptors, 1)->max_size, 8192);
}

static void test_size_grows_by_mappings(void **state)
{
	struct world *w = *state;

	open_fd(w, 1, 3);
	descriptors_mapped(w->descriptors, 1, 12288);
	descriptors_mapped(w->descriptors, 1, 4096);
	assert_int_equal(descriptors_at(w->descriptors, 1)->size, 12288);
}

static void test_table_goes_with_its_last_task(void **state)
{
	struct world *w = *state;

	for (unsigned i = 0; i < 100; i++) {
		point(w, EVENT_NEWTASK, 1, 2, 0);
		open_fd(w, 2, DESCRIPTORS_MAX - 1); /* 4 MiB: all together do not fit the bound */
		point(w, EVENT_EXIT, 2, 1, 0);
	}
	assert_int_equal(descriptors_files(w->descriptors), 100);
}

static void test_any_order_of_calls_is_survived(void **state)
{
	static const enum call calls[] = { CALL_OPENAT,   CALL_DUP,          CALL_DUP2,
		                           CALL_FCNTL,    CALL_CLOSE,        CALL_CLOSE_RANGE,
		                           CALL_MMAP,     CALL_MEMFD_CREATE, CALL_FTRUNCATE,
		                           CALL_FALLOCATE };
	struct world *w = *state;

	srandom(1);
	for (unsigned i = 0; i < 50000; i++) {
		uint32_t id = (uint32_t)random() % 8;
		uint64_t a[4];

		for (unsigned n = 0; n < 4; n++)
			a[n] = random() % 10 ? (uint64_t)random() % 64
			                     : ((uint64_t)random() << 33 | (uint64_t)random());
		if (random() % 8 == 0)
			point(w, EVENT_NEWTASK, id, a[0] % 8, a[1] << 9);
		else if (random() % 8 == 0)
			point(w, EVENT_EXEC + (unsigned)random() % 2, id, a[0] % 8, 0);
		else
			call(w, calls[(size_t)random() % (sizeof(calls) / sizeof(calls[0]))], id,
			     a[0], a[1], a[2], a[3]);
	}
	for (uint32_t id = 0; id < 8; id++) {
		uint32_t file;

		if (lineage_find(w->lineage, id) == LINEAGE_NONE)
			continue;
		file = file_of(w, id, 3);
		assert_in_range(file, 1, descriptors_files(w->descriptors));
	}
}

#define FD_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FD_TEST(test_open_makes_a_file),
		FD_TEST(test_open_again_replaces),
		FD_TEST(test_failed_open_makes_nothing),
		FD_TEST(test_memfd_is_named_so),
		FD_TEST(test_dups_share_the_file),
		FD_TEST(test_other_fcntl_is_no_dup),
		FD_TEST(test_close_forgets),
		FD_TEST(test_close_range_forgets_its_range),
		FD_TEST(test_close_range_cloexec_keeps),
		FD_TEST(test_close_range_unshare_leaves_the_others),
		FD_TEST(test_fork_copies_the_table),
		FD_TEST(test_thread_shares_the_table),
		FD_TEST(test_exec_keeps_the_table),
		FD_TEST(test_unknown_descriptor_stays_one_file),
		FD_TEST(test_minus_one_is_no_descriptor),
		FD_TEST(test_size_follows_ftruncate),
		FD_TEST(test_size_grows_by_mappings),
		FD_TEST(test_table_goes_with_its_last_task),
		FD_TEST(test_any_order_of_calls_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
