/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event streams that no kernel would make: the compiler refuses them or makes a
 * plan that keeps what plans promise. With an argument: that many streams from
 * a second argument's seed on.
 */

#include "tests/unit/compile_sample.h"

static uint64_t seed;

static uint64_t roll(uint64_t below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (seed >> 33) % below;
}

static uint64_t wild_address(void)
{
	switch (roll(20)) {
	case 0:
		return roll(UINT32_MAX) << roll(33);
	case 1:
		return BASE + roll(1 << 20);
	case 2:
		return UINT64_MAX - roll(1 << 20);
	case 3:
		return BASE + (roll(64) << 30);
	default:
		return BASE + roll(24) * PAGE + (roll(4) ? 0 : roll(4) << 21);
	}
}

static uint64_t wild_length(void)
{
	switch (roll(16)) {
	case 0:
		return roll(UINT32_MAX) << roll(33);
	case 1:
		return roll(PAGE * 4);
	case 2:
		return 0;
	case 3:
		return (1 + roll(3)) << 21;
	default:
		return (1 + roll(8)) * PAGE;
	}
}

static uint64_t wild_result(unsigned call)
{
	if (!roll(8))
		return (uint64_t) - (int64_t)(1 + roll(40));
	if (call == CALL_MMAP || call == CALL_MREMAP || call == CALL_BRK || call == CALL_SHMAT)
		return wild_address();
	if (call == CALL_WAIT4)
		return 1 + roll(12);
	return roll(6) ? 0 : roll(8);
}

static uint64_t wild_flags(unsigned call)
{
	static const uint64_t maps[] = {
		0x22,   0x21,    0x2,    0x1,     0x32,   0x12,  0x100022,
		0x4022, 0x20022, 0x8022, 0x40022, 0x2022, 0x122, 0xffffffff
	};

	if (call == CALL_MMAP)
		return maps[roll(sizeof(maps) / sizeof(maps[0]))];
	return roll(16) ? roll(8) : roll(UINT32_MAX);
}

static void wild_call(struct script *s, uint32_t task, unsigned call, bool leave)
{
	uint64_t arg[6] = { wild_address(),   wild_length(), roll(26),
		            wild_flags(call), roll(6),       roll(64) * PAGE };

	if (call == CALL_MREMAP) {
		arg[2] = wild_length();
		arg[3] = roll(8);
		arg[4] = wild_address();
	}
	if (call >= CALL_PRCTL && call != CALL_SHMDT)
		arg[0] = roll(8);
	if (call >= CALL_DUP)
		arg[1] = roll(8);
	if (call == CALL_PRCTL && roll(2))
		arg[0] = 0x53564d41;
	if (!leave)
		event(s, task, EVENT_ENTER(call), arg, 6);
	else
		EVENT(s, task, EVENT_LEAVE(call), wild_result(call));
}

static uint8_t inside[16]; /* task to the call it is in, plus one */

static void wild_event(struct script *s)
{
	static const unsigned calls[] = { CALL_MMAP,    CALL_MMAP,     CALL_MUNMAP, CALL_MREMAP,
		                          CALL_MADVISE, CALL_MPROTECT, CALL_BRK };
	static const uint64_t flags[] = { THREAD_FLAGS, 0x1200000, 0x4100, 0x4000,
		                          0x100,        0x10000,   0x10100 };
	uint32_t task = 1 + (uint32_t)roll(8);
	unsigned call;

	switch (roll(24)) {
	case 0:
		EVENT(s, task, EVENT_NEWTASK, 1 + roll(12), flags[roll(7)]);
		return;
	case 1:
		EVENT(s, task, EVENT_PREPARE_EXEC, 0);
		return;
	case 2:
		EVENT(s, task, EVENT_EXEC, roll(3) ? task : 1 + roll(8));
		return;
	case 3:
		EVENT(s, task, EVENT_EXIT, roll(3));
		return;
	case 4:
	case 5:
	case 6:
	case 7:
	case 8:
	case 9:
	case 10:
		EVENT(s, task, roll(3) ? EVENT_FAULT_USER : EVENT_FAULT_KERNEL, wild_address(),
		      roll(32));
		return;
	default:
		call = inside[task] ? inside[task] - 1u
		       : roll(3)    ? calls[roll(7)]
		                    : (unsigned)roll(CALL_COUNT);
		wild_call(s, task, call, inside[task] != 0);
		inside[task] = inside[task] || !roll(30) ? 0 : (uint8_t)(call + 1);
	}
}

static void wild_maps(struct script *s)
{
	struct trace_map map[3];
	struct trace_maps maps = { .time = s->now, .process = 1 + (uint32_t)roll(8), .maps = map };

	maps.count = roll(4);
	maps.flags = (uint32_t)roll(8);
	for (size_t i = 0; i < maps.count; i++) {
		uint64_t start = wild_address(), end = start + wild_length();

		map[i] = (struct trace_map){ start,
			                     end > start ? end : UINT64_MAX,
			                     roll(100) * PAGE,
			                     roll(3),
			                     (uint32_t)roll(8) | (uint32_t)roll(2) << 31,
			                     (uint32_t)roll(6) };
	}
	script_open(s);
	assert_int_equal(trace_writer_maps(s->writer, &maps), 0);
}

static void wild_options(struct compile_options *o)
{
	o->placement = (enum plan_placement)roll(3);
	o->order = roll(4) ? ORDER_DEPS : ORDER_SERIAL;
	o->touch = (enum plan_touch)roll(3);
	o->paced = !roll(4);
	o->emulate_brk = roll(2);
	o->hugetlb = roll(2);
	o->seal = roll(2);
	o->write_reads = roll(2);
	o->rules = roll(2) ? RULE_ALL : (unsigned)roll(RULE_ALL + 1);
}

static uint64_t one_stream(uint64_t start, size_t length)
{
	uint64_t operations = 0;
	SCRIPT;
	int r;

	seed = start;
	memset(inside, 0, sizeof(inside));
	script_begin(&s);
	s.seed = start;
	if (!roll(3))
		wild_maps(&s);
	for (size_t i = 0; i < length; i++)
		wild_event(&s);
	wild_options(&s.options);
	r = script_compile(&s);
	if (r < 0)
		return 0;
	check_plan(&s);
	operations = counts(&s)->operations;
	return operations;
}

static uint64_t streams = 400, first = 1;

static void test_streams(void **state)
{
	uint64_t operations = 0;

	for (uint64_t i = first; i < first + streams; i++)
		operations += one_stream(i, 20 + i % 400);
	/* Most of it was replayable: the test reaches more than the refusals. */
	assert_true(operations > streams * 20);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
	};

	if (argc > 1)
		streams = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		first = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
