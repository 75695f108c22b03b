/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A zram device as swap. What mkswap writes is the head of the first page: version,
 * last page and, at its end, the signature (include/linux/swap.h, union swap_header).
 */

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_swap.h"

#define PAGE 4096u
#define DEVICE "/dev/zram0"
#define SIZE_FILE "/sys/block/zram0/disksize"
#define VERSION_AT 1024
#define LAST_PAGE_AT 1028
#define SIGNATURE "SWAPSPACE2"

static int set_size(uint64_t bytes)
{
	_cleanup_close_ int fd = open(SIZE_FILE, O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		log_error("--swap: %s: %s: the kernel needs CONFIG_ZRAM=y", SIZE_FILE,
		          strerror(errno));
		return error_errno();
	}
	if (dprintf(fd, "%llu", (unsigned long long)bytes) < 0) {
		log_error("--swap: %s: %s", SIZE_FILE, strerror(errno));
		return error_errno();
	}
	return 0;
}

static int write_header(uint64_t bytes)
{
	uint8_t page[PAGE] = { 0 };
	_cleanup_close_ int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	store_le32(page + VERSION_AT, 1);
	store_le32(page + LAST_PAGE_AT, (uint32_t)(bytes / PAGE - 1));
	memcpy(page + PAGE - strlen(SIGNATURE), SIGNATURE, strlen(SIGNATURE));
	if (fd < 0 || write(fd, page, PAGE) != PAGE || fsync(fd) < 0) {
		log_error("--swap: %s: %s", DEVICE, strerror(errno));
		return error_errno();
	}
	return 0;
}

int lab_swap_on(uint64_t bytes)
{
	int r = set_size(bytes);

	if (r >= 0)
		r = write_header(bytes);
	if (r >= 0 && swapon(DEVICE, 0) < 0) {
		r = error_errno();
		log_error("--swap: %s: %s", DEVICE, strerror(-r));
	}
	return r;
}
