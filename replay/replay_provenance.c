/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a result comes from: trace, kernel, machine, settings, options. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "replay/replay_result.h"

/* What settings_describe() says of the machine rather than of its settings. */
static const char *const machine_keys[] = {
	META_KERNEL, META_KERNEL_VERSION, META_ARCH, META_CPUS, META_NODES,
	META_MEMORY, META_PAGE_SIZE,      META_TOOL, META_SWAP, META_ADDRESS_BITS,
};

static bool is_machine(const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(machine_keys); i++)
		if (!strcmp(key, machine_keys[i]))
			return true;
	return false;
}

static int next_setting(const void *from, size_t i, const char **key, const char **value)
{
	const struct trace_meta *meta = from;

	for (size_t at = 0; at < trace_meta_count(meta); at++) {
		trace_meta_at(meta, at, key, value);
		if (!is_machine(*key) && !i--)
			return 1;
	}
	return 0;
}

static int next_machine(const void *from, size_t i, const char **key, const char **value)
{
	if (i >= ARRAY_SIZE(machine_keys))
		return 0;
	*key = machine_keys[i];
	*value = trace_meta_get(from, *key);
	if (!*value)
		*value = "";
	return 1;
}

static int put(json_t *object, const char *key, json_t *value)
{
	return value && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

static json_t *list_text(const struct option_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < list->count; i++)
		if (json_array_append_new(array, json_string(list->items[i])) < 0) {
			json_decref(array);
			return NULL;
		}
	return array;
}

static json_t *options_object(const struct replay_setup *s)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:o, s:s, s:s, s:b, s:b, s:b}",
		"place", replay_place_names[s->place], "order", replay_order_names[s->order],
		"touch", replay_touch_names[s->touch], "pace", s->pace, "fill", s->fill,
		"file_backing", s->execute.files_on_disk ? "disk" : "tmpfs", "file_cache",
		s->execute.files_cold ? "cold" : "warm", "copies", (json_int_t)s->execute.copies,
		"thp", s->thp ? s->thp : "", "mthp", list_text(&s->mthp), "mthp_sweep",
		s->sweep_text ? s->sweep_text : "", "pin", s->pin ? s->pin : "", "drop_map_stack",
		s->compile.drop_map_stack, "hugetlb", s->compile.hugetlb, "seal", s->compile.seal);
}

static json_t *sources_array(const struct replay_setup *s, const struct observer *observer)
{
	json_t *sources = json_pack("[{s:s, s:b, s:s*}, {s:s, s:b, s:s*}]", "name", "time", "used",
	                            !s->no_time, "why", s->no_time ? "--no-time" : NULL, "name",
	                            "latency", "used", !s->no_latency, "why",
	                            s->no_latency ? "--no-latency" : NULL);

	if (sources && observer_provenance(observer, sources) < 0) {
		json_decref(sources);
		return NULL;
	}
	return sources;
}

static json_t *command_line(void)
{
	char text[4096] = "";
	_cleanup_fclose_ FILE *f = fopen("/proc/cmdline", "re");

	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	return json_string(text);
}

static json_t *text_of(const char *text)
{
	return json_string(text ? text : "");
}

int replay_result_provenance(struct result *r, const struct replay_setup *setup,
                             const struct trace_reader *reader, const struct trace_meta *before,
                             const struct trace_meta *after, const struct observer *observer)
{
	const struct trace_meta *trace = trace_reader_meta(reader);
	json_t *to = result_provenance(r);
	json_t *machine = result_pairs(next_machine, before);
	const char *slash = strrchr(setup->trace, '/');
	int error = machine && !json_object_update(to, machine) ? 0 : -ENOMEM;

	json_decref(machine);
	if (error >= 0)
		error = put(to, "trace_id", text_of(trace_meta_get(trace, META_TRACE_ID)));
	if (error >= 0)
		error = put(to, "trace", text_of(slash ? slash + 1 : setup->trace));
	if (error >= 0)
		error = put(to, "mmtape", json_string(MMTAPE_VERSION));
	if (error >= 0)
		error = put(to, "cmdline", command_line());
	if (error >= 0)
		error = put(to, "spinlock", json_string(settings_spinlock_kind()));
	/* A kernel with LOCK_STAT has lockdep and debug spinlocks: its times are not the kernel's.
	 */
	if (error >= 0)
		error = put(to, "debug_locks", json_boolean(!access("/proc/lockdep_stats", F_OK)));
	if (error >= 0)
		error = put(to, "settings_before", result_pairs(next_setting, before));
	if (error >= 0)
		error = put(to, "settings_after", result_pairs(next_setting, after));
	if (error >= 0)
		error = put(to, "options", options_object(setup));
	if (error >= 0)
		error = put(to, "sources", sources_array(setup, observer));
	return error;
}
