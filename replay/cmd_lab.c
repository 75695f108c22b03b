/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `lab`: boot kernels and measure in them. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/command.h"
#include "common/log.h"
#include "replay/lab_guest.h"
#include "replay/lab_initrd.h"
#include "replay/lab_run.h"

static void print_help(void)
{
	puts("usage: mmtape lab (run | shell) [options]\n"
	     "\n"
	     "Boots kernels in QEMU.\n"
	     "\n"
	     "  run        replay a trace, or measure a program, on each kernel in turn\n"
	     "  shell      look around in one\n"
	     "\n"
	     "mmtape lab run --help and mmtape lab shell --help say more.");
}

/* They end the guest, then what is ours. */
static void hold_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
}

static int shell(const struct lab_setup *s)
{
	char folder[] = "/tmp/mmtape-lab.XXXXXX", path[64];
	int r;

	if (!mkdtemp(folder)) {
		log_error("%s: %s", folder, strerror(errno));
		return STATUS_FAILED;
	}
	snprintf(path, sizeof(path), "%s/initrd", folder);
	r = lab_initrd_shell(s, path);
	if (r >= 0)
		r = lab_qemu_shell(&s->machine, s->kernels[0].image, path);
	unlink(path);
	rmdir(folder);
	return r ? STATUS_FAILED : STATUS_DONE;
}

static int run_part(int argc, char **argv)
{
	struct lab_setup setup;
	int r = lab_options_parse(&setup, argc, argv), status;

	if (r) {
		status = r == OPTIONS_HELP ? STATUS_DONE
		         : r == -EINVAL    ? STATUS_USAGE
		                           : STATUS_FAILED;
	} else {
		hold_signals();
		status = !strcmp(argv[0], "run") ? lab_run(&setup) : shell(&setup);
	}
	lab_options_clear(&setup);
	return status;
}

static int run(int argc, char **argv)
{
	if (argc > 1 && (!strcmp(argv[1], "run") || !strcmp(argv[1], "shell")))
		return run_part(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		print_help();
		return STATUS_DONE;
	}
	log_error("lab needs to know what to do: mmtape lab run or mmtape lab shell");
	return STATUS_USAGE;
}

const struct command command_lab = {
	.name = "lab",
	.summary = "boot kernels and measure in them",
	.run = run,
};

static int run_guest(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	if (getpid() == 1)
		return lab_guest_main();
	log_error("lab-guest is for the first process of a guest");
	return STATUS_USAGE;
}

/* Hidden: what the kernel of a guest starts. */
const struct command command_lab_guest = {
	.name = "lab-guest",
	.run = run_guest,
};
