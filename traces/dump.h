/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output formats of `mmtape dump`: a row each. Internal to traces/. */
#pragma once

#include <stdio.h>

#include "traces/reader.h"

struct dump {
	FILE *out;
	uint64_t base; /* times are shown from here */
};

struct dump_format {
	const char *name;
	void (*begin)(struct dump *d); /* NULL: nothing */
	void (*event)(struct dump *d, const struct event *e);
	void (*task_name)(struct dump *d, const struct trace_name *n);
	void (*maps)(struct dump *d, const struct trace_maps *m);
	void (*stat)(struct dump *d, const struct trace_stat *s);
	void (*loss)(struct dump *d, const struct trace_loss *l);
};

extern const struct dump_format dump_text;
extern const struct dump_format dump_jsonl;
extern const struct dump_format dump_csv;

/* "ring", … of enum format_loss_reason, "other" if unknown. */
const char *dump_loss_reason(uint32_t reason);
/* "anon", … of enum format_map_kind. */
const char *dump_map_kind(uint32_t kind);
/* "rw-s": protection and sharing as /proc/PID/maps shows them. */
void dump_map_prot(char out[5], uint32_t prot) _nonnull_;
/* Nanoseconds since the base; what came before it is negative. */
int64_t dump_time(const struct dump *d, uint64_t time) _nonnull_;
