/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts an initramfs together: mmtape as /init, the command and its files. */

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_cpio.h"
#include "replay/lab_files.h"
#include "replay/lab_initramfs.h"

#define BUSYBOX "/bin/busybox"

static const char *const folders[] = {
	"bin", "dev", "proc", "sys", "tmp", "run", LAB_FOLDER, LAB_FILES, LAB_TRACES,
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int say(const char *path, int error)
{
	log_error("%s: cannot be put into the guest: %s", path, strerror(-error));
	return error;
}

/* Prints its line. */
static int add_open(struct lab_cpio *c, const char *folder, const char *path, int fd)
{
	_cleanup_free_ char *name = NULL;
	struct stat st;
	int r;

	if (asprintf(&name, "%s%s", folder, base_name(path)) < 0)
		return say(path, -ENOMEM);
	if (fstat(fd, &st) < 0)
		return say(path, error_errno());
	if (!S_ISREG(st.st_mode)) {
		log_error("%s: not a regular file", path);
		return -EINVAL;
	}
	r = lab_cpio_file(c, name, st.st_mode & 0111 ? 0755 : 0644, fd, (uint64_t)st.st_size);
	return r < 0 ? say(path, r) : 0;
}

static int add_path(struct lab_cpio *c, const char *folder, const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	return fd < 0 ? say(path, error_errno()) : add_open(c, folder, path, fd);
}

static int add_base(struct lab_cpio *c)
{
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && r >= 0; i++)
		r = lab_cpio_folder(c, folders[i]);
	if (r >= 0)
		r = lab_cpio_device(c, "dev/console", 5, 1);
	return r;
}

static int add_orders(struct lab_cpio *c, const struct lab_setup *s, const struct lab_words *words)
{
	struct buffer text = { 0 };
	char swap[32];
	int r = 0;

	if (s->swap) {
		snprintf(swap, sizeof(swap), "%llu", (unsigned long long)s->swap);
		r = lab_cpio_bytes(c, LAB_SWAP, 0644, swap, strlen(swap));
	}
	for (size_t i = 0; words && i < words->count && r >= 0; i++)
		r = buffer_bytes(&text, words->items[i], strlen(words->items[i]) + 1);
	if (r >= 0 && words)
		r = lab_cpio_bytes(c, LAB_ARGUMENTS, 0644, text.data, text.len);
	buffer_clear(&text);
	return r;
}

static int add_program(struct lab_cpio *c, const struct lab_setup *s)
{
	_cleanup_close_ int fd = lab_open_mmtape(s);
	struct stat st;
	int r;

	if (fd < 0)
		return fd;
	r = fstat(fd, &st) < 0 ? error_errno()
	                       : lab_cpio_file(c, "init", 0755, fd, (uint64_t)st.st_size);
	return r < 0 ? say("mmtape", r) : 0;
}

static int add_command(struct lab_cpio *c, const char *path)
{
	_cleanup_close_ int fd = lab_open_program(path, NULL);

	return fd < 0 ? fd : add_open(c, LAB_FILES "/", path, fd);
}

static int add_shell(struct lab_cpio *c)
{
	_cleanup_close_ int fd = -1;

	if (access(BUSYBOX, F_OK) < 0) {
		log_error("lab shell needs a static busybox at " BUSYBOX ": Debian has it in "
		          "busybox-static");
		return -ENOENT;
	}
	fd = lab_open_program(BUSYBOX, NULL);
	return fd < 0 ? fd : add_open(c, "bin/", BUSYBOX, fd);
}

/* Prints its line. */
static int add_contents(struct lab_cpio *c, const struct lab_setup *s,
                        const struct lab_words *words)
{
	int r = add_program(c, s);

	if (r >= 0 && s->trace)
		r = add_path(c, LAB_TRACES "/", s->trace);
	if (r >= 0 && s->command)
		r = add_command(c, s->command[0]);
	if (r >= 0 && !words)
		r = add_shell(c);
	for (size_t i = 0; i < s->files.count && r >= 0; i++)
		r = add_path(c, LAB_FILES "/", s->files.items[i]);
	return r;
}

int lab_initramfs_new(const struct lab_setup *s, const struct lab_words *words)
{
	_cleanup_close_ int fd = memfd_create("mmtape-initramfs", MFD_CLOEXEC);
	_cleanup_close_ int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
	_cleanup_fclose_ FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
	struct lab_cpio c = { .to = f };
	int r;

	if (!f)
		return say("mmtape", error_errno());
	take_fd(&copy);
	r = add_base(&c);
	if (r >= 0)
		r = add_orders(&c, s, words);
	if (r < 0)
		return say("mmtape", r);
	r = add_contents(&c, s, words);
	if (r < 0)
		return r;
	r = lab_cpio_end(&c);
	if (r >= 0 && fflush(f))
		r = error_errno();
	return r < 0 ? say("mmtape", r) : take_fd(&fd);
}
