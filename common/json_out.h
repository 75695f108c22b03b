/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints JSON to a stream as it goes, without building a tree. Strings may hold
 * anything: quotes, control characters and terminal escapes are escaped, and
 * what is not UTF-8 becomes U+FFFD. Errors of the stream are the caller's to
 * check (ferror, fclose).
 *
 * key names a member of the open object; it is NULL in arrays and at the top.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/error.h"

#define JSON_OUT_DEPTH 16 /* nesting that a caller may use */

struct json_out {
	FILE *stream;
	bool pretty; /* indented, one value a line; else one line in all */
	unsigned depth;
	bool filled[JSON_OUT_DEPTH + 1]; /* the level holds a value already */
	char close[JSON_OUT_DEPTH + 1];
};

void json_out_init(struct json_out *j, FILE *stream, bool pretty) _nonnull_;

void json_out_object(struct json_out *j, const char *key) _nonnull_args_(1);
void json_out_array(struct json_out *j, const char *key) _nonnull_args_(1);
/* Closes the innermost object or array; a newline follows the outermost. */
void json_out_end(struct json_out *j) _nonnull_;

/* A NULL value prints null. */
void json_out_string(struct json_out *j, const char *key, const char *value) _nonnull_args_(1);
/* Readers that keep numbers as doubles are exact to 2^53: print addresses with json_out_hex. */
void json_out_u64(struct json_out *j, const char *key, uint64_t value) _nonnull_args_(1);
void json_out_i64(struct json_out *j, const char *key, int64_t value) _nonnull_args_(1);
/* As a string, "0x7fb000". */
void json_out_hex(struct json_out *j, const char *key, uint64_t value) _nonnull_args_(1);
/* Shortest decimals that read back the same; null if not finite. */
void json_out_double(struct json_out *j, const char *key, double value) _nonnull_args_(1);
void json_out_bool(struct json_out *j, const char *key, bool value) _nonnull_args_(1);

/*
 * The length of the UTF-8 character that text starts with, 0 if it starts with
 * none (a stray byte, an overlong form, a surrogate, above U+10FFFF), and its
 * code point. For other printers of strings that come from files.
 */
unsigned utf8_decode(const char *text, uint32_t *code) _nonnull_;
