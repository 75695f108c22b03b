/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates files for results and traces. */

#include <fcntl.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/options.h"
#include "common/output_file.h"

static bool id_from_environment(const char *name, uint32_t *out)
{
	const char *text = getenv(name);
	uint64_t v;

	if (!text || parse_u64(text, &v) < 0 || v >= UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

static int give_to_caller(int fd)
{
	uint32_t uid, gid;

	if (geteuid() || !id_from_environment("SUDO_UID", &uid) ||
	    !id_from_environment("SUDO_GID", &gid))
		return 0;
	return fchown(fd, uid, gid) < 0 ? error_errno() : 0;
}

static int remove_regular(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : error_errno();
	if (!S_ISREG(st.st_mode))
		return -EEXIST;
	return unlink(path) < 0 && errno != ENOENT ? error_errno() : 0;
}

int output_file_open(const char *path, bool force)
{
	_cleanup_close_ int fd = -1;
	int r;

	r = force ? remove_regular(path) : 0;
	if (r < 0)
		return r;
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_errno();
	r = give_to_caller(fd);
	if (r < 0) {
		unlink(path);
		return r;
	}
	return take_fd(&fd);
}
