/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Creates files for results and traces. */

#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/log.h"
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

/* 1: a regular file is there. -ENXIO: something that no option replaces. */
static int look(const char *path, bool force)
{
	struct stat st;

	/* A file of this name is "./-". */
	if (!*path || !strcmp(path, "-"))
		return -EINVAL;
	if (lstat(path, &st) < 0)
		return errno == ENOENT ? 0 : error_errno();
	if (!S_ISREG(st.st_mode))
		return -ENXIO;
	return force ? 1 : -EEXIST;
}

int output_file_say(const char *path, int error)
{
	switch (-error) {
	case EINVAL:
		log_error("'%s' is not the name of a file to write: give one like ./trace", path);
		break;
	case EEXIST:
		log_error("%s: exists already: give another name, or --force to replace it", path);
		break;
	case ENXIO:
	case ELOOP:
		log_error("%s: is there and not a regular file: give another name", path);
		break;
	case ENOENT:
	case ENOTDIR:
		log_error("%s: no such directory: make it, or give another name", path);
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		log_error("%s: may not be written (%s): give a place where you may write", path,
		          strerror(-error));
		break;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		log_error("%s: no room left (%s): make room, or give another place", path,
		          strerror(-error));
		break;
	default:
		log_error("%s: cannot be written: %s", path, strerror(-error));
	}
	return error;
}

int output_file_check(const char *path, bool force)
{
	_cleanup_free_ char *copy = NULL;
	int r = look(path, force);

	if (r >= 0) {
		copy = strdup(path);
		r = !copy ? -ENOMEM : access(dirname(copy), W_OK | X_OK) < 0 ? error_errno() : 0;
	}
	return r < 0 ? output_file_say(path, r) : 0;
}

static int create(const char *path, bool force)
{
	_cleanup_close_ int fd = -1;
	int r = look(path, force);

	if (r < 0)
		return r;
	signal(SIGXFSZ, SIG_IGN); /* a limit on the size of files is then an error of write() */
	if (r > 0 && unlink(path) < 0 && errno != ENOENT)
		return error_errno();
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

int output_file_open(const char *path, bool force)
{
	int fd = create(path, force);

	return fd < 0 ? output_file_say(path, fd) : fd;
}
