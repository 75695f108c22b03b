/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Program headers of an executable, as far as they say what exec maps
 * (fs/binfmt_elf.c). 64-bit little-endian ELF files only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

#define HEADERS_MAX_LOADS 16

struct headers_load {
	uint64_t address, offset; /* of the first byte, not aligned */
	uint64_t file_bytes, memory_bytes;
	uint32_t prot;
};

struct headers {
	bool movable; /* position independent: the kernel chooses the base */
	uint64_t entry; /* address of the first instruction, before the base is added */
	uint64_t table; /* address of the program headers in memory */
	unsigned load_count; /* in order of addresses */
	struct headers_load loads[HEADERS_MAX_LOADS];
	uint64_t device, inode;
	char interpreter[256]; /* of dynamic programs; empty: none */
};

/*
 * Returns 0, 1 when the file cannot be read or is not such a program (out is
 * undefined), 2 for a script: interpreter is what it names; or 3 for a 32-bit
 * program.
 */
int headers_read(struct headers *out, const char *path) _must_check_ _nonnull_;
