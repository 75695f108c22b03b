/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The result file: what is written is read back, and what is broken is refused. */

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "analysis/result.h"
#include "common/cleanup.h"

static char folder[] = "/tmp/mmtape-test-result-XXXXXX";
static char file[64], other[64];

static void put_bytes(const char *bytes, size_t size)
{
	FILE *f = fopen(file, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static int read_status(void)
{
	struct result *r = NULL;
	int e = result_read(&r, file);

	if (e < 0)
		assert_null(r);
	result_free(r);
	return e;
}

static int read_text(const char *text)
{
	put_bytes(text, strlen(text));
	return read_status();
}

/* A whole result around one replaced part. */
static int read_with(const char *part)
{
	char text[1024];
	static const char *const parts[][2] = {
		{ "\"version\"", "1" },   { "\"provenance\"", "{}" },  { "\"primary\"", "[]" },
		{ "\"units\"", "{}" },    { "\"better\"", "{}" },      { "\"denominators\"", "{}" },
		{ "\"fidelity\"", "{}" }, { "\"repetitions\"", "[]" },
	};
	size_t n = (size_t)snprintf(text, sizeof(text), "{\"schema\": \"mmtape-result\"");

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		size_t len = strlen(parts[i][0]);

		if (strncmp(part, parts[i][0], len))
			n += (size_t)snprintf(text + n, sizeof(text) - n, ", %s: %s", parts[i][0],
			                      parts[i][1]);
	}
	snprintf(text + n, sizeof(text) - n, "%s%s}", *part ? ", " : "", part);
	return read_text(text);
}

static struct result *small_result(void)
{
	struct result *r;

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(result_metric(r, "elapsed", "s", BETTER_LESS, true), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(result_row(r, 0, i, RESULT_PASS_TIME), 0);
		assert_int_equal(result_value(r, "elapsed", 1.25 + i / 3.0), 0);
		assert_int_equal(result_value(r, "vmstat.pgactivate", 1e6 + i), 0);
	}
	return r;
}

static void test_round_trip(void **state)
{
	struct result *r = small_result(), *back;

	assert_int_equal(result_write(r, file, true), 0);
	assert_int_equal(result_read(&back, file), 0);
	assert_true(json_equal((json_t *)result_json(r), (json_t *)result_json(back)));
	assert_string_equal(result_unit(back, "elapsed"), "s");
	assert_int_equal(result_direction(back, "elapsed"), BETTER_LESS);
	assert_true(result_is_primary(back, "elapsed"));
	assert_false(result_is_primary(back, "vmstat.pgactivate"));
	assert_int_equal(result_direction(back, "vmstat.pgactivate"), BETTER_NONE);
	result_free(r);
	result_free(back);
}

static void test_file_is_private_and_exclusive(void **state)
{
	struct result *r = small_result();
	struct stat st;

	assert_int_equal(result_write(r, file, true), 0);
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(result_write(r, file, false), -EEXIST);
	assert_int_equal(symlink(file, other), 0);
	assert_int_equal(result_write(r, other, true), -ENXIO);
	assert_int_equal(unlink(other), 0);
	result_free(r);
}

static void test_full_disk_is_said(void **state)
{
	struct result *r = small_result();

	assert_int_equal(result_write(r, "/proc/version", false), -EEXIST);
	assert_true(result_write(r, "/nonexistent/x.json", false) == -ENOENT);
	result_free(r);
}

static void test_builder_bounds(void **state)
{
	struct result *r;
	char name[300];

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(result_value(r, "early", 1), -EINVAL);
	assert_int_equal(result_row(r, 0, 0, "time"), 0);
	assert_int_equal(result_value(r, "x", (double)NAN), -EINVAL);
	assert_int_equal(result_value(r, "x", (double)INFINITY), -EINVAL);
	for (unsigned i = 0; i < RESULT_MAX_PRIMARY; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(result_metric(r, name, "", BETTER_LESS, true), 0);
		assert_int_equal(result_metric(r, name, "", BETTER_LESS, true), 0);
	}
	assert_int_equal(result_metric(r, "one-more", "", BETTER_LESS, true), -E2BIG);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(result_metric(r, name, "", BETTER_LESS, false), -E2BIG);
	result_free(r);
}

static void test_known_metrics_declare_themselves(void **state)
{
	struct result *r;
	char name[64];

	assert_int_equal(result_new(&r), 0);
	assert_int_equal(result_row(r, 0, 0, "time"), 0);
	assert_int_equal(result_value(r, "elapsed", 1), 0);
	assert_int_equal(result_value(r, "latency.madvise.p99", 1), 0);
	assert_int_equal(result_value(r, "nothing-known", 1), 0);
	assert_true(result_is_primary(r, "elapsed"));
	assert_string_equal(result_unit(r, "elapsed"), "s");
	assert_string_equal(result_unit(r, "latency.madvise.p99"), "ns");
	assert_int_equal(result_direction(r, "latency.madvise.p99"), BETTER_LESS);
	assert_int_equal(result_direction(r, "nothing-known"), BETTER_NONE);
	assert_int_equal(result_value(r, "lock.slab.wait", 1), 0);
	assert_int_equal(result_value(r, "lock.lru.free.acquisitions_per_folio", 1), 0);
	assert_false(result_is_primary(r, "lock.slab.wait"));
	assert_string_equal(result_unit(r, "lock.lru.free.acquisitions_per_folio"), "per folio");
	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "m%u", i);
		assert_int_equal(result_metric(r, name, "", BETTER_LESS, true), 0);
	}
	assert_int_equal(result_value(r, "lock.lru.wait", 1), 0);
	assert_int_equal(result_value(r, "lock.zone-free.wait", 1), 0);
	assert_true(result_is_primary(r, "lock.lru.wait"));
	assert_false(result_is_primary(r, "lock.zone-free.wait"));
	assert_string_equal(result_unit(r, "lock.zone-free.wait"), "s");
	result_free(r);
}

static int next_pair(const void *from, size_t i, const char **key, const char **value)
{
	static const char *const pairs[][2] = { { "thp", "always" }, { "bad\xff", "\xc3(" } };

	if (i == ARRAY_SIZE(pairs))
		return 0;
	*key = pairs[i][0];
	*value = pairs[i][1];
	return 1;
}

static void test_pairs(void **state)
{
	json_t *o = result_pairs(next_pair, NULL);

	assert_int_equal(json_object_size(o), 2);
	assert_string_equal(json_string_value(json_object_get(o, "thp")), "always");
	assert_string_equal(json_string_value(json_object_get(o, "bad\xef\xbf\xbd")),
	                    "\xef\xbf\xbd(");
	json_decref(o);
}

static void test_cut_anywhere_is_refused(void **state)
{
	struct result *r = small_result();
	char *text = json_dumps(result_json(r), JSON_INDENT(1));
	size_t size = strlen(text);

	for (size_t i = 0; i < size; i++) {
		put_bytes(text, i);
		assert_int_equal(read_status(), -EBADMSG);
	}
	put_bytes(text, size);
	assert_int_equal(read_status(), 0);
	free(text);
	result_free(r);
}

static void test_flipped_bytes_do_not_crash(void **state)
{
	struct result *r = small_result();
	char *text = json_dumps(result_json(r), JSON_INDENT(1));
	size_t size = strlen(text);

	for (size_t i = 0; i < size; i++) {
		int e;

		text[i] ^= 0x15;
		put_bytes(text, size);
		e = read_status();
		assert_true(e == 0 || e == -EBADMSG || e == -EPROTONOSUPPORT);
		text[i] ^= 0x15;
	}
	free(text);
	result_free(r);
}

static void test_newer_version_is_named(void **state)
{
	assert_int_equal(read_with(""), 0);
	assert_int_equal(read_with("\"version\": 2"), -EPROTONOSUPPORT);
	assert_int_equal(read_with("\"version\": 0"), -EBADMSG);
	assert_int_equal(read_with("\"version\": \"1\""), -EBADMSG);
}

static void test_foreign_files_are_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"[]",
		"{}",
		"null",
		"{\"schema\": \"other\", \"version\": 1}",
		"\x28\xb5\x2f\xfd",
		"{\"schema\": \"mmtape-result\"}",
		"{\"schema\": 1, \"version\": 1}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_int_equal(read_text(texts[i]), -EBADMSG);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(read_status(), -ENOENT);
	assert_int_equal(mkdir(file, 0700), 0);
	assert_int_equal(read_status(), -EISDIR);
	assert_int_equal(rmdir(file), 0);
}

static void test_wrong_types_are_refused(void **state)
{
	static const char *const parts[] = {
		"\"provenance\": []",
		"\"fidelity\": 1",
		"\"primary\": {}",
		"\"primary\": [1]",
		"\"primary\": [\"\"]",
		"\"primary\": [\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\",\"a\",\"b\"]",
		"\"units\": {\"a\": 1}",
		"\"better\": {\"a\": \"maybe\"}",
		"\"denominators\": {\"a\": \"1\"}",
		"\"repetitions\": {}",
		"\"repetitions\": [1]",
		"\"repetitions\": [{}]",
		"\"repetitions\": [{\"boot\": -1, \"round\": 0, \"pass\": \"t\", \"metrics\": {}}]",
		"\"repetitions\": [{\"boot\": 0.5, \"round\": 0, \"pass\": \"t\", \"metrics\": "
		"{}}]",
		"\"repetitions\": [{\"boot\": 99999999999, \"round\": 0, \"pass\": \"t\", "
		"\"metrics\": {}}]",
		"\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": 1, \"metrics\": {}}]",
		"\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": \"t\", \"metrics\": []}]",
		"\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": \"t\", \"order\": 21, "
		"\"metrics\": {}}]",
		"\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": \"t\", \"order\": null, "
		"\"metrics\": {}}]",
		"\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": \"t\", \"metrics\": "
		"{\"a\": null}}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		assert_int_equal(read_with(parts[i]), -EBADMSG);
}

static void test_wild_numbers_are_refused(void **state)
{
	static const char *const numbers[] = { "NaN",  "Infinity",
		                               "-inf", "1e999",
		                               "nan",  "123456789012345678901234567890",
		                               "0x10", "1." };
	char part[200];

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		snprintf(part, sizeof(part),
		         "\"repetitions\": [{\"boot\": 0, \"round\": 0, \"pass\": \"t\", "
		         "\"metrics\": {\"a\": %s}}]",
		         numbers[i]);
		assert_int_equal(read_with(part), -EBADMSG);
	}
}

static void test_deep_and_large_files_are_refused(void **state)
{
	size_t size = RESULT_MAX_BYTES + 4096;
	char *text = malloc(size);

	assert_non_null(text);
	memset(text, '[', size);
	put_bytes(text, 1 << 20);
	assert_int_equal(read_status(), -EBADMSG);
	memset(text, ' ', size);
	put_bytes(text, size);
	assert_int_equal(read_status(), -EBADMSG);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_file_is_private_and_exclusive),
		cmocka_unit_test(test_full_disk_is_said),
		cmocka_unit_test(test_builder_bounds),
		cmocka_unit_test(test_known_metrics_declare_themselves),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_cut_anywhere_is_refused),
		cmocka_unit_test(test_flipped_bytes_do_not_crash),
		cmocka_unit_test(test_newer_version_is_named),
		cmocka_unit_test(test_foreign_files_are_refused),
		cmocka_unit_test(test_wrong_types_are_refused),
		cmocka_unit_test(test_wild_numbers_are_refused),
		cmocka_unit_test(test_deep_and_large_files_are_refused),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	snprintf(file, sizeof(file), "%s/a.json", folder);
	snprintf(other, sizeof(other), "%s/link", folder);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(file);
	rmdir(folder);
	return failed;
}
