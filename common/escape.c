/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Escaping of strings for terminals, CSV and Markdown. */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common/escape.h"
#include "common/json_out.h"

/* Beside the ASCII ones: C1 controls, and Unicode's invisible and direction marks. */
static bool is_unsafe(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad ||
	       (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2060 && code <= 0x206f) || code == 0xfeff ||
	       (code >= 0xe0000 && code <= 0xe0fff);
}

/*
 * Prints the character at *text and moves on; `"` as quoted says, or with NULL both
 * it and the backslash as they are. Gives the columns it took.
 */
static unsigned put_character(FILE *out, const char **text, const char *quoted)
{
	uint32_t code = 0;
	unsigned len = utf8_decode(*text, &code);
	int columns = 1;

	if (!len) {
		columns = fprintf(out, "\\x%02x", (unsigned char)**text);
		len = 1;
	} else if (code == '"' && quoted) {
		columns = fprintf(out, "%s", quoted);
	} else if (code == '\\' && quoted) {
		columns = fprintf(out, "\\\\");
	} else if (is_unsafe(code)) {
		columns = fprintf(out, code < 0x80 ? "\\x%02x" : "\\u{%x}", code);
	} else {
		fwrite(*text, 1, len, out);
	}
	*text += len;
	return columns > 0 ? (unsigned)columns : 0;
}

unsigned escape_text(FILE *out, const char *text)
{
	unsigned columns = 0;

	while (*text)
		columns += put_character(out, &text, "\\\"");
	return columns;
}

void escape_message(FILE *out, const char *text)
{
	while (*text)
		put_character(out, &text, NULL);
}

void escape_csv(FILE *out, const char *text)
{
	bool quote = strpbrk(text, ",\" ;'") != NULL;

	if (quote)
		putc('"', out);
	if (*text && strchr("=+-@", *text))
		putc('\'', out);
	while (*text)
		put_character(out, &text, "\"\"");
	if (quote)
		putc('"', out);
}

void escape_markdown(FILE *out, const char *text)
{
	while (*text) {
		/* A backslash is doubled by put_character() already. */
		if (*text == '<' || *text == '&')
			fputs(*text == '<' ? "&lt;" : "&amp;", out);
		else if (strchr("`*_{}[]()#|!~>", *text))
			fprintf(out, "\\%c", *text);
		else {
			put_character(out, &text, "\"");
			continue;
		}
		text++;
	}
}
