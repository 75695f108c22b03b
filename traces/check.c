/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape check`: is a trace whole? Every frame is decoded and every checksum compared. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/escape.h"
#include "common/json_out.h"
#include "common/log.h"
#include "common/options.h"
#include "traces/reader.h"

struct check {
	const char *path;
	struct trace_reader *reader;
	const struct trace_status *status;
	uint64_t events; /* that came out of the merge */
};

static enum exit_status verdict(const struct trace_status *s)
{
	if (s->damage_count)
		return STATUS_FAILED;
	return s->complete ? STATUS_DONE : STATUS_INCOMPLETE;
}

static void text_print(const struct check *c)
{
	const struct trace_status *s = c->status;
	uint64_t shown = s->damage_count;

	if (shown > ARRAY_SIZE(s->damage))
		shown = ARRAY_SIZE(s->damage);
	escape_message(stdout, c->path);
	printf(": %s\n", s->damage_count ? "damaged"
	                 : s->complete   ? "whole"
	                                 : "readable, but incomplete");
	printf("  %" PRIu64 " bytes, %" PRIu64 " blocks, %" PRIu64 " events\n", s->bytes, s->blocks,
	       s->events);
	for (uint64_t i = 0; i < shown; i++) {
		printf("  offset %" PRIu64 ": %s", s->damage[i].offset, s->damage[i].what);
		if (s->damage[i].bytes)
			printf(", %" PRIu64 " bytes unreadable", s->damage[i].bytes);
		putchar('\n');
	}
	if (s->damage_count > shown)
		printf("  and %" PRIu64 " more places\n", s->damage_count - shown);
	if (s->lost)
		printf("  events missing: at least %" PRIu64 "\n", s->lost);
	if (!s->has_tail)
		printf("  it has no end: the recording was killed, or the file was cut\n");
}

static void json_print(const struct check *c)
{
	const struct trace_status *s = c->status;
	struct json_out j;

	json_out_init(&j, stdout, true);
	json_out_object(&j, NULL);
	json_out_string(&j, "file", c->path);
	json_out_string(&j, "verdict",
	                s->damage_count ? "damaged"
	                : s->complete   ? "whole"
	                                : "incomplete");
	json_out_bool(&j, "complete", s->complete);
	json_out_bool(&j, "has_tail", s->has_tail);
	json_out_u64(&j, "bytes", s->bytes);
	json_out_u64(&j, "blocks", s->blocks);
	json_out_u64(&j, "events", s->events);
	json_out_u64(&j, "lost", s->lost);
	json_out_u64(&j, "damage_count", s->damage_count);
	json_out_array(&j, "damage");
	for (size_t i = 0; i < s->damage_count && i < ARRAY_SIZE(s->damage); i++) {
		json_out_object(&j, NULL);
		json_out_u64(&j, "offset", s->damage[i].offset);
		json_out_u64(&j, "bytes", s->damage[i].bytes);
		json_out_string(&j, "what", s->damage[i].what);
		json_out_end(&j);
	}
	json_out_end(&j);
	json_out_end(&j);
}

/* In the order of --format's choices. */
static void (*const printers[])(const struct check *c) = { text_print, json_print };

static int check_file(const char *path, unsigned format)
{
	struct check c = { .path = path };
	const struct event *e;
	int r = trace_reader_new(&c.reader, path, TRACE_TOLERATE_DAMAGE);

	if (r < 0)
		return STATUS_FAILED;
	while ((r = trace_reader_next(c.reader, &e)) == 1)
		c.events++;
	c.status = trace_reader_status(c.reader);
	if (!r && c.events != c.status->events) {
		log_error("%s: has %" PRIu64 " events by its blocks, but %" PRIu64 " were read",
		          path, c.status->events, c.events);
		r = -EBADMSG;
	}
	if (!r) {
		printers[format](&c);
		r = verdict(c.status);
	}
	trace_reader_free(c.reader);
	return r < 0 ? STATUS_FAILED : r;
}

static int run(int argc, char **argv)
{
	unsigned format = 0;
	int operands, r;
	const struct option options[] = {
		{ 0, "format", OPTION_CHOICE, &format, "FORMAT", "text (default) or json",
		  "text,json" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape check [options] FILE",
		"Verifies every block of a trace. Exits with 0 if it is whole, 3 if it can be read "
		"but "
		"is not all of the recording, 1 if it is damaged or no trace.",
		options,
	};

	r = options_parse(&spec, argc, argv, &operands);
	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands != 1) {
		log_error("check needs one trace: `mmtape check FILE`");
		return STATUS_USAGE;
	}
	return check_file(argv[1], format);
}

const struct command command_check = { "check", "verify that a trace is whole", run };
