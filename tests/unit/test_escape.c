/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from files cannot act on a terminal, a spreadsheet or a page. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/escape.h"

static void put_text(FILE *f, const char *text)
{
	escape_text(f, text);
}

static void check(void (*put)(FILE *, const char *), const char *text, const char *want)
{
	char *got = NULL;
	size_t size;
	FILE *f = open_memstream(&got, &size);

	assert_non_null(f);
	put(f, text);
	fclose(f);
	assert_string_equal(got, want);
	free(got);
}

static void test_terminal(void **state)
{
	check(put_text, "plain_name/64kB", "plain_name/64kB");
	check(put_text, "a\033[31mb\n\r\t\x7f", "a\\x1b[31mb\\x0a\\x0d\\x09\\x7f");
	check(put_text, "\xff\xc3(", "\\xff\\xc3(");
	check(put_text, "caf\u00e9 \u00b1", "caf\u00e9 \u00b1");
	check(put_text, "\u202egnp\u200b\xc2\x9b", "\\u202egnp\\u200b\\u009b");
}

static void test_columns(void **state)
{
	FILE *f = fopen("/dev/null", "w");

	assert_int_equal(escape_text(f, "abc"), 3);
	assert_int_equal(escape_text(f, "\u00e9"), 1);
	assert_int_equal(escape_text(f, "\033\u202e"), 10);
	fclose(f);
}

static void test_csv(void **state)
{
	check(escape_csv, "", "");
	check(escape_csv, "vmstat.pgfault", "vmstat.pgfault");
	check(escape_csv, "a,b", "\"a,b\"");
	check(escape_csv, "a\"b", "\"a\"\"b\"");
	check(escape_csv, "=1+2", "\"'=1+2\"");
	check(escape_csv, "@x", "\"'@x\"");
	check(escape_csv, "-x", "\"'-x\"");
	check(escape_csv, "a\nb", "\"a\\x0ab\"");
	check(escape_csv, "\033", "\\x1b");
}

static void test_markdown(void **state)
{
	check(escape_markdown, "a|b", "a\\|b");
	check(escape_markdown, "<b>&`x`", "&lt;b&gt;&amp;\\`x\\`");
	check(escape_markdown, "[a](b)\n| c", "\\[a\\]\\(b\\)\\x0a\\| c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_markdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
