/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The JSON printer. */

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/json_out.h"

struct output {
	FILE *stream;
	char *text;
	size_t size;
	struct json_out json;
};

static struct json_out *output_open(struct output *o, bool pretty)
{
	o->stream = open_memstream(&o->text, &o->size);
	assert_non_null(o->stream);
	json_out_init(&o->json, o->stream, pretty);
	return &o->json;
}

static void output_is(struct output *o, const char *expected)
{
	fclose(o->stream);
	assert_string_equal(o->text, expected);
	free(o->text);
}

static void test_one_line_object(void **state)
{
	struct output o;
	struct json_out *j = output_open(&o, false);

	json_out_object(j, NULL);
	json_out_u64(j, "a", UINT64_MAX);
	json_out_i64(j, "b", -3);
	json_out_bool(j, "c", true);
	json_out_hex(j, "d", 0x7fb000);
	json_out_string(j, "e", NULL);
	json_out_end(j);
	output_is(&o, "{\"a\": 18446744073709551615, \"b\": -3, \"c\": true, "
	              "\"d\": \"0x7fb000\", \"e\": null}\n");
}

static void test_pretty_nests(void **state)
{
	struct output o;
	struct json_out *j = output_open(&o, true);

	json_out_object(j, NULL);
	json_out_array(j, "list");
	json_out_u64(j, NULL, 1);
	json_out_u64(j, NULL, 2);
	json_out_end(j);
	json_out_object(j, "empty");
	json_out_end(j);
	json_out_end(j);
	output_is(&o, "{\n  \"list\": [\n    1,\n    2\n  ],\n  \"empty\": {}\n}\n");
}

static void test_lines_of_objects(void **state)
{
	struct output o;
	struct json_out *j = output_open(&o, false);

	for (unsigned i = 0; i < 2; i++) {
		json_out_object(j, NULL);
		json_out_u64(j, "n", i);
		json_out_end(j);
	}
	output_is(&o, "{\"n\": 0}\n{\"n\": 1}\n");
}

static void escapes_to(const char *text, const char *expected)
{
	struct output o;
	struct json_out *j = output_open(&o, false);

	json_out_string(j, NULL, text);
	output_is(&o, expected);
}

static void test_quotes_and_backslashes_are_escaped(void **state)
{
	escapes_to("a\"b\\c", "\"a\\\"b\\\\c\"");
}

static void test_control_characters_are_escaped(void **state)
{
	escapes_to("\n\t\x1b[31m\x7f", "\"\\n\\t\\u001b[31m\\u007f\"");
}

static void test_c1_controls_are_escaped(void **state)
{
	escapes_to("\xc2\x9b", "\"\\u009b\"");
}

static void test_utf8_is_kept(void **state)
{
	escapes_to("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
	           "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

static void test_bad_utf8_is_replaced(void **state)
{
	escapes_to("a\xff\xc3", "\"a\\ufffd\\ufffd\"");
	escapes_to("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* a surrogate */
	escapes_to("\xc0\xaf", "\"\\ufffd\\ufffd\""); /* overlong */
}

static void prints_double(double value, const char *expected)
{
	struct output o;
	struct json_out *j = output_open(&o, false);

	json_out_double(j, NULL, value);
	output_is(&o, expected);
}

static void test_doubles_are_short_and_exact(void **state)
{
	prints_double(3.5, "3.5");
	prints_double(0.1, "0.1");
	prints_double(1.0 / 3, "0.3333333333333333");
}

static void test_not_finite_is_null(void **state)
{
	prints_double(NAN, "null");
	prints_double(INFINITY, "null");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_line_object),
		cmocka_unit_test(test_pretty_nests),
		cmocka_unit_test(test_lines_of_objects),
		cmocka_unit_test(test_quotes_and_backslashes_are_escaped),
		cmocka_unit_test(test_control_characters_are_escaped),
		cmocka_unit_test(test_c1_controls_are_escaped),
		cmocka_unit_test(test_utf8_is_kept),
		cmocka_unit_test(test_bad_utf8_is_replaced),
		cmocka_unit_test(test_doubles_are_short_and_exact),
		cmocka_unit_test(test_not_finite_is_null),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
