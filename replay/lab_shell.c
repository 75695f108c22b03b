/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command `lab shell`: a guest on this terminal. */

#include <string.h>
#include <sys/wait.h>
#include <termios.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_boot.h"
#include "replay/lab_files.h"
#include "replay/lab_initramfs.h"

/* QEMU takes the terminal, and the signals that the terminal sends. */
static int attend(const struct lab_setup *s, const struct lab_machine *m, int initramfs,
                  const sigset_t *mask)
{
	const struct lab_wires wires = { .initramfs = initramfs, .console = -1, .frames = -1 };
	char **words = lab_qemu_words(s, m, s->kernels[0].images[0], &wires);
	struct termios before;
	bool terminal = tcgetattr(STDIN_FILENO, &before) == 0;
	int r, status = 0;
	pid_t qemu;

	if (!words) {
		log_error("not enough memory");
		return STATUS_FAILED;
	}
	r = lab_qemu_start(&qemu, words, &wires, -1, mask);
	lab_qemu_free(words);
	if (r < 0)
		return STATUS_FAILED;
	signal(SIGINT, SIG_IGN);
	while (waitpid(qemu, &status, 0) < 0 && errno == EINTR)
		;
	if (terminal)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &before);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? STATUS_DONE : STATUS_FAILED;
}

int lab_shell(struct lab_setup *s)
{
	_cleanup_close_ int image = lab_open_image(s->kernels[0].images[0]);
	_cleanup_close_ int initramfs = -1;
	struct lab_machine machine;
	sigset_t mask;

	if (image < 0 || lab_machine_choose(&machine, s) < 0)
		return STATUS_FAILED;
	initramfs = lab_initramfs_new(s, NULL);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	if (initramfs < 0 || lab_boot_choose(s, &machine, initramfs, -1, &mask) < 0)
		return STATUS_FAILED;
	return attend(s, &machine, initramfs, &mask);
}
