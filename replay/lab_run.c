/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command `lab run`: all boots of all kernels, in turns. Each boot starts
 * with another kernel than the one before, so that what drifts on this machine
 * falls on all alike.
 */

#include <string.h>
#include <sys/signalfd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_boot.h"
#include "replay/lab_files.h"
#include "replay/lab_initramfs.h"
#include "replay/lab_results.h"

struct lab {
	struct lab_setup *setup;
	struct lab_machine machine;
	int initramfs[LAB_PART_TIME + 1]; /* by part; -1: not needed */
	json_t *described[LAB_MAX_KERNELS]; /* provenance.lab of each kernel */
	int signals;
	sigset_t mask; /* that we were started with */
};

static int watch_signals(struct lab *l)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		sigaddset(&set, ending[i]);
	sigprocmask(SIG_BLOCK, &set, &l->mask);
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signals < 0 ? error_errno() : 0;
}

static int check_images(const struct lab_setup *s)
{
	for (size_t i = 0; i < s->kernel_count; i++)
		for (size_t j = 0; j < 2 && s->kernels[i].images[j]; j++) {
			_cleanup_close_ int fd = lab_open_image(s->kernels[i].images[j]);

			if (fd < 0)
				return fd;
		}
	return 0;
}

static bool is_needed(const struct lab_setup *s, enum lab_part part)
{
	for (size_t i = 0; i < s->kernel_count; i++)
		if (!s->kernels[i].images[1] == (part == LAB_PART_ALL))
			return true;
	return false;
}

static int make_initramfs(struct lab *l)
{
	for (int part = 0; part <= LAB_PART_TIME; part++) {
		struct lab_words words = { 0 };
		int fd;

		if (!is_needed(l->setup, (enum lab_part)part))
			continue;
		fd = lab_words_make(l->setup, (enum lab_part)part, &words);
		if (fd >= 0)
			fd = lab_initramfs_new(l->setup, &words);
		lab_words_clear(&words);
		if (fd < 0)
			return fd;
		l->initramfs[part] = fd;
	}
	return 0;
}

static int describe(struct lab *l)
{
	struct lab_setup *s = l->setup;
	int r = 0;

	for (size_t i = 0; i < s->kernel_count && r >= 0; i++) {
		r = lab_describe(s, &l->machine, &s->kernels[i], &l->described[i]);
		if (r >= 0 && s->resume)
			r = lab_results_resume(s, &s->kernels[i], l->described[i]);
	}
	return r;
}

static int prepare(struct lab *l)
{
	const struct lab_kernel *first = &l->setup->kernels[0];
	int r = check_images(l->setup);

	if (r >= 0)
		r = lab_results_prepare(l->setup);
	if (r >= 0 && l->setup->trace)
		r = lab_check_trace(l->setup);
	if (r >= 0)
		r = lab_machine_choose(&l->machine, l->setup);
	if (r >= 0)
		r = make_initramfs(l);
	if (r >= 0)
		r = watch_signals(l);
	if (r >= 0)
		r = lab_boot_choose(l->setup, &l->machine,
		                    l->initramfs[first->images[1] ? LAB_PART_COUNT : LAB_PART_ALL],
		                    l->signals, &l->mask);
	return r < 0 ? r : describe(l);
}

/* One image once. 1: no result, which was said. */
static int boot_image(struct lab *l, struct lab_kernel *k, unsigned boot, enum lab_part part,
                      struct result **out)
{
	struct lab_machine machine = l->machine;
	char label[160];
	struct lab_boot b = {
		.setup = l->setup,
		.machine = &machine,
		.image = k->images[part == LAB_PART_TIME],
		.label = label,
		.initramfs = l->initramfs[part],
		.signals = l->signals,
		.mask = &l->mask,
	};
	int r;

	/* Nothing is patched there. */
	machine.one_thread &= part != LAB_PART_TIME;
	snprintf(label, sizeof(label), "%s boot %u%s", k->name, boot,
	         part == LAB_PART_COUNT  ? " (counting)"
	         : part == LAB_PART_TIME ? " (timed)"
	                                 : "");
	r = lab_boot_run(&b);
	if (r > 0)
		lab_boot_report(&b);
	if (r == 0 && result_parse(out, (const char *)b.result.data, b.result.len, label) < 0)
		r = 1;
	/* Boots that go well would all say the same. */
	if (r == 0 && (!k->result || (b.status && l->setup->trace)))
		lab_boot_messages(&b);
	/* Of a command of the user's the status is its own. */
	if (r == 0 && b.status && l->setup->trace)
		k->incomplete = true;
	lab_boot_clear(&b);
	return r;
}

/* Both images of a kernel that has two. */
static int boot_pair(struct lab *l, struct lab_kernel *k, unsigned boot, struct result **out)
{
	struct result *counts = NULL;
	int r = boot_image(l, k, boot, LAB_PART_COUNT, &counts);

	if (r == 0)
		r = boot_image(l, k, boot, LAB_PART_TIME, out);
	if (r == 0 && result_join_passes(*out, counts) < 0) {
		*out = result_free(*out);
		r = 1;
	}
	result_free(counts);
	return r;
}

static int boot_kernel(struct lab *l, size_t at, unsigned boot)
{
	struct lab_kernel *k = &l->setup->kernels[at];
	struct result *made = NULL;
	int r;

	if (k->given_up || lab_results_have(k, boot))
		return 0;
	log_progress("%s boot %u of %u", k->name, boot, l->setup->boots);
	r = k->images[1] ? boot_pair(l, k, boot, &made)
	                 : boot_image(l, k, boot, LAB_PART_ALL, &made);
	if (r < 0)
		return r;
	if (r == 0 && lab_results_add(l->setup, k, made, boot, l->described[at]) < 0)
		r = 1;
	if (r > 0) {
		k->failed++;
		k->given_up = !k->result;
	}
	return 0;
}

static int boot_all(struct lab *l)
{
	struct lab_setup *s = l->setup;
	int r = 0;

	for (unsigned boot = 0; boot < s->boots && r >= 0; boot++)
		for (size_t i = 0; i < s->kernel_count && r >= 0; i++)
			r = boot_kernel(l, (i + boot) % s->kernel_count, boot);
	return r;
}

static int conclude(const struct lab_setup *s)
{
	int status = STATUS_DONE;

	for (size_t i = 0; i < s->kernel_count; i++) {
		const struct lab_kernel *k = &s->kernels[i];

		if (!k->result) {
			log_error("%s: no result", k->name);
			return STATUS_FAILED;
		}
		if (k->failed) {
			log_warn("%s: %u of %u boots failed", k->name, k->failed, s->boots);
			status = STATUS_INCOMPLETE;
		}
		if (k->incomplete)
			status = STATUS_INCOMPLETE;
	}
	return status;
}

int lab_run(struct lab_setup *s)
{
	struct lab l = { .setup = s, .initramfs = { -1, -1, -1 }, .signals = -1 };
	int r = prepare(&l), status = STATUS_FAILED;

	if (r >= 0) {
		r = boot_all(&l);
		if (r == -EINTR)
			log_error("interrupted: finished boots are in %s, and --resume goes on "
			          "with them",
			          s->output);
		else if (r >= 0)
			status = conclude(s);
	}
	for (size_t i = 0; i < s->kernel_count; i++)
		json_decref(l.described[i]);
	for (size_t i = 0; i < ARRAY_SIZE(l.initramfs); i++)
		if (l.initramfs[i] >= 0)
			close(l.initramfs[i]);
	if (l.signals >= 0)
		close(l.signals);
	return status;
}
