/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program: a table of commands. */

#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "replay/lab_guest.h"

/* Every command is one file, whose last symbol is its descriptor. */
extern const struct command command_capture;
extern const struct command command_info;
extern const struct command command_dump;
extern const struct command command_check;
extern const struct command command_salvage;
extern const struct command command_replay;
extern const struct command command_measure;
extern const struct command command_verify;
extern const struct command command_diff;
extern const struct command command_doctor;
extern const struct command command_lab;
extern const struct command command_replay_space;

/* clang-format off */
static const struct command *const commands[] = {
	&command_capture,
	&command_info,
	&command_dump,
	&command_check,
	&command_salvage,
	&command_replay,
	&command_measure,
	&command_verify,
	&command_diff,
	&command_doctor,
	&command_lab,
	&command_replay_space,
	NULL,
};
/* clang-format on */

static void print_help(void)
{
	puts("mmtape: record what a workload asks of Linux memory management, play it\n"
	     "again on another kernel, and say which locks and costs changed.\n"
	     "\n"
	     "usage: mmtape COMMAND [options]   (mmtape COMMAND --help for its options)\n");
	for (size_t i = 0; commands[i]; i++)
		if (commands[i]->summary)
			printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\nversion " MMTAPE_VERSION);
}

int main(int argc, char **argv)
{
	if (lab_guest_is_us(argv[0]))
		lab_guest_main();
	if (argc < 2) {
		log_error("no command given: `mmtape --help` lists them");
		return STATUS_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		print_help();
		return STATUS_DONE;
	}
	if (!strcmp(argv[1], "--version")) {
		puts(MMTAPE_VERSION);
		return STATUS_DONE;
	}
	for (size_t i = 0; commands[i]; i++)
		if (!strcmp(argv[1], commands[i]->name))
			return commands[i]->run(argc - 1, argv + 1);
	log_error("no command '%s': `mmtape --help` lists them", argv[1]);
	return STATUS_USAGE;
}
