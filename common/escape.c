/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from files, made harmless. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/escape.h"
#include "common/json_out.h"

/* C0, DEL, C1; zero-width and direction marks (Unicode 15, Cf in U+2000…206F), line ends, BOM. */
static bool is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || code == 0xad;
}

/* One character: printed and stepped over. Gives the columns it took. */
static unsigned put_character(FILE *f, const char **text)
{
	uint32_t code;
	unsigned length = utf8_decode(*text, &code);

	if (length && !is_unsafe(code)) {
		fwrite(*text, 1, length, f);
		*text += length;
		return 1;
	}
	if (length == 1 || !length) {
		int n = fprintf(f, "\\x%02x", (unsigned char)**text);

		*text += 1;
		return n > 0 ? (unsigned)n : 0;
	}
	*text += length;
	return (unsigned)(fprintf(f, "\\u%04x", code) > 0 ? 6 : 0);
}

unsigned escape_text(FILE *f, const char *text)
{
	unsigned columns = 0;

	while (*text)
		columns += put_character(f, &text);
	return columns;
}

void escape_csv(FILE *f, const char *text)
{
	bool formula = *text && strchr("=+-@\t\r", *text);
	bool quoted = formula || strpbrk(text, "\",\r\n;") || *text == ' ';

	if (quoted)
		fputc('"', f);
	if (formula)
		fputc('\'', f);
	while (*text) {
		if (*text == '"')
			fputc('"', f);
		put_character(f, &text);
	}
	if (quoted)
		fputc('"', f);
}

void escape_markdown(FILE *f, const char *text)
{
	while (*text) {
		if (*text == '<' || *text == '>' || *text == '&') {
			fputs(*text == '<' ? "&lt;" : *text == '>' ? "&gt;" : "&amp;", f);
			text++;
			continue;
		}
		if (strchr("\\`*_{}[]()#|!~", *text))
			fputc('\\', f);
		put_character(f, &text);
	}
}
