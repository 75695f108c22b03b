/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads ELF program headers; the file may be anything. */

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/headers.h"
#include "common/cleanup.h"

#define MAX_HEADERS 64

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* "#! /bin/sh -x": blanks may come before the path, arguments behind it. */
static int read_script(struct headers *out, int fd)
{
	char line[sizeof(out->interpreter) + 2] = "";
	ssize_t n = pread(fd, line, sizeof(line) - 1, 0);
	char *path = line + 2;
	size_t length;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return 1;
	path += strspn(path, " \t");
	length = strcspn(path, " \t\n");
	if (!length || !path[length] || length >= sizeof(out->interpreter))
		return 1;
	memcpy(out->interpreter, path, length);
	out->interpreter[length] = '\0';
	return 2;
}

static bool is_program(const Elf64_Ehdr *h)
{
	return !memcmp(h->e_ident, ELFMAG, SELFMAG) && h->e_ident[EI_CLASS] == ELFCLASS64 &&
	       h->e_ident[EI_DATA] == ELFDATA2LSB &&
	       (h->e_type == ET_DYN || h->e_type == ET_EXEC) &&
	       h->e_phentsize == sizeof(Elf64_Phdr) && h->e_phnum <= MAX_HEADERS;
}

static bool add_load(struct headers *out, const Elf64_Phdr *p)
{
	const struct headers_load *last = out->loads + out->load_count;

	/* Sizes and places that exec would take; the rest is no program. */
	if (out->load_count == HEADERS_MAX_LOADS || p->p_filesz > p->p_memsz ||
	    p->p_vaddr >= 1ULL << 47 || p->p_memsz >= 1ULL << 47 || p->p_offset >= 1ULL << 47 ||
	    (p->p_vaddr ^ p->p_offset) & 4095)
		return false;
	if (out->load_count && last[-1].address + last[-1].memory_bytes > p->p_vaddr)
		return false;
	out->loads[out->load_count++] = (struct headers_load){
		.address = p->p_vaddr,
		.offset = p->p_offset,
		.file_bytes = p->p_filesz,
		.memory_bytes = p->p_memsz,
		.prot = (p->p_flags & PF_R ? PROT_READ : 0U) |
		        (p->p_flags & PF_W ? PROT_WRITE : 0U) |
		        (p->p_flags & PF_X ? PROT_EXEC : 0U),
	};
	return true;
}

static bool read_interpreter(struct headers *out, int fd, const Elf64_Phdr *p)
{
	if (!p->p_filesz || p->p_filesz > sizeof(out->interpreter) ||
	    !read_at(fd, out->interpreter, p->p_filesz, p->p_offset))
		return false;
	return !out->interpreter[p->p_filesz - 1];
}

static bool read_program(struct headers *out, int fd, const Elf64_Ehdr *h)
{
	Elf64_Phdr table[MAX_HEADERS];

	if (!read_at(fd, table, h->e_phnum * sizeof(table[0]), h->e_phoff))
		return false;
	out->movable = h->e_type == ET_DYN;
	out->entry = h->e_entry;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		const Elf64_Phdr *p = &table[i];

		if (p->p_type == PT_LOAD && !add_load(out, p))
			return false;
		if (p->p_type == PT_INTERP && !read_interpreter(out, fd, p))
			return false;
		if (p->p_type == PT_LOAD && p->p_offset <= h->e_phoff &&
		    h->e_phoff - p->p_offset < p->p_filesz)
			out->table = p->p_vaddr + (h->e_phoff - p->p_offset);
	}
	return out->load_count;
}

int headers_read(struct headers *out, const char *path)
{
	/* The name comes from an event: it may be a fifo by now. */
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	Elf64_Ehdr header;
	struct stat st;

	*out = (struct headers){ 0 };
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return 1;
	if (!read_at(fd, &header, sizeof(header), 0))
		return read_script(out, fd);
	if (!memcmp(header.e_ident, ELFMAG, SELFMAG) && header.e_ident[EI_CLASS] == ELFCLASS32)
		return 3;
	if (!is_program(&header))
		return read_script(out, fd);
	out->device = st.st_dev;
	out->inode = st.st_ino;
	return read_program(out, fd, &header) ? 0 : 1;
}
