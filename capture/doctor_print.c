/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What doctor found, for people and for programs. */

#include <string.h>
#include <sys/utsname.h>

#include "capture/doctor.h"
#include "common/cleanup.h"
#include "common/json_out.h"

#define NAME_COLUMNS 20
#define TEXT_COLUMN (2 + NAME_COLUMNS + 5)
#define COLUMNS 100

static const struct {
	const char *name;
	unsigned need;
} commands[] = {
	{ "capture", DOCTOR_CAPTURE },
	{ "replay", DOCTOR_REPLAY },
};

/* Words, broken where the line would become too long; the first line is begun already. */
static void print_wrapped(FILE *stream, const char *text)
{
	size_t column = TEXT_COLUMN;

	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > TEXT_COLUMN && column + 1 + word > COLUMNS) {
			fprintf(stream, "\n%*s", TEXT_COLUMN, "");
			column = TEXT_COLUMN;
		} else if (column > TEXT_COLUMN) {
			fputc(' ', stream);
			column++;
		}
		fprintf(stream, "%.*s", (int)word, text);
		column += word;
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', stream);
}

static void print_line(FILE *stream, const struct doctor_line *line)
{
	const struct doctor_answer *a = &line->answer;
	char text[sizeof(a->cause) + sizeof(a->remedy) + 2];

	if (a->works)
		snprintf(text, sizeof(text), "%s", a->value);
	else
		snprintf(text, sizeof(text), "%s%s%s", a->cause, *a->remedy ? ": " : "", a->remedy);
	fprintf(stream, "  %-*s %-3s ", NAME_COLUMNS, line->name, a->works ? "yes" : "no");
	print_wrapped(stream, text);
}

void doctor_print_text(FILE *stream, const struct doctor_report *report)
{
	const char *topic = "";

	for (size_t i = 0; i < report->count; i++) {
		if (strcmp(report->lines[i].topic, topic)) {
			topic = report->lines[i].topic;
			fprintf(stream, "%s%s\n", i ? "\n" : "", topic);
		}
		print_line(stream, &report->lines[i]);
	}
	fputc('\n', stream);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		unsigned missing = doctor_missing(report, commands[i].need);

		if (missing)
			fprintf(stream, "%s: not in full, %u %s missing\n", commands[i].name,
			        missing, missing == 1 ? "thing is" : "things are");
		else
			fprintf(stream, "%s: works in full\n", commands[i].name);
	}
}

static void print_json_line(struct json_out *j, const struct doctor_line *line)
{
	const struct doctor_answer *a = &line->answer;

	json_out_object(j, NULL);
	json_out_string(j, "topic", line->topic);
	json_out_string(j, "name", line->name);
	json_out_bool(j, "works", a->works);
	json_out_bool(j, "needed", line->need != DOCTOR_OPTIONAL);
	if (a->works) {
		json_out_string(j, "value", a->value);
	} else {
		json_out_string(j, "cause", a->cause);
		json_out_string(j, "remedy", a->remedy);
	}
	json_out_end(j);
}

void doctor_print_json(FILE *stream, const struct doctor_report *report)
{
	struct utsname u;
	struct json_out j;

	json_out_init(&j, stream, true);
	json_out_object(&j, NULL);
	json_out_string(&j, "mmtape", MMTAPE_VERSION);
	json_out_string(&j, "kernel", uname(&u) < 0 ? NULL : u.release);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		json_out_bool(&j, commands[i].name, !doctor_missing(report, commands[i].need));
	json_out_array(&j, "checks");
	for (size_t i = 0; i < report->count; i++)
		print_json_line(&j, &report->lines[i]);
	json_out_end(&j);
	json_out_end(&j);
}
