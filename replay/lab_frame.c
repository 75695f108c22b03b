/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames on a serial line. The checksum is the CRC-32 of IEEE 802.3, bit by bit reflected. */

#include <string.h>

#include "replay/lab_frame.h"

#define MARK_SIZE 4
#define HEAD_SIZE (MARK_SIZE + 1 + 4 + 4)
#define CRC_POLYNOMIAL 0xedb88320u

static const char begin_mark[] = "mmtL", end_mark[] = "Lend";

static void crc_table(uint32_t table[256])
{
	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? CRC_POLYNOMIAL : 0);
	}
}

/* The CRC of more bytes behind those that gave crc; 0 in front of the first. */
static uint32_t crc_add(uint32_t crc, const void *bytes, size_t length)
{
	const uint8_t *at = bytes;
	static uint32_t table[256];

	if (!table[1])
		crc_table(table);
	crc = ~crc;
	while (length--)
		crc = crc >> 8 ^ table[(crc ^ *at++) & 0xff];
	return ~crc;
}

/* Of kind and length as they lie behind the mark, and of the body. */
static uint32_t frame_crc(const uint8_t *head, const uint8_t *body, size_t length)
{
	return crc_add(crc_add(0, head + MARK_SIZE, 1 + 4), body, length);
}

int lab_frame_encode(struct buffer *to, enum lab_frame_kind kind, const void *body, size_t length)
{
	uint8_t head[HEAD_SIZE];
	int r;

	if (length > LAB_FRAME_MAX)
		return -E2BIG;
	memcpy(head, begin_mark, MARK_SIZE);
	head[MARK_SIZE] = (uint8_t)kind;
	store_le32(head + MARK_SIZE + 1, (uint32_t)length);
	store_le32(head + MARK_SIZE + 5, frame_crc(head, body, length));
	r = buffer_bytes(to, head, HEAD_SIZE);
	if (r >= 0)
		r = buffer_bytes(to, body, length);
	if (r >= 0)
		r = buffer_bytes(to, end_mark, MARK_SIZE);
	return r;
}

void lab_frames_clear(struct lab_frames *f)
{
	buffer_clear(&f->held);
	*f = (struct lab_frames){ 0 };
}

int lab_frames_feed(struct lab_frames *f, const void *bytes, size_t length)
{
	if (f->used) {
		f->held.len -= f->used;
		memmove(f->held.data, f->held.data + f->used, f->held.len);
		f->used = 0;
	}
	return buffer_bytes(&f->held, bytes, length);
}

static void skip(struct lab_frames *f, size_t bytes)
{
	f->used += bytes;
	f->skipped += bytes;
}

/* Moves to where a frame begins, or may begin. false: nowhere yet. */
static bool find_begin(struct lab_frames *f)
{
	while (f->held.len - f->used >= MARK_SIZE) {
		const uint8_t *at = f->held.data + f->used;
		const uint8_t *next;

		if (!memcmp(at, begin_mark, MARK_SIZE))
			return true;
		next = memchr(at + 1, begin_mark[0], f->held.len - f->used - 1);
		skip(f, next ? (size_t)(next - at) : f->held.len - f->used);
	}
	return false;
}

int lab_frames_next(struct lab_frames *f, struct lab_frame *out)
{
	while (find_begin(f)) {
		uint8_t *head = f->held.data + f->used;
		size_t left = f->held.len - f->used, length;
		uint8_t *body = head + HEAD_SIZE;

		if (left < HEAD_SIZE)
			return 0;
		length = load_le32(head + MARK_SIZE + 1);
		if (length > LAB_FRAME_MAX) {
			skip(f, 1);
			continue;
		}
		if (left < HEAD_SIZE + length + MARK_SIZE)
			return 0;
		if (load_le32(head + MARK_SIZE + 5) != frame_crc(head, body, length) ||
		    memcmp(body + length, end_mark, MARK_SIZE)) {
			skip(f, 1);
			continue;
		}
		f->used += HEAD_SIZE + length + MARK_SIZE;
		body[length] = 0; /* over the end's mark, which is done with */
		*out = (struct lab_frame){ head[MARK_SIZE], (const char *)body, length };
		return 1;
	}
	return 0;
}

bool lab_frames_cut(const struct lab_frames *f)
{
	return f->held.len > f->used;
}
