/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape info`: what is in a trace. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"
#include "traces/info.h"

#define DEFAULT_SHAPES 16

static int loss_order(const void *a, const void *b)
{
	const struct info_loss *x = a, *y = b;

	return x->cpu < y->cpu ? -1 : x->cpu > y->cpu;
}

/* Sums losses by CPU. */
static int losses_collect(struct info *info, const struct trace_reader *reader)
{
	size_t count, kept = 0;
	const struct trace_loss *losses = trace_reader_losses(reader, &count);
	struct info_loss *all = calloc(count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		all[i] = (struct info_loss){ losses[i].cpu, 1,
			                     losses[i].events ? losses[i].events : 1 };
	qsort(all, count, sizeof(*all), loss_order);
	for (size_t i = 0; i < count; i++) {
		if (kept && all[kept - 1].cpu == all[i].cpu) {
			all[kept - 1].spans += all[i].spans;
			all[kept - 1].events += all[i].events;
		} else {
			all[kept++] = all[i];
		}
	}
	info->losses = all;
	info->loss_count = kept;
	return 0;
}

/* In the order of --format's choices. */
static void (*const printers[])(const struct info *info) = { info_text_print, info_json_print };

static int info_show(const char *path, unsigned format, uint32_t shapes)
{
	struct info info = { .path = path, .shapes = shapes };
	struct trace_reader *reader = NULL;
	struct survey *survey = NULL;
	int r;

	r = trace_reader_new(&reader, path, TRACE_TOLERATE_DAMAGE);
	if (r < 0)
		return STATUS_FAILED; /* the reader has said why */
	r = survey_run(reader, &survey);
	if (r >= 0) {
		info.meta = trace_reader_meta(reader);
		info.status = trace_reader_status(reader);
		info.tail = trace_reader_tail(reader);
		info.survey = survey;
		info.complete = info.status->complete && !survey->partial;
		r = losses_collect(&info, reader);
	}
	if (r == -ENOMEM)
		log_error("%s: not enough memory to survey it", path);
	if (r >= 0)
		printers[format](&info);
	free(info.losses);
	survey_free(survey);
	trace_reader_free(reader);
	if (r < 0)
		return STATUS_FAILED;
	return info.complete ? STATUS_DONE : STATUS_INCOMPLETE;
}

static int run(int argc, char **argv)
{
	unsigned format = 0;
	uint32_t shapes = DEFAULT_SHAPES;
	int operands, r;
	const struct option options[] = {
		{ 0, "format", OPTION_CHOICE, &format, "FORMAT", "text (default) or json",
		  "text,json" },
		{ 0, "shapes", OPTION_U32, &shapes, "N",
		  "show that many of the heaviest shapes of calls (default 16)" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape info [options] FILE",
		"Shows what is in a trace: the machine and its settings, tasks and spaces, events "
		"by kind, losses, the heaviest shapes of calls, and the memory that a replay "
		"needs. Exits with 3 if the trace is not all of the recording.",
		options,
	};

	r = options_parse(&spec, argc, argv, &operands);
	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands != 1) {
		log_error("info needs one trace: `mmtape info FILE`");
		return STATUS_USAGE;
	}
	return info_show(argv[1], format, shapes);
}

const struct command command_info = { "info", "show what is in a trace", run };
