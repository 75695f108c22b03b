/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metadata and counters of a recording. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>

#include "capture/counters.h"
#include "capture/record_meta.h"
#include "capture/settings.h"
#include "common/cleanup.h"

#define META_VALUE_MAX 4096

static int set_trace_id(struct trace_meta *meta)
{
	uint64_t id[2];
	char text[33];

	while (getrandom(id, sizeof(id), 0) != sizeof(id))
		;
	snprintf(text, sizeof(text), "%016llx%016llx", (unsigned long long)id[0],
	         (unsigned long long)id[1]);
	return trace_meta_set(meta, META_TRACE_ID, text);
}

static int set_options(struct trace_meta *meta, const struct record_options *o)
{
	char text[128];

	snprintf(text, sizeof(text), "buffer-size=%llu%s%s%s%s",
	         (unsigned long long)o->buffer_bytes, o->raw_addresses ? " raw-addresses" : "",
	         o->no_names ? " no-names" : "", o->futex ? " futex" : "",
	         o->plain_reads ? " no-io-uring" : "");
	return trace_meta_set(meta, META_OPTIONS, text);
}

static int set_command(struct trace_meta *meta, char *const *command)
{
	char text[META_VALUE_MAX + 1];
	size_t used = 0;

	for (; *command; command++) {
		int n = snprintf(text + used, sizeof(text) - used, "%s%s", used ? " " : "",
		                 *command);

		if (n < 0 || (size_t)n >= sizeof(text) - used)
			break; /* cut to what a value may hold */
		used += (size_t)n;
	}
	text[used] = '\0';
	return trace_meta_set(meta, META_COMMAND, text);
}

int record_meta_fill(struct trace_meta *meta, const struct record_options *o, uint32_t root,
                     uint64_t start)
{
	int r;

	r = trace_meta_set(meta, META_CLOCK, "mono");
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_TIME_BASE, start);
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_ROOT_TASK, root);
	if (r >= 0)
		r = trace_meta_set_u64(meta, META_REBASED, !o->raw_addresses);
	if (r >= 0)
		r = set_trace_id(meta);
	if (r >= 0)
		r = set_options(meta, o);
	if (r >= 0 && o->with_command)
		r = set_command(meta, o->command);
	return r < 0 ? r : settings_describe(meta);
}

/* Not of getrusage(): that remembers what was there before our exec. */
static uint64_t peak_bytes(void)
{
	_cleanup_fclose_ FILE *f = fopen("/proc/self/status", "re");
	unsigned long long kib = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %llu", &kib) == 1)
			break;
	return kib * 1024;
}

/* What the recorder itself took. */
static int set_own_costs(struct trace_meta *pairs)
{
	struct rusage own;
	int r;

	if (getrusage(RUSAGE_SELF, &own) < 0)
		return error_errno();
	r = trace_meta_set_u64(pairs, "recorder/peak_bytes", peak_bytes());
	if (r < 0)
		return r;
	return trace_meta_set_u64(pairs, "recorder/cpu_us",
	                          (uint64_t)(own.ru_utime.tv_sec + own.ru_stime.tv_sec) * 1000000 +
	                                  (uint64_t)(own.ru_utime.tv_usec + own.ru_stime.tv_usec));
}

static int set_counts(struct trace_meta *pairs, const struct ingest *in)
{
	const struct ingest_counts *c = &in->counts;
	const struct snapshots_counts *maps = &in->snapshots.counts;
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
		{ "recorder/tasks_alive_at_end", rebase_tasks_alive(in->rebase) },
		{ "recorder/kernel_faults_left_out", c->kernel_faults },
		{ "recorder/unknown_records", c->unknown_records },
		{ "recorder/kernel_workers_not_followed", c->kernel_workers },
		{ "recorder/programs_32_bit", maps->programs_32_bit },
		{ "recorder/execs", maps->execs },
		{ "recorder/execs_with_late_maps", maps->late },
		{ "recorder/execs_with_guessed_maps", maps->guessed },
		{ "recorder/execs_without_maps", maps->missed },
		{ "recorder/limits_unread", c->limits_unread },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int r = trace_meta_set_u64(pairs, rows[i].name, rows[i].value);

		if (r < 0)
			return r;
	}
	return set_own_costs(pairs);
}

int record_stat_write(struct trace_writer *w, unsigned when, uint64_t time, const struct ingest *in)
{
	struct trace_stat stat = { .time = time, .when = when };
	int r = trace_meta_new(&stat.pairs);

	if (r < 0)
		return r;
	r = counters_read(stat.pairs);
	if (r >= 0 && in)
		r = set_counts(stat.pairs, in);
	if (r >= 0)
		r = trace_writer_stat(w, &stat);
	trace_meta_free(stat.pairs);
	return r;
}
