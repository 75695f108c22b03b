/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as a trace: read strictly and tolerantly, each to its end. Checksums
 * stop most changes, so the same bytes are also tried as the payload of a block.
 */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "fuzz.h"
#include "traces/codec.h"
#include "traces/reader.h"
#include "traces/records_codec.h"

static void read_as_trace(const char *path, unsigned flags)
{
	const struct event *e;
	struct trace_reader *r;
	uint64_t last = 0, n = 0;

	if (trace_reader_new(&r, path, flags) < 0)
		return;
	while (trace_reader_next(r, &e) == 1) {
		if (e->time < last || !event_row(e->kind))
			abort();
		last = e->time;
		n++;
	}
	if (flags & TRACE_TOLERATE_DAMAGE && n != trace_reader_status(r)->events)
		abort();
	trace_reader_free(r);
}

static void read_as_block(const uint8_t *data, size_t size)
{
	static const uint32_t types[] = { BLOCK_LOSS, BLOCK_NAME, BLOCK_MAPS, BLOCK_STAT,
		                          BLOCK_TAIL };
	struct records records = { 0 };
	struct evts_decoder *d;
	struct event out[64];
	struct trace_meta *meta;
	unsigned version;

	if (evts_decoder_new(&d) == 0 && evts_decoder_open(d, data, size) == 0)
		while (evts_decoder_next(d, out, ARRAY_SIZE(out)) > 0)
			;
	evts_decoder_free(d);
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		(void)!records_decode(&records, types[i], data, size);
	records_clear(&records);
	if (trace_meta_new(&meta) < 0)
		abort();
	(void)!head_decode(meta, data, size, &version);
	trace_meta_free(meta);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[40];
	int fd = fuzz_file(data, size, path);

	fuzz_quiet();
	read_as_trace(path, 0);
	read_as_trace(path, TRACE_SCAN);
	read_as_trace(path, TRACE_TOLERATE_DAMAGE);
	read_as_block(data, size);
	close(fd);
	return 0;
}
