/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Scratch files: nameless, made anew for every repetition. */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/scratch.h"

#define WINDOW_BYTES 65536

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

/* Since 6.3 a memfd says whether it may be executed; text mappings may be. */
static int open_memory(void)
{
	int fd = memfd_create("mmtape-scratch", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0 && errno == EINVAL)
		fd = memfd_create("mmtape-scratch", MFD_CLOEXEC);
	if (fd >= 0)
		return fd;
	log_error("cannot make a scratch file in memory: %s", strerror(errno));
	return error_errno();
}

static int open_disk(void)
{
	const char *folder = getenv("TMPDIR");
	int fd;

	if (!folder || !*folder)
		folder = "/var/tmp";
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	log_error("cannot make a scratch file in %s: %s (TMPDIR chooses another place)", folder,
	          strerror(errno));
	return error_errno();
}

static int write_window(int fd, uint64_t at, uint64_t size)
{
	static char data[WINDOW_BYTES];
	uint64_t left = size > at ? size - at : 0;

	if (!data[0])
		memset(data, 0x5a, sizeof(data));
	if (left > WINDOW_BYTES)
		left = WINDOW_BYTES;
	while (left) {
		ssize_t n = pwrite(fd, data, left, (off_t)at);

		if (n <= 0)
			return n < 0 ? error_errno() : -ENOSPC;
		at += (uint64_t)n;
		left -= (uint64_t)n;
	}
	return 0;
}

static int fill(int fd, const struct plan *plan, const struct plan_file *file, bool on_disk,
                bool cold)
{
	const uint64_t *windows = plan_at(plan, file->windows);
	int r = 0;

	/* A cold file in memory stays a hole; on disk it is written, then dropped from the cache.
	 */
	if (cold && !on_disk)
		return 0;
	for (uint64_t i = 0; i < file->window_count && !r; i++)
		r = write_window(fd, windows[i], file->size);
	if (!r && on_disk && fdatasync(fd) < 0)
		r = error_errno();
	if (!r && cold)
		r = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return r;
}

int scratch_open(const struct plan *plan, uint32_t index, bool on_disk, bool cold)
{
	const struct plan_file *file =
		(const struct plan_file *)plan_at(plan, plan->header->files) + index;
	_cleanup_close_ int fd = on_disk ? open_disk() : open_memory();
	int r = 0;

	if (fd < 0)
		return fd;
	if (ftruncate(fd, (off_t)file->size) < 0)
		r = error_errno();
	if (!r)
		r = fill(fd, plan, file, on_disk, cold);
	if (r < 0) {
		log_error("cannot make a scratch file of %llu bytes: %s",
		          (unsigned long long)file->size, strerror(-r));
		return r;
	}
	return take_fd(&fd);
}
