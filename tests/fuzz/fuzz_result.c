/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as a result; what is accepted is compared with itself, shown in every format, joined.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/diff_format.h"
#include "common/cleanup.h"
#include "fuzz.h"

static const struct diff_format *const formats[] = {
	&diff_format_block, &diff_format_records,  &diff_format_csv,
	&diff_format_json,  &diff_format_markdown,
};

/* Nothing that acts on a terminal gets through. */
static void check_output(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (((unsigned char)text[i] < ' ' && text[i] != '\n') || text[i] == 0x7f)
			abort();
}

static void show(const struct diff *d)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		if (!f || formats[i]->print(f, d) < 0)
			abort();
		fclose(f);
		check_output(text, size);
		free(text);
	}
}

static void compare_with_itself(const char *path)
{
	static const struct option_list nothing_varied;
	const struct compare_options options = { .vary = &nothing_varied };
	struct comparison c = { 0 };
	struct side sides[2] = { 0 };
	struct diff d = { .side_count = 2, .sides = sides, .comparisons = &c, .all = true };

	if (side_read(&sides[0], path) == 0 && side_read(&sides[1], path) == 0) {
		if (compare_sides(&c, &sides[0], &sides[1], &options) < 0)
			abort();
		/* The same figures never differ. */
		if (c.better || c.worse)
			abort();
		show(&d);
		comparison_clear(&c);
	}
	side_clear(&sides[0]);
	side_clear(&sides[1]);
}

/* What is read twice are boots of one kernel, if there is room for both. */
static void join_with_itself(const char *path)
{
	struct result *into = NULL, *from = NULL;

	if (result_read(&into, path) == 0 && result_read(&from, path) == 0) {
		unsigned boots = result_next_boot(from);

		if (result_append(into, from, boots) == 0 && result_next_boot(into) != 2 * boots)
			abort();
	}
	result_free(into);
	result_free(from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[40];
	int fd = fuzz_file(data, size, path);

	fuzz_quiet();
	compare_with_itself(path);
	join_with_itself(path);
	close(fd);
	return 0;
}
