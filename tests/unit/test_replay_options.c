/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of the options of `replay`. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/replay_options.h"

static void test_pace(void **state)
{
	static const struct {
		const char *text;
		uint64_t pace;
	} good[] = {
		{ "asap", 0 },
		{ "recorded", 65536 },
		{ "x1", 65536 },
		{ "x10", 655360 },
		{ "x0.5", 32768 },
		{ "x.25", 16384 },
		{ "x65536", 1ULL << 32 },
	};
	uint64_t pace;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(replay_parse_pace(good[i].text, &pace), 0);
		assert_int_equal(pace, good[i].pace);
	}
}

static void test_nonsense_pace(void **state)
{
	static const char *const bad[] = { "",     "x",      "10",     "x0",   "x-1",   "xinf",
		                           "x1e3", "x1.2.3", "x65537", "fast", "x0x10", "x 1" };
	uint64_t pace;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(replay_parse_pace(bad[i], &pace), -EINVAL);
}

static void test_fill(void **state)
{
	enum state_fill fill;
	uint32_t ratio;

	assert_int_equal(replay_parse_fill("zero", &fill, &ratio), 0);
	assert_int_equal(fill, FILL_ZERO);
	assert_int_equal(replay_parse_fill("random", &fill, &ratio), 0);
	assert_int_equal(fill, FILL_RANDOM);
	assert_int_equal(ratio, 1000);
	assert_int_equal(replay_parse_fill("ratio=0.4", &fill, &ratio), 0);
	assert_int_equal(fill, FILL_RANDOM);
	assert_int_equal(ratio, 400);
	assert_int_equal(replay_parse_fill("ratio=0", &fill, &ratio), 0);
	assert_int_equal(fill, FILL_ZERO);
}

static void test_nonsense_fill(void **state)
{
	static const char *const bad[] = { "", "ones", "ratio", "ratio=", "ratio=1.1", "ratio=-1" };
	enum state_fill fill;
	uint32_t ratio;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(replay_parse_fill(bad[i], &fill, &ratio), -EINVAL);
}

static void test_every_rule_has_a_name(void **state)
{
	static const char *const names[] = { "use-after-map",
		                             "unmap-after-use",
		                             "map-after-unmap",
		                             "fault-before-unmap",
		                             "protect",
		                             "contents",
		                             "fork" };
	unsigned all = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		all |= replay_parse_rule(names[i]);
	assert_int_equal(all, RULE_ALL);
	assert_int_equal(replay_parse_rule("nonsense"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pace),
		cmocka_unit_test(test_nonsense_pace),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_nonsense_fill),
		cmocka_unit_test(test_every_rule_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
