/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small text files of sysfs and procfs. */

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/options.h"

static const char *sysfile_root = "";

void sysfile_set_root(const char *prefix)
{
	sysfile_root = prefix;
}

int sysfile_path(char *out, size_t size, const char *path)
{
	int n = snprintf(out, size, "%s%s", sysfile_root, path);

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

/* A descriptor, or -errno. */
static int sysfile_fd(const char *path, int flags)
{
	char full[PATH_MAX];
	int fd, r;

	r = sysfile_path(full, sizeof(full), path);
	if (r < 0)
		return r;
	fd = open(full, flags | O_CLOEXEC);
	return fd < 0 ? error_errno() : fd;
}

int sysfile_read(const char *path, char *out, size_t size)
{
	_cleanup_close_ int fd = sysfile_fd(path, O_RDONLY);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	do {
		n = read(fd, out + used, size - used);
		if (n < 0)
			return error_errno();
		used += (size_t)n;
	} while (n > 0 && used < size);
	if (used == size)
		return -EFBIG;
	while (used && out[used - 1] == '\n')
		used--;
	out[used] = '\0';
	return 0;
}

int sysfile_read_choice(const char *path, char *out, size_t size)
{
	char *open_bracket, *close_bracket;
	int r;

	r = sysfile_read(path, out, size);
	if (r < 0)
		return r;
	open_bracket = strchr(out, '[');
	close_bracket = open_bracket ? strchr(open_bracket, ']') : NULL;
	if (!close_bracket)
		return 0;
	*close_bracket = '\0';
	memmove(out, open_bracket + 1, (size_t)(close_bracket - open_bracket));
	return 0;
}

int sysfile_read_u64(const char *path, uint64_t *out)
{
	char text[SYSFILE_MAX];
	int r;

	r = sysfile_read(path, text, sizeof(text));
	return r < 0 ? r : parse_u64(text, out);
}

int sysfile_may_write(const char *path)
{
	char full[PATH_MAX];
	int r = sysfile_path(full, sizeof(full), path);

	if (r < 0)
		return r;
	return access(full, W_OK) < 0 ? error_errno() : 0;
}

int sysfile_write(const char *path, const char *value)
{
	_cleanup_close_ int fd = sysfile_fd(path, O_WRONLY | O_TRUNC | O_NOFOLLOW);
	size_t len = strlen(value);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, value, len);
	if (n < 0)
		return error_errno();
	return (size_t)n == len ? 0 : -EIO;
}

FILE *sysfile_open(const char *path)
{
	int fd = sysfile_fd(path, O_RDONLY);

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	return fdopen(fd, "r");
}

DIR *sysfile_opendir(const char *path)
{
	int fd = sysfile_fd(path, O_RDONLY | O_DIRECTORY);

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	return fdopendir(fd);
}
