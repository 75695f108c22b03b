/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens a trace for reading. Not mapped: a file that is cut while it is read must not be SIGBUS. */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "traces/file.h"

static int refuse(const char *path, mode_t mode)
{
	if (S_ISDIR(mode)) {
		log_error("%s: is a directory, not a trace", path);
		return -EISDIR;
	}
	log_error("%s: is a %s: a trace must be a regular file", path,
	          S_ISFIFO(mode)   ? "pipe"
	          : S_ISSOCK(mode) ? "socket"
	                           : "device");
	return -EINVAL;
}

int trace_file_open(const char *path, int *fd, uint64_t *size)
{
	/* Without O_NONBLOCK a pipe without a writer would hang here. */
	_cleanup_close_ int opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	int r;

	if (opened < 0 || fstat(opened, &st) < 0) {
		r = error_errno();
		log_error("%s: %s", path, strerror(-r));
		return r;
	}
	if (!S_ISREG(st.st_mode))
		return refuse(path, st.st_mode);
	*size = (uint64_t)st.st_size;
	*fd = take_fd(&opened);
	return 0;
}

ssize_t trace_file_read(int fd, uint64_t offset, uint8_t *out, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pread(fd, out + done, len - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_errno();
		if (!n)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}
