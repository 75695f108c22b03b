/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at the heads of kernel images and programs. */

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "replay/lab_image.h"

/* Of the setup header of a bzImage. */
#define BOOT_FLAG 0x1fe
#define HEADER_MAGIC 0x202
#define HEADER_VERSION 0x206
#define HEADER_LOADFLAGS 0x211
#define HEADER_XLOADFLAGS 0x236
#define HEADER_END 0x250

#define LOADED_HIGH 0x01
#define XLF_KERNEL_64 0x01
#define XLF_SINCE 0x020c /* boot protocol 2.12 */

static const struct {
	const char *magic;
	size_t length;
	const char *what;
} others[] = {
	{ "\x7f"
	  "ELF",
	  4, "an ELF file: give arch/x86/boot/bzImage, not vmlinux" },
	{ "\x1f\x8b", 2, "compressed with gzip: give arch/x86/boot/bzImage" },
	{ "\x28\xb5\x2f\xfd", 4, "compressed with zstd: give arch/x86/boot/bzImage" },
	{ "!<arch>\n", 8, "a package: unpack it (dpkg -x) and give its boot/vmlinuz-…" },
};

static int no(char *why, size_t size, const char *what)
{
	snprintf(why, size, "%s", what);
	return -EBADMSG;
}

int lab_image_check(const void *bytes, size_t size, char *why, size_t why_size)
{
	const uint8_t *b = bytes;

	if (!size)
		return no(why, why_size, "empty");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (size >= others[i].length && !memcmp(b, others[i].magic, others[i].length))
			return no(why, why_size, others[i].what);
	if (size < HEADER_END || load_le16(b + BOOT_FLAG) != 0xaa55 ||
	    memcmp(b + HEADER_MAGIC, "HdrS", 4))
		return no(why, why_size, "no x86 kernel image (no HdrS in its header)");
	if (!(b[HEADER_LOADFLAGS] & LOADED_HIGH) || load_le16(b + HEADER_VERSION) < XLF_SINCE)
		return no(why, why_size, "a kernel image too old for the lab");
	if (!(load_le16(b + HEADER_XLOADFLAGS) & XLF_KERNEL_64))
		return no(why, why_size, "a 32-bit kernel: the lab runs 64-bit ones");
	return 0;
}

/* Whether a segment names a loader. Segments that lie beyond the bytes do not. */
static bool has_interpreter(const uint8_t *b, size_t size)
{
	Elf64_Ehdr e;
	Elf64_Phdr p;

	memcpy(&e, b, sizeof(e));
	for (unsigned i = 0; i < e.e_phnum; i++) {
		uint64_t at, end;

		if (!add_fits(e.e_phoff, (uint64_t)i * sizeof(p), &at) ||
		    !add_fits(at, sizeof(p), &end) || end > size)
			return false;
		memcpy(&p, b + at, sizeof(p));
		if (p.p_type == PT_INTERP)
			return true;
	}
	return false;
}

int lab_program_check(const void *bytes, size_t size, char *why, size_t why_size)
{
	const uint8_t *b = bytes;
	Elf64_Ehdr e;

	if (size >= 2 && !memcmp(b, "#!", 2))
		return no(why, why_size, "a script: the guest has no shell, only static programs");
	if (size < sizeof(e) || memcmp(b, ELFMAG, SELFMAG))
		return no(why, why_size, "no program (not an ELF file)");
	memcpy(&e, b, sizeof(e));
	if (e.e_ident[EI_CLASS] != ELFCLASS64 || e.e_machine != EM_X86_64)
		return no(why, why_size, "a program of another machine: the guest is x86-64");
	if ((e.e_type != ET_EXEC && e.e_type != ET_DYN) || e.e_phentsize != sizeof(Elf64_Phdr))
		return no(why, why_size, "an ELF file that is not a program");
	if (has_interpreter(b, size))
		return no(why, why_size,
		          "linked with shared libraries, which the guest has not: link it with "
		          "-static");
	return 0;
}
