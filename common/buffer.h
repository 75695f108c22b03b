/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growable array of bytes, little-endian appends, and a bounded reader of such bytes. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "common/bytes.h"
#include "common/error.h"

struct buffer {
	uint8_t *data;
	size_t len, cap;
};

static inline void buffer_clear(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){ 0 };
}

/* Room for more bytes behind len. */
static inline int buffer_reserve(struct buffer *b, size_t more)
{
	size_t cap = b->cap ? b->cap : 64;
	uint8_t *data;

	if (more <= b->cap - b->len)
		return 0;
	if (more > SIZE_MAX / 4 - b->len)
		return -ENOMEM;
	while (cap - b->len < more)
		cap *= 2;
	data = realloc(b->data, cap);
	if (!data)
		return -ENOMEM;
	b->data = data;
	b->cap = cap;
	return 0;
}

static inline int buffer_bytes(struct buffer *b, const void *from, size_t len)
{
	int r = buffer_reserve(b, len);

	if (r < 0)
		return r;
	if (len)
		memcpy(b->data + b->len, from, len);
	b->len += len;
	return 0;
}

static inline int buffer_u16(struct buffer *b, uint16_t v)
{
	uint8_t bytes[2];

	store_le16(bytes, v);
	return buffer_bytes(b, bytes, sizeof(bytes));
}

static inline int buffer_u32(struct buffer *b, uint32_t v)
{
	uint8_t bytes[4];

	store_le32(bytes, v);
	return buffer_bytes(b, bytes, sizeof(bytes));
}

static inline int buffer_u64(struct buffer *b, uint64_t v)
{
	uint8_t bytes[8];

	store_le64(bytes, v);
	return buffer_bytes(b, bytes, sizeof(bytes));
}

/* Seven bits a byte, low ones first, the top bit says that more follow. */
#define VARINT_MAX 10

static inline int buffer_varint(struct buffer *b, uint64_t v)
{
	int r = buffer_reserve(b, VARINT_MAX);

	if (r < 0)
		return r;
	for (; v >= 0x80; v >>= 7)
		b->data[b->len++] = (uint8_t)(v | 0x80);
	b->data[b->len++] = (uint8_t)v;
	return 0;
}

/*
 * Reads from bytes that may be hostile: past the end `bad` is set, and stays,
 * and every value is 0. The caller checks once, behind the last field.
 */
struct bytes_reader {
	const uint8_t *at, *end;
	bool bad;
};

static inline size_t bytes_left(const struct bytes_reader *r)
{
	return (size_t)(r->end - r->at);
}

static inline const uint8_t *bytes_take(struct bytes_reader *r, size_t len)
{
	const uint8_t *at = r->at;

	if (r->bad || len > bytes_left(r)) {
		r->bad = true;
		return NULL;
	}
	r->at += len;
	return at;
}

static inline uint8_t bytes_u8(struct bytes_reader *r)
{
	const uint8_t *at = bytes_take(r, 1);

	return at ? at[0] : 0;
}

static inline uint16_t bytes_u16(struct bytes_reader *r)
{
	const uint8_t *at = bytes_take(r, 2);

	return at ? load_le16(at) : 0;
}

static inline uint32_t bytes_u32(struct bytes_reader *r)
{
	const uint8_t *at = bytes_take(r, 4);

	return at ? load_le32(at) : 0;
}

static inline uint64_t bytes_u64(struct bytes_reader *r)
{
	const uint8_t *at = bytes_take(r, 8);

	return at ? load_le64(at) : 0;
}
