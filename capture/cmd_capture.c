/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `capture`. */

#include <sys/wait.h>

#include "capture/record.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"

#define DEFAULT_OUTPUT "trace.mmt.zst"

/* As a shell gives it: the command's own status, or 128 and the signal. */
static int status_of(const struct record_summary *s)
{
	if (!s->command_ended)
		return STATUS_OWN_FAILURE;
	if (WIFSIGNALED(s->command_status))
		return 128 + WTERMSIG(s->command_status);
	return WEXITSTATUS(s->command_status);
}

static int failure_status(const struct record_summary *s)
{
	if (!s->exec_error)
		return STATUS_OWN_FAILURE;
	return s->exec_error == -ENOENT ? 127 : 126;
}

static int run_capture(int argc, char **argv)
{
	struct record_options o = { .output = DEFAULT_OUTPUT, .progress = true };
	struct record_summary summary;
	bool strict = false;
	const struct option options[] = {
		{ 'o', "output", OPTION_STRING, &o.output, "FILE",
		  "the trace to make (" DEFAULT_OUTPUT ")" },
		{ 'f', "force", OPTION_FLAG, &o.force, NULL, "replace FILE if it exists" },
		{ 0, "buffer-size", OPTION_SIZE, &o.buffer_bytes, "SIZE",
		  "the kernel's buffer per CPU (4M)" },
		{ 0, "max-duration", OPTION_TIME, &o.max_duration, "TIME",
		  "stop recording after TIME; the command goes on" },
		{ 0, "max-size", OPTION_SIZE, &o.max_bytes, "SIZE",
		  "stop recording when FILE has this size" },
		{ 0, "futex", OPTION_FLAG, &o.futex, NULL, "record futex calls too" },
		{ 0, "raw-addresses", OPTION_FLAG, &o.raw_addresses, NULL,
		  "keep addresses as they are; they reveal the layout of living processes" },
		{ 0, "no-names", OPTION_FLAG, &o.no_names, NULL, "leave out the names of tasks" },
		{ 0, "with-command", OPTION_FLAG, &o.with_command, NULL,
		  "put the command line into the trace" },
		{ 0, "no-io-uring", OPTION_FLAG, &o.plain_reads, NULL, "drain with plain reads" },
		{ 0, "strict", OPTION_FLAG, &strict, NULL, "exit with 3 if events were lost" },
		{ 0, "no-watch", OPTION_FLAG, &o.no_watch, NULL, "guess mappings of short programs",
		  NULL, NULL, true },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape capture [options] -- COMMAND [arguments]",
		"Records what a command and all its descendants ask of memory management: calls, "
		"page faults, tasks. The command's exit status is passed on; 125 is a failure of "
		"the recorder, 126 and 127 a command that cannot be run.",
		options,
		true,
	};
	int operands;
	int r = options_parse(&spec, argc, argv, &operands);

	if (r != 0)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!operands) {
		log_error("no command to record: mmtape capture -o FILE -- COMMAND");
		return STATUS_USAGE;
	}
	o.command = argv + 1;
	r = record_run(&o, &summary);
	if (r < 0)
		return failure_status(&summary);
	log_info("%s: %llu events in %.1f s, %llu bytes", o.output,
	         (unsigned long long)summary.events, (double)summary.duration / 1e9,
	         (unsigned long long)summary.bytes);
	if (strict && summary.lost)
		return STATUS_INCOMPLETE;
	return status_of(&summary);
}

const struct command command_capture = {
	.name = "capture",
	.summary = "record a command and all its descendants",
	.run = run_capture,
};
