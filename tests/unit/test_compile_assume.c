/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory that no recorded call mapped, and the scratch files behind mappings. */

#include "tests/unit/compile_sample.h"

#define RUN(s, task, at) EVENT(s, task, EVENT_FAULT_USER, at, FAULT_USER | FAULT_INSTRUCTION)

static const struct plan_map *plan_map(const struct script *s, uint32_t space, uint32_t i)
{
	assert_true(i < plan_space(s, space)->map_count);
	return (const struct plan_map *)plan_at(&s->plan, plan_space(s, space)->maps) + i;
}

static const struct plan_file *plan_file(const struct script *s, uint32_t file)
{
	assert_in_range(file, 1, s->plan.header->file_count);
	return (const struct plan_file *)plan_at(&s->plan, s->plan.header->files) + (file - 1);
}

static void expect_map(const struct plan_map *m, uint64_t at, uint64_t length, uint32_t prot)
{
	assert_int_equal(m->address, ORIGIN + at);
	assert_int_equal(m->length, length);
	assert_int_equal(m->prot, prot);
}

static void maps_record(struct script *s, uint32_t process, const struct trace_map *map,
                        size_t count)
{
	struct trace_map copy[8];
	struct trace_maps maps = { .time = s->now,
		                   .process = process,
		                   .flags = MAPS_READ_LATE,
		                   .count = count,
		                   .maps = copy };

	memcpy(copy, map, count * sizeof(*map));
	script_open(s);
	assert_int_equal(trace_writer_maps(s->writer, &maps), 0);
}

#define MAPS(s, process, ...)                                                                      \
	maps_record(s, process, (struct trace_map[]){ __VA_ARGS__ },                               \
	            sizeof((struct trace_map[]){ __VA_ARGS__ }) / sizeof(struct trace_map))

static void test_touches_near_each_other_share_a_mapping(void **state)
{
	SCRIPT;

	script_begin(&s);
	WRITE(&s, 7, BASE);
	READ(&s, 7, BASE + 8 * PAGE);
	WRITE(&s, 7, BASE + 100 * PAGE);
	RUN(&s, 7, BASE + 101 * PAGE);
	compile_well(&s);
	expect(&s, 0, "touch 0 /1; touch 8000; touch 64000 /1; touch 65000");
	assert_int_equal(plan_space(&s, 0)->map_count, 3);
	expect_map(plan_map(&s, 0, 0), 0, 9 * PAGE, RW);
	expect_map(plan_map(&s, 0, 1), 100 * PAGE, PAGE, RW);
	expect_map(plan_map(&s, 0, 2), 101 * PAGE, PAGE, PROT_READ | PROT_EXEC);
	assert_int_equal(counts(&s)->assumed_maps, 3);
	assert_int_equal(counts(&s)->assumed_bytes, 11 * PAGE);
}

static void test_calls_on_unseen_memory(void **state)
{
	SCRIPT;

	script_begin(&s);
	CALL(&s, 7, MADVISE, 0, BASE, 4 * PAGE, MADV_WILLNEED);
	UNMAP(&s, 7, BASE + 64 * PAGE, 2 * PAGE);
	compile_well(&s);
	expect(&s, 0, "madvise 0 4000 /3; munmap 40000 2000");
	assert_int_equal(plan_space(&s, 0)->map_count, 2);
}

static void test_read_mappings_say_how_long(void **state)
{
	const struct plan_map *m;
	SCRIPT;

	script_begin(&s);
	EXEC(&s, 7);
	MAPS(&s, 7, { BASE, BASE + 16 * PAGE, 0, 77, PROT_READ | PROT_EXEC, MAP_KIND_FILE },
	     { BASE + 16 * PAGE, BASE + 24 * PAGE, 16 * PAGE, 77, PROT_READ, MAP_KIND_FILE },
	     { BASE + 99 * PAGE, BASE + 101 * PAGE, 0, 0, RW, MAP_KIND_ANON });
	RUN(&s, 7, BASE + 5 * PAGE);
	WRITE(&s, 7, BASE + 17 * PAGE); /* protected later: it was writable */
	compile_well(&s);
	assert_int_equal(plan_space(&s, 0)->map_count, 2);
	m = plan_map(&s, 0, 0);
	expect_map(m, 0, 16 * PAGE, PROT_READ | PROT_EXEC);
	assert_int_equal(m->flags, MAP_PRIVATE);
	assert_int_equal(m->file, 1);
	m = plan_map(&s, 0, 1);
	expect_map(m, 16 * PAGE, 8 * PAGE, RW);
	assert_int_equal(m->file, 1);
	assert_int_equal(m->file_offset, 16 * PAGE);
	assert_int_equal(plan_file(&s, 1)->size, 24 * PAGE);
	assert_int_equal(plan_file(&s, 1)->window_count, 2);
}

static void test_what_calls_mapped_is_no_assumption(void **state)
{
	SCRIPT;

	script_begin(&s);
	EXEC(&s, 7);
	WRITE(&s, 7, BASE);
	MAP(&s, 7, BASE + 8 * PAGE, 8 * PAGE);
	MAPS(&s, 7, { BASE, BASE + 16 * PAGE, 0, 0, RW, MAP_KIND_ANON });
	compile_well(&s);
	assert_int_equal(plan_space(&s, 0)->map_count, 1);
	expect_map(plan_map(&s, 0, 0), 0, 8 * PAGE, RW);
}

static void test_the_stack_is_one_region(void **state)
{
	SCRIPT;

	script_begin(&s);
	EXEC(&s, 7);
	MAPS(&s, 7, { BASE + 100 * PAGE, BASE + 133 * PAGE, 0, 0, RW, MAP_KIND_STACK });
	WRITE(&s, 7, BASE + 132 * PAGE);
	WRITE(&s, 7, BASE + 40 * PAGE);
	compile_well(&s);
	assert_int_equal(plan_space(&s, 0)->map_count, 1);
	expect_map(plan_map(&s, 0, 0), 40 * PAGE, 93 * PAGE, RW);
}

static void test_children_of_forks_share_the_list(void **state)
{
	SCRIPT;

	script_begin(&s);
	WRITE(&s, 7, BASE);
	FORK(&s, 7, 8);
	WRITE(&s, 8, BASE + PAGE);
	WRITE(&s, 7, BASE + PAGE);
	compile_well(&s);
	assert_int_equal(plan_space(&s, 0)->map_count, 1);
	expect_map(plan_map(&s, 0, 0), 0, 2 * PAGE, RW);
	expect(&s, 0, "touch 0 /1; clone 1; touch 1000 /1");
}

/* Mapped by one copy of a space and used by the other: no list can have it. */
static void test_an_inconsistent_use_is_mapped_in_place(void **state)
{
	SCRIPT;

	script_begin(&s);
	FORK(&s, 7, 8);
	MAP(&s, 8, BASE, PAGE);
	WRITE(&s, 7, BASE);
	compile_well(&s);
	expect(&s, 0, "clone 1; mmap 0 1000 /3 assumed; touch 0 /1");
	assert_int_equal(counts(&s)->assumed_maps, 1);
}

static void test_mappings_of_one_descriptor_share_a_file(void **state)
{
	const uint64_t *op;
	SCRIPT;

	script_begin(&s);
	LEAVE(&s, 7, OPENAT, 3);
	CALL(&s, 7, MMAP, BASE, 0, 4 * PAGE, RW, MAP_SHARED, 3, 0);
	CALL(&s, 7, MMAP, BASE + 16 * PAGE, 0, 4 * PAGE, RW, MAP_SHARED, 3, 60 * PAGE);
	CALL(&s, 7, MMAP, BASE + 32 * PAGE, 0, PAGE, RW, MAP_SHARED, 4, 0); /* never opened */
	WRITE(&s, 7, BASE + 17 * PAGE);
	compile_well(&s);
	assert_int_equal(s.plan.header->file_count, 2);
	assert_int_equal(plan_file(&s, 1)->size, 64 * PAGE);
	assert_int_equal(plan_file(&s, 1)->window_count, 1);
	assert_int_equal(*(const uint64_t *)plan_at(&s.plan, plan_file(&s, 1)->windows), 0x30000);
	assert_int_equal(counts(&s)->unknown_files, 1);
	op = plan_at(&s.plan, plan_task(&s, 0)->words);
	assert_int_equal(op[3] >> 32, 1);
	assert_int_equal(op[4], 0);
	op += 1 + plan_operands(op);
	assert_int_equal(op[3] >> 32, 1);
	assert_int_equal(op[4], 60 * PAGE);
}

static void test_populated_files_are_filled(void **state)
{
	SCRIPT;

	script_begin(&s);
	LEAVE(&s, 7, OPENAT, 3);
	CALL(&s, 7, MMAP, BASE, 0, 33 * PAGE, PROT_READ, MAP_SHARED | MAP_POPULATE, 3, 0);
	compile_well(&s);
	assert_int_equal(plan_file(&s, 1)->window_count, 3);
}

static void test_too_many_files_share(void **state)
{
	SCRIPT;

	script_begin(&s);
	for (uint64_t i = 0; i < 5000; i++) {
		LEAVE(&s, 7, OPENAT, 3);
		CALL(&s, 7, MMAP, BASE + i * PAGE, 0, PAGE, RW, MAP_SHARED, 3, 0);
	}
	compile_well(&s);
	assert_int_equal(s.plan.header->file_count, 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touches_near_each_other_share_a_mapping),
		cmocka_unit_test(test_calls_on_unseen_memory),
		cmocka_unit_test(test_read_mappings_say_how_long),
		cmocka_unit_test(test_what_calls_mapped_is_no_assumption),
		cmocka_unit_test(test_the_stack_is_one_region),
		cmocka_unit_test(test_children_of_forks_share_the_list),
		cmocka_unit_test(test_an_inconsistent_use_is_mapped_in_place),
		cmocka_unit_test(test_mappings_of_one_descriptor_share_a_file),
		cmocka_unit_test(test_populated_files_are_filled),
		cmocka_unit_test(test_too_many_files_share),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
