/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `mmtape info --format json`. Scripts rely on the keys: they are added to, never renamed. */

#include "common/cleanup.h"
#include "common/json_out.h"
#include "traces/info.h"

static void print_calls(struct json_out *j, const char *key, const uint64_t *counts)
{
	json_out_object(j, key);
	for (unsigned call = 0; call < CALL_COUNT; call++)
		if (counts[call])
			json_out_u64(j, call_name(call), counts[call]);
	json_out_end(j);
}

static void print_file(struct json_out *j, const struct info *info)
{
	const struct trace_status *s = info->status;

	json_out_string(j, "file", info->path);
	json_out_bool(j, "complete", info->complete);
	json_out_u64(j, "events", info->survey->events);
	json_out_u64(j, "lost", s->lost);
	json_out_u64(j, "bytes", s->bytes);
	json_out_double(j, "bytes_per_event",
	                info->survey->events ? (double)s->bytes / (double)info->survey->events : 0);
	json_out_u64(j, "blocks", s->blocks);
	json_out_u64(j, "duration_ns", info->survey->last - info->survey->first);
	json_out_bool(j, "has_tail", s->has_tail);
	if (info->tail && info->tail->flags & TAIL_STATUS_KNOWN)
		json_out_u64(j, "wait_status", info->tail->status);
	if (info->tail)
		json_out_bool(j, "interrupted", info->tail->flags & TAIL_INTERRUPTED);
}

static void print_tasks(struct json_out *j, const struct survey *s)
{
	json_out_u64(j, "tasks", s->tasks);
	json_out_u64(j, "spaces", s->spaces);
	json_out_u64(j, "file_tables", s->file_tables);
	json_out_u64(j, "files", s->files);
	json_out_u64(j, "unknown_files", s->unknown_files);
	json_out_u64(j, "peak_tasks", s->lineage.alive_peak);
	json_out_u64(j, "assumed_tasks", s->lineage.assumed);
	json_out_u64(j, "late_events", s->lineage.late);
	json_out_u64(j, "reused_ids", s->lineage.reborn);
	json_out_u64(j, "newtasks", s->kinds[EVENT_NEWTASK]);
	json_out_u64(j, "execs", s->kinds[EVENT_EXEC]);
	json_out_u64(j, "exits", s->kinds[EVENT_EXIT]);
}

static void print_events(struct json_out *j, const struct info *info)
{
	const struct survey *s = info->survey;

	json_out_u64(j, "faults", info_faults(info));
	json_out_u64(j, "faults_user", s->kinds[EVENT_FAULT_USER]);
	json_out_u64(j, "faults_kernel", s->kinds[EVENT_FAULT_KERNEL]);
	json_out_u64(j, "faults_write", s->writes);
	json_out_u64(j, "unknown_events", s->unknown_kinds);
	print_calls(j, "calls", s->calls.enters);
	print_calls(j, "failed", s->calls.failed);
	json_out_u64(j, "orphans", s->calls.orphan_leaves);
	json_out_u64(j, "unfinished", s->calls.unfinished);
	json_out_u64(j, "abandoned", s->calls.abandoned);
}

static void print_shapes(struct json_out *j, const struct info *info)
{
	json_out_array(j, "shapes");
	for (size_t i = 0; i < info->survey->shapes.count; i++) {
		const struct shape *s = &info->survey->shapes.at[i];
		char advice[64] = "";

		if (!info_shows_shape(info, i))
			continue;
		if (s->advice != SHAPE_NO_ADVICE)
			event_value_format(advice, sizeof(advice), ARG_ADVICE, s->advice);
		json_out_object(j, NULL);
		json_out_string(j, "call", call_name(s->call));
		json_out_string(j, "advice", *advice ? advice : NULL);
		json_out_u64(j, "length", s->length);
		json_out_u64(j, "count", s->count);
		json_out_u64(j, "bytes", s->bytes);
		json_out_end(j);
	}
	json_out_end(j);
	json_out_u64(j, "shapes_found", info->survey->shapes.count);
}

static void print_losses(struct json_out *j, const struct info *info)
{
	json_out_array(j, "losses");
	for (size_t i = 0; i < info->loss_count; i++) {
		json_out_object(j, NULL);
		json_out_u64(j, "cpu", info->losses[i].cpu);
		json_out_u64(j, "spans", info->losses[i].spans);
		json_out_u64(j, "events", info->losses[i].events);
		json_out_end(j);
	}
	json_out_end(j);
}

static void print_damage(struct json_out *j, const struct trace_status *s)
{
	json_out_u64(j, "damage_count", s->damage_count);
	json_out_array(j, "damage");
	for (size_t i = 0; i < s->damage_count && i < ARRAY_SIZE(s->damage); i++) {
		json_out_object(j, NULL);
		json_out_u64(j, "offset", s->damage[i].offset);
		json_out_u64(j, "bytes", s->damage[i].bytes);
		json_out_string(j, "what", s->damage[i].what);
		json_out_end(j);
	}
	json_out_end(j);
}

static void print_metadata(struct json_out *j, const struct trace_meta *meta)
{
	const char *key, *value;

	json_out_object(j, "metadata");
	for (size_t i = 0; i < trace_meta_count(meta); i++) {
		trace_meta_at(meta, i, &key, &value);
		json_out_string(j, key, value);
	}
	json_out_end(j);
}

void info_json_print(const struct info *info)
{
	const struct survey *s = info->survey;
	struct json_out j;

	json_out_init(&j, stdout, true);
	json_out_object(&j, NULL);
	print_file(&j, info);
	json_out_string(&j, "kernel", trace_meta_get(info->meta, META_KERNEL));
	print_tasks(&j, s);
	print_events(&j, info);
	json_out_u64(&j, "peak_bytes", s->peak_bytes);
	json_out_u64(&j, "peak_calls", s->peak_calls);
	json_out_bool(&j, "estimates_whole", !s->partial);
	print_shapes(&j, info);
	print_losses(&j, info);
	print_damage(&j, info->status);
	print_metadata(&j, info->meta);
	json_out_end(&j);
}
