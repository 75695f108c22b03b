/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes small traces that hold one of everything: the golden file of the format and
 * the seeds of the reader's fuzz target. Always the same bytes with the same zstd.
 *
 *   mkseeds FOLDER
 */

#include <stdio.h>
#include <string.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/output_file.h"
#include "traces/codec.h"
#include "traces/writer.h"

#define BASE 1000000000ULL

static int put(struct trace_writer *w, uint64_t time, uint32_t cpu, uint32_t task, unsigned kind,
               uint64_t a0, uint64_t a1, uint64_t a2)
{
	struct event e = { .time = BASE + time, .cpu = cpu, .task = task, .kind = (uint16_t)kind };

	e.arg[0] = a0;
	e.arg[1] = a1;
	e.arg[2] = a2;
	return trace_writer_event(w, &e);
}

static int no_events(struct trace_writer *w)
{
	return 0;
}

/* What the worked example of docs/format.md shows. */
static int few_events(struct trace_writer *w)
{
	int r = put(w, 1000, 0, 100, EVENT_ENTER(CALL_MADVISE), 0x7f0000200000, 0x7fb000, 4);

	r = r ? r : put(w, 1700, 0, 100, EVENT_LEAVE(CALL_MADVISE), 0, 0, 0);
	r = r ? r : put(w, 2500, 0, 100, EVENT_FAULT_USER, 0x7f0000200000, 6, 0);
	r = r ? r : put(w, 3300, 0, 100, EVENT_FAULT_USER, 0x7f0000201000, 6, 0);
	r = r ? r : put(w, 3500, 0, 101, EVENT_FAULT_USER, 0x7f0000300000, 4, 0);
	return r ? r : put(w, 9000, 0, 100, EVENT_EXIT, 1, 0, 0);
}

static int every_kind(struct trace_writer *w)
{
	int r = 0;

	for (unsigned round = 0; round < 3 && !r; round++)
		for (unsigned kind = 1; kind < EVENT_KIND_COUNT && !r; kind++)
			if (event_row(kind))
				r = put(w, (round * 256 + kind) * 77, kind % 3, 100 + kind % 5,
				        kind, 0x7f0000000000 + kind * 0x1000, kind % 32, ~kind);
	return r;
}

static int records(struct trace_writer *w)
{
	struct trace_map maps[] = {
		{ 0x400000, 0x401000, 0, 0x1122334455667788, 5, MAP_KIND_FILE },
		{ 0x7f0000000000, 0x7f0000021000, 0, 0, 3 | FORMAT_MAP_SHARED, MAP_KIND_ANON },
	};
	struct trace_maps all = { BASE, 100, MAPS_START | MAPS_READ_LATE, ARRAY_SIZE(maps), maps };
	struct trace_name plain = { BASE, 100, "ld.lld" };
	struct trace_name hostile = { BASE + 1, 101, "=\033[2J\"\\,\n\xff|<b>" };
	struct trace_loss loss = { 12, BASE + 10, BASE + 20, 1, LOSS_RING };
	struct trace_loss unknown = { 0, BASE + 30, BASE + 40, 0, LOSS_RECORDER };
	struct trace_stat stat = { .time = BASE, .when = STAT_START };
	int r = trace_meta_new(&stat.pairs);

	r = r ? r : trace_meta_set(stat.pairs, "pgfault", "123");
	r = r ? r : trace_meta_set(stat.pairs, "thp/64kB/anon_fault_alloc", "7");
	r = r ? r : trace_writer_stat(w, &stat);
	r = r ? r : trace_writer_maps(w, &all);
	r = r ? r : trace_writer_name(w, &plain);
	r = r ? r : trace_writer_name(w, &hostile);
	r = r ? r : trace_writer_loss(w, &loss);
	r = r ? r : trace_writer_loss(w, &unknown);
	r = r ? r : every_kind(w);
	trace_meta_free(stat.pairs);
	return r;
}

static const struct seed {
	const char *name;
	int (*fill)(struct trace_writer *w);
	bool whole; /* with its end */
} seeds[] = {
	{ "empty.mmt.zst", no_events, true },
	{ "events.mmt.zst", few_events, true },
	{ "incomplete.mmt.zst", every_kind, false },
	{ "records.mmt.zst", records, true },
};

static int seed_write(const char *path, const struct seed *seed)
{
	struct trace_tail tail = { .time = BASE + 9000, .flags = TAIL_STATUS_KNOWN };
	struct trace_meta *meta = NULL;
	struct trace_writer *w = NULL;
	int r = trace_meta_new(&meta);

	r = r ? r : trace_meta_set(meta, META_KERNEL, "6.18.0");
	r = r ? r : trace_meta_set(meta, META_PAGE_SIZE, "4096");
	r = r ? r : trace_meta_set_u64(meta, META_TIME_BASE, BASE);
	if (!r) {
		int fd = output_file_open(path, true);

		r = fd < 0 ? fd : trace_writer_new(&w, fd, meta, NULL);
	}
	r = r ? r : seed->fill(w);
	if (!r)
		r = seed->whole ? trace_writer_finish(w, &tail) : trace_writer_flush(w);
	trace_writer_free(w);
	trace_meta_free(meta);
	return r;
}

/* The payload of an EVTS block by itself: no checksum stands between a fuzzer and the codec. */
static int block_write(const char *path)
{
	struct evts_part parts[EVTS_PARTS_MAX];
	_cleanup_fclose_ FILE *f = fopen(path, "wb");
	struct evts_encoder *e;
	int r = f ? evts_encoder_new(&e, 2, 12) : error_errno();

	if (r < 0)
		return r;
	for (uint64_t i = 0; i < 60 && !r; i++) {
		struct event ev = { .time = BASE + i * i * 900, .task = (uint32_t)(7 + i % 3) };

		ev.kind = i % 4 ? EVENT_FAULT_USER : EVENT_ENTER(CALL_MMAP);
		for (unsigned k = 0; k < event_row(ev.kind)->args; k++)
			ev.arg[k] = 0x1000 * (i * i + k);
		if (event_is_fault(ev.kind))
			ev.arg[1] = 6;
		r = evts_encoder_add(e, &ev);
	}
	if (!r)
		r = evts_encoder_parts(e, parts);
	for (int i = 0; i < r; i++)
		fwrite(parts[i].data, 1, parts[i].len, f);
	evts_encoder_free(e);
	return r < 0 ? r : ferror(f) ? -EIO : 0;
}

int main(int argc, char **argv)
{
	char path[4096];
	int r = 0;

	if (argc != 2) {
		log_error("usage: mkseeds FOLDER");
		return STATUS_USAGE;
	}
	for (size_t i = 0; i < ARRAY_SIZE(seeds) && !r; i++) {
		snprintf(path, sizeof(path), "%s/%s", argv[1], seeds[i].name);
		r = seed_write(path, &seeds[i]);
	}
	if (!r) {
		snprintf(path, sizeof(path), "%s/evts.block", argv[1]);
		r = block_write(path);
	}
	if (r < 0)
		log_error("%s: %s", path, strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}
