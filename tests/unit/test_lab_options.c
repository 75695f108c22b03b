/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Command lines of the lab, of the guest's command, and of QEMU. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "replay/lab_initramfs.h"
#include "replay/lab_qemu.h"

#define MAX_WORDS 32

/* Words apart by blanks, as lab_options_run() gets them. */
static int parse(struct lab_setup *s, char *line)
{
	static char *argv[MAX_WORDS];
	int argc = 0;

	for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return lab_options_run(s, argc, argv);
}

static void joined(char *const *words, size_t count, char *out, size_t size)
{
	*out = '\0';
	for (size_t i = 0; i < count; i++)
		snprintf(out + strlen(out), size - strlen(out), "%s%s", i ? " " : "", words[i]);
}

/* The words of the guest's command for a part. */
static void guest(const char *line, enum lab_part part, const char *want)
{
	struct lab_setup s;
	struct lab_words words;
	char copy[500], text[500];

	snprintf(copy, sizeof(copy), "%s", line);
	assert_int_equal(parse(&s, copy), 0);
	assert_int_equal(lab_words_make(&s, part, &words), 0);
	assert_null(words.items[words.count]);
	joined(words.items, words.count, text, sizeof(text));
	assert_string_equal(text, want);
	lab_words_clear(&words);
	lab_setup_clear(&s);
}

static void test_replay(void **state)
{
	guest("run --kernel a=a.img --boots 2 dir/t.mmt.zst --copies 2 --pin=0-99", LAB_PART_ALL,
	      "replay --repeat=1 --warmup=1 --sources=all --copies 2 --pin=0-99 --exclusive "
	      "--output=/tmp/result.json -- /traces/t.mmt.zst");
	guest("run --kernel a=c.img,t.img --sources=entries,lock_stat,profile t --no-latency",
	      LAB_PART_COUNT,
	      "replay --repeat=1 --warmup=1 --sources=entries,lock_stat,profile --no-latency "
	      "--exclusive --output=/tmp/result.json --sources=lock_stat,entries --no-time "
	      "--no-latency -- /traces/t");
	guest("run --kernel a=c.img,t.img --repeat 3 --warmup 0 t --sources lock_stat",
	      LAB_PART_TIME,
	      "replay --repeat=3 --warmup=0 --sources=all --sources lock_stat --exclusive "
	      "--output=/tmp/result.json --sources=none -- /traces/t");
}

static void test_measure(void **state)
{
	guest("run --kernel a=a.img -- ./bin/prog -x --repeat", LAB_PART_ALL,
	      "measure --repeat=1 --warmup=1 --sources=all --exclusive --output=/tmp/result.json "
	      "-- /files/prog -x --repeat");
	guest("run --kernel a=a.img measure --repeat 2 -- prog -- y", LAB_PART_ALL,
	      "measure --repeat=1 --warmup=1 --sources=all --repeat 2 --exclusive "
	      "--output=/tmp/result.json -- /files/prog -- y");
}

static void test_refused(void **state)
{
	static const char *const lines[] = {
		"run t",
		"run --kernel a=a.img",
		"run --kernel a t",
		"run --kernel =a.img t",
		"run --kernel a= t",
		"run --kernel ../a=a.img t",
		"run --kernel .a=a.img t",
		"run --kernel a=x --kernel a=y t",
		"run --kernel a=x,y,z t",
		"run --kernel a=,y t",
		"run --kernel a=x, t",
		"run --kernel a=x,y t --sources profile",
		"run --kernel a=x --cpus 0 t",
		"run --kernel a=x --cpus 256 t",
		"run --kernel a=x --numa 5 t",
		"run --kernel a=x --numa 0 t",
		"run --kernel a=x --boots 0 t",
		"run --kernel a=x --memory 1M t",
		"run --kernel a=x --timeout 0 t",
		"run --kernel a=x --sources lock_stats t",
		"run --kernel a=x t --sources lock_stat,nonsense",
		"run --kernel a=x t second",
		"run --kernel a=x t --nonsense",
		"run --kernel a=x t -o r.json",
		"run --kernel a=x t --append r.json",
		"run --kernel a=x t --exclusive",
		"run --kernel a=x t --repeat 0",
		"run --kernel a=x --repeat 0 t",
		"run --kernel a=x measure --repeat 2 --",
		"run --kernel a=x measure -o x -- prog",
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		struct lab_setup s;
		char copy[300];

		snprintf(copy, sizeof(copy), "%s", lines[i]);
		if (parse(&s, copy) >= 0)
			fail_msg("not refused: %s", lines[i]);
		lab_setup_clear(&s);
	}
}

static void test_parts(void **state)
{
	char out[128];

	assert_true(lab_part_sources("all", LAB_PART_COUNT, out, sizeof(out)));
	assert_string_equal(out, "lock_stat,entries");
	assert_true(lab_part_sources("all", LAB_PART_TIME, out, sizeof(out)));
	assert_string_equal(out, "contention,profile");
	assert_false(lab_part_sources("none", LAB_PART_COUNT, out, sizeof(out)));
	assert_string_equal(out, "none");
	assert_false(lab_part_sources("lock_stat", LAB_PART_TIME, out, sizeof(out)));
	assert_true(lab_part_sources("profile,lock_stat", LAB_PART_ALL, out, sizeof(out)));
	assert_string_equal(out, "profile,lock_stat");
}

static bool has_pair(char *const *words, const char *option, const char *value)
{
	for (size_t i = 0; words[i] && words[i + 1]; i++)
		if (!strcmp(words[i], option) && !strcmp(words[i + 1], value))
			return true;
	return false;
}

static void test_qemu(void **state)
{
	const struct lab_setup s = { .qemu = "qemu", .cpus = 5, .nodes = 2, .append = "quiet" };
	const struct lab_machine m = { .cpu = "max,-hypervisor", .memory = 1000ull << 20 };
	const struct lab_wires wires = { .initramfs = 7, .console = 8, .frames = 9 };
	char **words = lab_qemu_words(&s, &m, "b z.img", &wires);

	assert_non_null(words);
	assert_string_equal(words[0], "qemu");
	assert_true(has_pair(words, "-accel", "tcg,thread=multi"));
	assert_true(has_pair(words, "-cpu", "max,-hypervisor"));
	assert_true(has_pair(words, "-smp", "5"));
	assert_true(has_pair(words, "-m", "1000M"));
	assert_true(has_pair(words, "-kernel", "b z.img"));
	assert_true(has_pair(words, "-initrd", "/dev/fd/7"));
	assert_true(has_pair(words, "-chardev", "file,id=frames,path=/dev/fd/9"));
	/* Nodes share CPUs and memory, and together have all of it. */
	assert_true(has_pair(words, "-numa", "node,nodeid=0,memdev=node0,cpus=0-1"));
	assert_true(has_pair(words, "-numa", "node,nodeid=1,memdev=node1,cpus=2-4"));
	assert_true(has_pair(words, "-object", "memory-backend-ram,id=node0,size=645922816"));
	assert_true(has_pair(words, "-object", "memory-backend-ram,id=node1,size=402653184"));
	assert_true(has_pair(words, "-append",
	                     "console=ttyS0 panic=-1 oops=panic mitigations=off quiet"));
	lab_qemu_free(words);
}

static void test_probes_are_placed_in_one_thread(void **state)
{
	static const struct {
		const char *sources, *accel;
	} rows[] = {
		{ "lock_stat,entries", "tcg,thread=single" },
		{ "all", "tcg,thread=single" },
		{ "lock_stat,contention", "tcg,thread=multi" },
		{ "none", "tcg,thread=multi" },
		{ NULL, "tcg,thread=multi" },
	};
	const struct lab_wires wires = { .initramfs = 7, .console = 8, .frames = 9 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct lab_setup s = { .qemu = "qemu",
			                     .cpus = 1,
			                     .nodes = 1,
			                     .append = "",
			                     .sources = rows[i].sources };
		struct lab_machine m = { 0 };
		char **words;

		lab_machine_emulate(&m, &s);
		words = lab_qemu_words(&s, &m, "z.img", &wires);
		assert_non_null(words);
		assert_true(has_pair(words, "-accel", rows[i].accel));
		lab_qemu_free(words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replay),
		cmocka_unit_test(test_measure),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_qemu),
		cmocka_unit_test(test_probes_are_placed_in_one_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
