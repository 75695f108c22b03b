/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The fixed parts of blocks: the header of every block and the head of EVTS. */

#include "traces/codec.h"

void block_header_encode(uint8_t out[FORMAT_BLOCK_HEADER], const struct block_header *h)
{
	store_le32(out, FORMAT_BLOCK_MAGIC);
	store_le32(out + 4, h->type);
	store_le16(out + 8, h->flags);
	store_le16(out + 10, 0);
	store_le32(out + 12, h->length);
	store_le32(out + 16, 0);
	store_le64(out + 20, h->sequence);
}

int block_header_decode(struct block_header *out, const uint8_t in[FORMAT_BLOCK_HEADER])
{
	if (load_le32(in) != FORMAT_BLOCK_MAGIC || load_le16(in + 10) || load_le32(in + 16))
		return -EBADMSG;
	*out = (struct block_header){
		.type = load_le32(in + 4),
		.flags = load_le16(in + 8),
		.length = load_le32(in + 12),
		.sequence = load_le64(in + 20),
	};
	return out->length <= FORMAT_BLOCK_MAX - FORMAT_BLOCK_HEADER ? 0 : -EBADMSG;
}

int evts_head_decode(struct evts_head *out, const uint8_t in[FORMAT_EVTS_HEAD])
{
	uint64_t behind;

	*out = (struct evts_head){
		.cpu = load_le32(in),
		.events = load_le32(in + 4),
		.index = load_le64(in + 8),
		.first = load_le64(in + 16),
		.last = load_le64(in + 24),
	};
	if (!out->events || out->events > FORMAT_BLOCK_MAX || out->first > out->last ||
	    out->cpu > FORMAT_CPU_MAX || !add_fits(out->index, out->events, &behind))
		return -EBADMSG;
	return 0;
}
