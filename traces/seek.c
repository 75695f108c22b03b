/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The seek table at the end of a trace. */

#include "traces/format.h"
#include "traces/seek.h"

int seek_add(struct buffer *entries, uint32_t compressed, uint32_t decompressed)
{
	int r = buffer_u32(entries, compressed);

	return r ? r : buffer_u32(entries, decompressed);
}

int seek_table(const struct buffer *entries, struct buffer *out)
{
	uint8_t descriptor = 0;
	int r;

	out->len = 0;
	if (entries->len > UINT32_MAX - SEEK_FOOTER)
		return -E2BIG;
	r = buffer_u32(out, FORMAT_SEEK_FRAME_MAGIC);
	r = r ? r : buffer_u32(out, (uint32_t)entries->len + SEEK_FOOTER);
	r = r ? r : buffer_bytes(out, entries->data, entries->len);
	r = r ? r : buffer_u32(out, (uint32_t)(entries->len / SEEK_ENTRY));
	r = r ? r : buffer_bytes(out, &descriptor, 1);
	return r ? r : buffer_u32(out, FORMAT_SEEK_FOOTER_MAGIC);
}

uint64_t seek_table_size(const uint8_t footer[SEEK_FOOTER])
{
	if (load_le32(footer + 5) != FORMAT_SEEK_FOOTER_MAGIC || footer[4])
		return 0;
	return (uint64_t)load_le32(footer) * SEEK_ENTRY + SEEK_OVERHEAD;
}

int seek_table_check(const uint8_t *table, size_t len, uint64_t frames_bytes,
                     const uint8_t **entries, size_t *count)
{
	uint64_t sum = 0;

	if (len < SEEK_OVERHEAD || load_le32(table) != FORMAT_SEEK_FRAME_MAGIC ||
	    load_le32(table + 4) != len - 8 || seek_table_size(table + len - SEEK_FOOTER) != len)
		return -EBADMSG;
	*entries = table + 8;
	*count = (len - SEEK_OVERHEAD) / SEEK_ENTRY;
	for (size_t i = 0; i < *count; i++)
		sum += load_le32(*entries + i * SEEK_ENTRY);
	return sum == frames_bytes ? 0 : -EBADMSG;
}
