/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape info` as a page to read: a name and what there is to it, at most 80 columns. */

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/cleanup.h"
#include "common/escape.h"
#include "traces/info.h"

#define WIDTH 80
#define NAME_WIDTH 11

static void print_name(const char *name)
{
	printf("%-*s", NAME_WIDTH, name);
}

static void print_line(const char *name, const char *fmt, ...) _printf_(2, 3);
static void print_line(const char *name, const char *fmt, ...)
{
	va_list ap;

	print_name(name);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

/* "1.25 GiB" */
static const char *size_text(char *out, size_t room, uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	unsigned unit = 0;

	while (value >= 1024 && unit + 1 < ARRAY_SIZE(units)) {
		value /= 1024;
		unit++;
	}
	snprintf(out, room, unit ? "%.4g %s" : "%.0f %s", value, units[unit]);
	return out;
}

/* A list of words that continues below itself. */
struct wrap {
	int column;
};

static void wrap_begin(struct wrap *w, const char *name)
{
	print_name(name);
	w->column = NAME_WIDTH;
}

/* Room for the next word, which takes that many columns and perhaps a comma behind it. */
static void wrap_room(struct wrap *w, int columns)
{
	if (w->column > NAME_WIDTH && w->column + 2 + columns + 1 > WIDTH) {
		printf(",\n%*s", NAME_WIDTH, "");
		w->column = NAME_WIDTH;
	} else if (w->column > NAME_WIDTH) {
		fputs(", ", stdout);
		w->column += 2;
	}
	w->column += columns;
}

static void wrap_word(struct wrap *w, const char *fmt, ...) _printf_(2, 3);
static void wrap_word(struct wrap *w, const char *fmt, ...)
{
	char word[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(word, sizeof(word), fmt, ap);
	va_end(ap);
	wrap_room(w, (int)strlen(word));
	fputs(word, stdout);
}

/* A value from the file, escaped, behind its name; nothing if there is none. */
static void wrap_meta(struct wrap *w, const struct trace_meta *meta, const char *key,
                      const char *name)
{
	const char *value = trace_meta_get(meta, key);
	char *escaped = NULL;
	size_t size;
	unsigned columns;
	FILE *f;

	if (!value)
		return;
	f = open_memstream(&escaped, &size);
	if (!f)
		return;
	columns = escape_text(f, value);
	fclose(f);
	wrap_room(w, (int)(strlen(name) + columns));
	printf("%s%s", name, escaped);
	free(escaped);
}

static void wrap_end(struct wrap *w)
{
	puts(w->column == NAME_WIDTH ? "none" : "");
}

static void print_machine(const struct trace_meta *meta)
{
	const uint64_t memory = trace_meta_get_u64(meta, META_MEMORY, 0);
	struct wrap w;
	char text[32];

	wrap_begin(&w, "machine");
	wrap_meta(&w, meta, META_KERNEL, "kernel ");
	wrap_meta(&w, meta, META_ARCH, "");
	wrap_meta(&w, meta, META_CPUS, "CPUs ");
	wrap_meta(&w, meta, META_NODES, "NUMA nodes ");
	if (memory)
		wrap_word(&w, "memory %s", size_text(text, sizeof(text), memory));
	wrap_end(&w);
	wrap_begin(&w, "settings");
	wrap_meta(&w, meta, META_THP, "THP ");
	wrap_meta(&w, meta, META_THP_DEFRAG, "defrag ");
	wrap_meta(&w, meta, META_PAGE_SIZE, "pages ");
	wrap_meta(&w, meta, META_HUGE_PAGE_SIZE, "huge pages ");
	wrap_meta(&w, meta, META_ZERO_PAGE, "zero page ");
	wrap_end(&w);
	wrap_begin(&w, "recorder");
	wrap_meta(&w, meta, META_TOOL, "");
	wrap_meta(&w, meta, META_OPTIONS, "");
	wrap_meta(&w, meta, META_TRACE_ID, "trace id ");
	wrap_end(&w);
}

static void print_file(const struct info *info)
{
	const struct survey *s = info->survey;
	const double seconds = (double)(s->last - s->first) / 1e9;
	char text[32];

	print_line("events", "%" PRIu64 " in %.3f s; %s, %.2f bytes per event", s->events, seconds,
	           size_text(text, sizeof(text), info->status->bytes),
	           s->events ? (double)info->status->bytes / (double)s->events : 0.0);
}

static void print_status(const struct info *info)
{
	const struct trace_tail *t = info->tail;
	const bool known = t && t->flags & TAIL_STATUS_KNOWN;
	const int status = known ? (int)t->status : 0;

	print_name("complete");
	fputs(info->complete ? "yes" : "no", stdout);
	if (!t)
		fputs("; it has no end: the recording was killed, or the file was cut", stdout);
	else if (t->flags & TAIL_INTERRUPTED)
		fputs("; stopped by a signal or a limit", stdout);
	if (known && WIFEXITED(status))
		printf("; the command ended with status %d", WEXITSTATUS(status));
	else if (known && WIFSIGNALED(status))
		printf("; the command was ended by signal %d", WTERMSIG(status));
	putchar('\n');
	if (info->survey->partial)
		print_line("",
		           "counts of tasks and memory stop at event %" PRIu64
		           ", beyond a bound of info",
		           info->survey->partial_event);
}

static void print_loss(const struct info *info)
{
	const struct trace_status *s = info->status;
	struct wrap w;

	if (s->lost) {
		wrap_begin(&w, "lost");
		wrap_word(&w, "at least %" PRIu64 " events", s->lost);
		for (size_t i = 0; i < info->loss_count; i++)
			wrap_word(&w, "CPU %" PRIu32 ": %" PRIu64 " in %" PRIu64 " spans",
			          info->losses[i].cpu, info->losses[i].events,
			          info->losses[i].spans);
		wrap_end(&w);
	}
	for (size_t i = 0; i < s->damage_count && i < ARRAY_SIZE(s->damage); i++)
		print_line(i ? "" : "damage",
		           "offset %" PRIu64 ": %s, %" PRIu64 " bytes unreadable",
		           s->damage[i].offset, s->damage[i].what, s->damage[i].bytes);
	if (s->damage_count > ARRAY_SIZE(s->damage))
		print_line("", "and %" PRIu64 " more places",
		           s->damage_count - (uint64_t)ARRAY_SIZE(s->damage));
}

static void print_tasks(const struct survey *s)
{
	struct wrap w;

	wrap_begin(&w, "tasks");
	wrap_word(&w, "%zu in %zu spaces", s->tasks, s->spaces);
	wrap_word(&w, "%zu at once", s->lineage.alive_peak);
	wrap_word(&w, "%" PRIu64 " execs", s->kinds[EVENT_EXEC]);
	wrap_word(&w, "%" PRIu64 " without a newtask event", s->lineage.assumed);
	if (s->lineage.late)
		wrap_word(&w, "%" PRIu64 " events after an exit", s->lineage.late);
	if (s->lineage.reborn)
		wrap_word(&w, "%" PRIu64 " ids used again without an exit", s->lineage.reborn);
	wrap_end(&w);
	print_line("files", "%zu, of them %" PRIu64 " opened unseen", s->files, s->unknown_files);
}

static void print_events(const struct info *info)
{
	const struct survey *s = info->survey;
	struct wrap w;

	print_line("faults",
	           "%" PRIu64 ": %" PRIu64 " user, %" PRIu64 " kernel; %" PRIu64 " writes",
	           info_faults(info), s->kinds[EVENT_FAULT_USER], s->kinds[EVENT_FAULT_KERNEL],
	           s->writes);
	wrap_begin(&w, "calls");
	for (unsigned call = 0; call < CALL_COUNT; call++)
		if (s->calls.enters[call])
			wrap_word(&w, "%s %" PRIu64, call_name(call), s->calls.enters[call]);
	wrap_end(&w);
	wrap_begin(&w, "failed");
	for (unsigned call = 0; call < CALL_COUNT; call++)
		if (s->calls.failed[call])
			wrap_word(&w, "%s %" PRIu64, call_name(call), s->calls.failed[call]);
	wrap_end(&w);
	print_line("unpaired",
	           "%" PRIu64 " leaves without enter, %" PRIu64 " enters without leave (%" PRIu64
	           " at a loss)",
	           s->calls.orphan_leaves, s->calls.unfinished, s->calls.abandoned);
	if (s->unknown_kinds)
		print_line("", "%" PRIu64 " events of kinds that this version does not know",
		           s->unknown_kinds);
}

static void print_shapes(const struct info *info)
{
	const struct shapes *shapes = &info->survey->shapes;
	char size[32];

	if (!shapes->count)
		return;
	printf("\nheaviest of %zu shapes of calls, by bytes of their repetitions, and of each "
	       "call\n",
	       shapes->count);
	printf("  %10s %18s %12s  %s\n", "count", "length", "bytes", "call");
	for (size_t i = 0; i < shapes->count; i++) {
		const struct shape *s = &shapes->at[i];
		char advice[64] = "";

		if (!info_shows_shape(info, i))
			continue;
		if (s->advice != SHAPE_NO_ADVICE)
			event_value_format(advice, sizeof(advice), ARG_ADVICE, s->advice);
		printf("  %10" PRIu64 " %#18" PRIx64 " %12s  %s%s%s\n", s->count, s->length,
		       size_text(size, sizeof(size), s->bytes), call_name(s->call),
		       *advice ? " " : "", advice);
	}
}

void info_text_print(const struct info *info)
{
	const struct survey *s = info->survey;
	char text[32];

	print_name("trace");
	escape_message(stdout, info->path);
	putchar('\n');
	print_file(info);
	print_status(info);
	print_loss(info);
	print_machine(info->meta);
	print_tasks(s);
	print_events(info);
	print_line("a replay", "needs about %s of memory, %zu tasks; %" PRIu64 " calls at once",
	           size_text(text, sizeof(text), s->peak_bytes), s->lineage.alive_peak,
	           s->peak_calls);
	print_shapes(info);
}
