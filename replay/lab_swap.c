/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Swap on zram in a guest. The header is that of include/linux/swap.h, union
 * swap_header: version and last page behind 1024 bytes, the magic at the end of the page.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>

#include "capture/sysfile.h"
#include "common/bytes.h"
#include "common/cleanup.h"
#include "replay/lab_guest.h"

#define ZRAM "/sys/block/zram0"
#define DEVICE "/dev/zram0"
#define MAGIC "SWAPSPACE2"

static int make_device(void)
{
	char text[32];
	unsigned major, minor;

	if (access(DEVICE, F_OK) == 0)
		return 0;
	if (sysfile_read(ZRAM "/dev", text, sizeof(text)) < 0 ||
	    sscanf(text, "%u:%u", &major, &minor) != 2)
		return -ENODEV;
	return mknod(DEVICE, S_IFBLK | 0600, major << 8 | minor) < 0 ? error_errno() : 0;
}

static int write_header(uint64_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	_cleanup_free_ uint8_t *header = calloc(1, page);
	_cleanup_close_ int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0 || !header)
		return error_errno();
	store_le32(header + 1024, 1);
	store_le32(header + 1028, (uint32_t)(bytes / page - 1));
	memcpy(header + page - strlen(MAGIC), MAGIC, strlen(MAGIC));
	if (pwrite(fd, header, page, 0) != (ssize_t)page || fsync(fd) < 0)
		return error_errno();
	return 0;
}

int lab_guest_swap(uint64_t bytes, char *why, size_t size)
{
	char text[32];
	int r;

	if (access(ZRAM, F_OK) < 0) {
		snprintf(why, size,
		         "--swap: this kernel has no zram built in (CONFIG_ZRAM=y, CONFIG_SWAP=y)");
		return -ENODEV;
	}
	bytes = align_down(bytes, (uint64_t)sysconf(_SC_PAGESIZE));
	snprintf(text, sizeof(text), "%llu", (unsigned long long)bytes);
	r = sysfile_write(ZRAM "/disksize", text);
	if (r >= 0)
		r = make_device();
	if (r >= 0)
		r = write_header(bytes);
	if (r >= 0 && swapon(DEVICE, 0) < 0)
		r = error_errno();
	if (r < 0)
		snprintf(why, size, "--swap: zram cannot be set up: %s%s", strerror(-r),
		         r == -ENOSYS ? " (CONFIG_SWAP=y)" : "");
	return r;
}
