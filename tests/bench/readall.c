/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads and merges a whole trace and does nothing with it but a sum. */

#include <inttypes.h>
#include <stdio.h>

#include "traces/reader.h"

static int read_all(const char *path)
{
	struct trace_reader *reader;
	const struct event *e;
	uint64_t events = 0, sum = 0;
	int r;

	r = trace_reader_new(&reader, path, 0);
	if (r < 0)
		return r;
	while ((r = trace_reader_next(reader, &e)) > 0) {
		events++;
		sum += e->time ^ e->arg[0] ^ e->task ^ e->kind;
	}
	trace_reader_free(reader);
	if (r == 0)
		printf("{\"events\": %" PRIu64 ", \"sum\": %" PRIu64 "}\n", events, sum);
	return r;
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: readall FILE\n");
		return 2;
	}
	return read_all(argv[1]) < 0;
}
