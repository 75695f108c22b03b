/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Strings from files do no harm where they are printed. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "common/escape.h"

static void put_text(FILE *out, const char *text)
{
	escape_text(out, text);
}

static void assert_escaped(void (*escape)(FILE *, const char *), const char *in, const char *want)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	escape(out, in);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(text, want);
	free(text);
}

static void test_text(void **state)
{
	static const char *const rows[][2] = {
		{ "ld.lld", "ld.lld" },
		{ "", "" },
		{ "a b", "a b" },
		{ "\033[2J", "\\x1b[2J" },
		{ "a\nb\r\t", "a\\x0ab\\x0d\\x09" },
		{ "\"\\", "\\\"\\\\" },
		{ "caf\xc3\xa9", "caf\xc3\xa9" },
		{ "\xff\xc3", "\\xff\\xc3" },
		{ "\xc2\x9b"
		  "31m",
		  "\\u{9b}31m" },
		{ "\xe2\x80\xae"
		  "gpj",
		  "\\u{202e}gpj" },
		{ "\x7f", "\\x7f" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_escaped(put_text, rows[i][0], rows[i][1]);
}

static void test_message(void **state)
{
	static const char *const rows[][2] = {
		{ "a\\b: \"x\"", "a\\b: \"x\"" },
		{ "\033[31m\n", "\\x1b[31m\\x0a" },
		{ "\xff", "\\xff" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_escaped(escape_message, rows[i][0], rows[i][1]);
}

static void test_csv(void **state)
{
	static const char *const rows[][2] = {
		{ "ld.lld", "ld.lld" },      { "a,b", "\"a,b\"" },  { "a\"b", "\"a\"\"b\"" },
		{ "=1+1", "'=1+1" },         { "@x", "'@x" },       { "-2", "'-2" },
		{ "+2,\"", "\"'+2,\"\"\"" }, { "a\nb", "a\\x0ab" }, { "\t=1", "\\x09=1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_escaped(escape_csv, rows[i][0], rows[i][1]);
}

static void test_columns(void **state)
{
	static const struct {
		const char *text;
		unsigned columns;
	} rows[] = { { "", 0 },     { "abc", 3 }, { "caf\xc3\xa9", 4 }, { "\033", 4 },
		     { "\xff", 4 }, { "\"", 2 },  { "\\", 2 },          { "\xe2\x80\xae", 8 } };
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_int_equal(escape_text(out, rows[i].text), rows[i].columns);
	fclose(out);
}

static void test_markdown(void **state)
{
	static const char *const rows[][2] = {
		{ "a|b", "a\\|b" },
		{ "<b>&`x`", "&lt;b\\>&amp;\\`x\\`" },
		{ "[a](b)\n", "\\[a\\]\\(b\\)\\x0a" },
		{ "a\\|\"b\"", "a\\\\\\|\"b\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_escaped(escape_markdown, rows[i][0], rows[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),     cmocka_unit_test(test_message),
		cmocka_unit_test(test_csv),      cmocka_unit_test(test_columns),
		cmocka_unit_test(test_markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
