/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A JSON printer (RFC 8259). */

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/json_out.h"

void json_out_init(struct json_out *j, FILE *stream, bool pretty)
{
	*j = (struct json_out){ .stream = stream, .pretty = pretty };
}

unsigned utf8_decode(const char *text, uint32_t *code)
{
	static const uint32_t lowest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	unsigned length;

	if (p[0] < 0x80) {
		*code = p[0];
		return p[0] ? 1 : 0;
	}
	length = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	*code = p[0] & (0xffu >> (length + 1));
	for (unsigned i = 1; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	if (*code < lowest[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return length;
}

static void print_code(FILE *f, const char *text, unsigned length, uint32_t code)
{
	if (code == '"' || code == '\\')
		fprintf(f, "\\%c", (char)code);
	else if (code == '\n')
		fputs("\\n", f);
	else if (code == '\t')
		fputs("\\t", f);
	else if (code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029)
		fprintf(f, "\\u%04" PRIx32, code);
	else
		fwrite(text, 1, length, f);
}

static void print_string(FILE *f, const char *text)
{
	fputc('"', f);
	while (*text) {
		uint32_t code;
		unsigned length = utf8_decode(text, &code);

		if (length)
			print_code(f, text, length, code);
		else
			fputs("\\ufffd", f);
		text += length ? length : 1;
	}
	fputc('"', f);
}

static void new_line(struct json_out *j)
{
	if (!j->pretty)
		return;
	fputc('\n', j->stream);
	for (unsigned i = 0; i < j->depth; i++)
		fputs("  ", j->stream);
}

/* What comes before a value: a comma, a line, the key. */
static FILE *begin_value(struct json_out *j, const char *key)
{
	assert(!key == (j->depth == 0 || j->close[j->depth] == ']'));
	if (j->filled[j->depth])
		fputs(j->pretty ? "," : ", ", j->stream);
	if (j->depth)
		new_line(j);
	j->filled[j->depth] = j->depth > 0;
	if (key) {
		print_string(j->stream, key);
		fputs(": ", j->stream);
	}
	return j->stream;
}

static void open_level(struct json_out *j, const char *key, char open, char close)
{
	assert(j->depth < JSON_OUT_DEPTH);
	fputc(open, begin_value(j, key));
	j->depth++;
	j->filled[j->depth] = false;
	j->close[j->depth] = close;
}

void json_out_object(struct json_out *j, const char *key)
{
	open_level(j, key, '{', '}');
}

void json_out_array(struct json_out *j, const char *key)
{
	open_level(j, key, '[', ']');
}

void json_out_end(struct json_out *j)
{
	bool filled;
	char close;

	assert(j->depth > 0);
	filled = j->filled[j->depth];
	close = j->close[j->depth];
	j->depth--;
	if (filled)
		new_line(j);
	fputc(close, j->stream);
	if (!j->depth)
		fputc('\n', j->stream);
}

void json_out_string(struct json_out *j, const char *key, const char *value)
{
	FILE *f = begin_value(j, key);

	if (value)
		print_string(f, value);
	else
		fputs("null", f);
}

void json_out_u64(struct json_out *j, const char *key, uint64_t value)
{
	fprintf(begin_value(j, key), "%" PRIu64, value);
}

void json_out_i64(struct json_out *j, const char *key, int64_t value)
{
	fprintf(begin_value(j, key), "%" PRId64, value);
}

void json_out_hex(struct json_out *j, const char *key, uint64_t value)
{
	fprintf(begin_value(j, key), "\"0x%" PRIx64 "\"", value);
}

void json_out_double(struct json_out *j, const char *key, double value)
{
	FILE *f = begin_value(j, key);
	char text[40];

	if (!isfinite(value)) {
		fputs("null", f);
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, f);
}

void json_out_bool(struct json_out *j, const char *key, bool value)
{
	fputs(value ? "true" : "false", begin_value(j, key));
}
