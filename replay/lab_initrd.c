/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initramfs: mmtape as /init, what it works on, and the words of its command. */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_cpio.h"
#include "replay/lab_guest.h"
#include "replay/lab_initrd.h"

#define BUSYBOX "/bin/busybox"

static const char *const folders[] = { "dev", "proc", "sys", "tmp", "run", "lab", "bin" };

/* For kernels without devtmpfs. */
static const struct {
	const char *path;
	unsigned major, minor;
} nodes[] = {
	{ "dev/console", 5, 1 },
	{ "dev/null", 1, 3 },
	{ "dev/ttyS0", 4, 64 },
	{ "dev/ttyS1", 4, 65 },
};

static const char shell_script[] =
	"#!" BUSYBOX " sh\n" BUSYBOX " --install -s /bin\n"
	"export PATH=/bin:/\n"
	"mount -t proc proc /proc; mount -t sysfs sysfs /sys; mount -t devtmpfs devtmpfs /dev\n"
	"mount -t tracefs tracefs /sys/kernel/tracing; mount -t cgroup2 cgroup2 /sys/fs/cgroup\n"
	"mount -t tmpfs tmpfs /tmp; mount -t tmpfs tmpfs /run\n"
	"echo 'mmtape is here; leave with exit or Ctrl-A X'\n"
	"setsid cttyhack sh\n"
	"poweroff -f\n";

static int add_base(struct lab_cpio *c)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && r >= 0; i++)
		r = lab_cpio_folder(c, folders[i]);
	for (size_t i = 0; i < ARRAY_SIZE(nodes) && r >= 0; i++)
		r = lab_cpio_device(c, nodes[i].path, nodes[i].major, nodes[i].minor);
	return r;
}

static int add_file(struct lab_cpio *c, const char *to, const char *from)
{
	_cleanup_close_ int fd = open(from, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int r = fd < 0 || fstat(fd, &st) < 0 ? error_errno() : 0;

	if (r >= 0)
		r = lab_cpio_file(c, to, 0755, fd, (uint64_t)st.st_size);
	if (r < 0)
		log_error("%s: cannot put it into the guest: %s", from, strerror(-r));
	return r;
}

struct words {
	struct buffer text;
	int error;
};

static void put(struct words *w, const char *word)
{
	if (w->error >= 0)
		w->error = buffer_bytes(&w->text, word, strlen(word) + 1);
}

static void put_number(struct words *w, uint64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	put(w, text);
}

/* Later options win, so those of the user stand behind the lab's. */
static void put_options(struct words *w, const struct lab_setup *s, enum lab_part part)
{
	put(w, "--exclusive");
	put(w, "--force");
	put(w, "--output");
	put(w, LAB_GUEST_RESULT);
	put(w, "--repeat");
	put_number(w, s->repeat);
	put(w, "--warmup");
	put_number(w, s->warmup);
	put(w, "--sources");
	put(w, s->sources);
	if (part == LAB_PART_COUNT)
		put(w, "--no-time");
}

static void put_words(struct words *w, const struct lab_setup *s, enum lab_part part)
{
	put_number(w, s->swap);
	put(w, "mmtape");
	put(w, s->trace ? "replay" : "measure");
	put_options(w, s, part);
	if (s->trace) {
		for (char **word = s->words; *word; word++)
			put(w, *word);
		if (part == LAB_PART_COUNT)
			put(w, "--no-latency");
		if (part == LAB_PART_TIME)
			put(w, "--sources=none");
		put(w, LAB_GUEST_TRACE);
	} else {
		if (part == LAB_PART_TIME)
			put(w, "--sources=none");
		put(w, "--");
		put(w, LAB_GUEST_PROGRAM);
		for (char **word = s->words + 1; *word; word++)
			put(w, *word);
	}
}

static int add_job(struct lab_cpio *c, const struct lab_setup *s, enum lab_part part)
{
	struct words w = { 0 };
	int r;

	put_words(&w, s, part);
	r = w.error < 0 ? w.error
	                : lab_cpio_bytes(c, LAB_GUEST_JOB + 1, 0600, w.text.data, w.text.len);
	buffer_clear(&w.text);
	return r;
}

static int finish(struct lab_cpio *c, const char *path, int r)
{
	bool said = r < 0 && r != -ENOSPC;

	if (r >= 0)
		r = lab_cpio_end(c);
	if (fclose(c->to) && r >= 0)
		r = error_errno();
	if (r < 0 && !said)
		log_error("%s: %s", path, strerror(-r));
	return r;
}

static int begin(struct lab_cpio *c, const char *path)
{
	c->to = fopen(path, "wxe");
	if (c->to)
		return add_base(c);
	log_error("%s: %s", path, strerror(errno));
	return error_errno();
}

int lab_initrd_run(const struct lab_setup *s, enum lab_part part, const char *path)
{
	struct lab_cpio c = { 0 };
	int r = begin(&c, path);

	if (!c.to)
		return r;
	if (r >= 0)
		r = add_file(&c, "init", s->program);
	if (r >= 0)
		r = add_job(&c, s, part);
	if (r >= 0)
		r = s->trace ? add_file(&c, LAB_GUEST_TRACE + 1, s->trace)
		             : add_file(&c, LAB_GUEST_PROGRAM + 1, s->words[0]);
	return finish(&c, path, r);
}

int lab_initrd_shell(const struct lab_setup *s, const char *path)
{
	struct lab_cpio c = { 0 };
	int r = begin(&c, path);

	if (!c.to)
		return r;
	if (access(BUSYBOX, X_OK) < 0) {
		log_error(BUSYBOX ": %s: a shell needs it (Debian: busybox-static)",
		          strerror(errno));
		r = error_errno();
	}
	if (r >= 0)
		r = add_file(&c, BUSYBOX + 1, BUSYBOX);
	if (r >= 0)
		r = lab_cpio_bytes(&c, "init", 0755, shell_script, strlen(shell_script));
	if (r >= 0)
		r = add_file(&c, "mmtape", s->program);
	for (char **file = s->words; *file && r >= 0; file++) {
		const char *slash = strrchr(*file, '/');

		r = add_file(&c, slash ? slash + 1 : *file, *file);
	}
	return finish(&c, path, r);
}
