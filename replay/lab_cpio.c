/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cpio archives in the form "newc": heads of hexadecimal numbers, all parts aligned to 4 bytes. */

#include <string.h>
#include <sys/stat.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "replay/lab_cpio.h"

#define ALIGN 4

static int put(struct lab_cpio *c, const void *bytes, size_t size)
{
	errno = 0;
	if (size && fwrite(bytes, 1, size, c->to) != size)
		return error_errno();
	c->bytes += size;
	return 0;
}

static int pad(struct lab_cpio *c)
{
	static const char zeros[ALIGN];

	return put(c, zeros, align_up(c->bytes, ALIGN) - c->bytes);
}

struct head {
	const char *path;
	unsigned mode, major, minor;
	uint64_t size;
};

static int put_head(struct lab_cpio *c, const struct head *h)
{
	char text[120];
	int length, r;

	if (h->size > UINT32_MAX)
		return -EFBIG;
	c->inode++;
	/* inode, mode, uid, gid, links, mtime, size, device, special device, name, checksum */
	length = snprintf(text, sizeof(text),
	                  "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X", c->inode,
	                  h->mode, 0, 0, 1, 0, (unsigned)h->size, 0, 0, h->major, h->minor,
	                  (unsigned)strlen(h->path) + 1, 0);
	r = put(c, text, (size_t)length);
	if (r >= 0)
		r = put(c, h->path, strlen(h->path) + 1);
	return r < 0 ? r : pad(c);
}

int lab_cpio_folder(struct lab_cpio *c, const char *path)
{
	return put_head(c, &(struct head){ path, S_IFDIR | 0755 });
}

int lab_cpio_device(struct lab_cpio *c, const char *path, unsigned major, unsigned minor)
{
	return put_head(c, &(struct head){ path, S_IFCHR | 0600, major, minor });
}

int lab_cpio_bytes(struct lab_cpio *c, const char *path, mode_t permissions, const void *bytes,
                   size_t size)
{
	int r = put_head(c, &(struct head){ path, S_IFREG | permissions, .size = size });

	if (r >= 0)
		r = put(c, bytes, size);
	return r < 0 ? r : pad(c);
}

int lab_cpio_file(struct lab_cpio *c, const char *path, mode_t permissions, int fd, uint64_t size)
{
	_cleanup_free_ char *bytes = malloc(1 << 16);
	int r = put_head(c, &(struct head){ path, S_IFREG | permissions, .size = size });
	ssize_t n;

	if (!bytes)
		return -ENOMEM;
	for (uint64_t left = size; left && r >= 0; left -= (uint64_t)n) {
		n = read(fd, bytes, left < 1 << 16 ? left : 1 << 16);
		if (n <= 0)
			return n < 0 ? error_errno() : -EIO;
		r = put(c, bytes, (size_t)n);
	}
	return r < 0 ? r : pad(c);
}

int lab_cpio_end(struct lab_cpio *c)
{
	int r;

	c->inode = UINT32_MAX; /* the trailer's is 0 */
	r = put_head(c, &(struct head){ "TRAILER!!!", 0 });
	return r;
}
