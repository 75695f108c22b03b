/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `doctor`. */

#include <stdio.h>
#include <string.h>

#include "capture/doctor.h"
#include "common/command.h"
#include "common/log.h"
#include "common/options.h"

static int print(const struct doctor_report *report, bool json)
{
	if (json)
		doctor_print_json(stdout, report);
	else
		doctor_print_text(stdout, report);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	log_error("standard output: %s", strerror(errno));
	return -EIO;
}

static int run_doctor(int argc, char **argv)
{
	enum { TEXT, JSON };
	struct doctor_report report;
	unsigned format = TEXT;
	const struct option options[] = {
		{ 0, "format", OPTION_CHOICE, &format, "FORMAT", "text (default) or json",
		  .choices = "text,json" },
		{ 0 },
	};
	const struct option_spec spec = {
		.usage = "mmtape doctor [options]",
		.about = "Says what this machine allows, and for each thing it does not, the cause "
			 "and the remedy. Changes nothing.",
		.options = options,
	};
	int operands, r = options_parse(&spec, argc, argv, &operands);

	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (operands > 0) {
		log_error("doctor takes no operand, not '%s'", argv[1]);
		return STATUS_USAGE;
	}
	r = doctor_examine(&report);
	if (r < 0) {
		log_error("doctor: %s", strerror(-r));
		return STATUS_FAILED;
	}
	r = print(&report, format == JSON);
	if (r == 0)
		r = doctor_missing(&report, DOCTOR_CAPTURE | DOCTOR_REPLAY) ? STATUS_INCOMPLETE
		                                                            : STATUS_DONE;
	doctor_report_clear(&report);
	return r < 0 ? STATUS_FAILED : r;
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "say what this machine allows, and what to do about the rest",
	.run = run_doctor,
};
