/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a result comes from, whatever was measured: kernel, machine, settings, sources. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "replay/measurement.h"

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

json_t *measurement_options(const struct pass_setup *s)
{
	/* Left out where it is not given, so that results from before it compare with those. */
	json_t *together = s->together ? json_true() : NULL;

	return json_pack("{s:s, s:o, s:s, s:s, s:I, s:o*}", "thp", s->thp ? s->thp : "", "mthp",
	                 list_text(&s->mthp), "mthp_sweep", s->sweep_text ? s->sweep_text : "",
	                 "cgroup", pass_cgroup_names[s->cgroup], "memory_max",
	                 (json_int_t)s->memory_max, "together", together);
}

static json_t *command_line(void)
{
	char text[4096] = "";
	_cleanup_fclose_ FILE *f = fopen("/proc/cmdline", "re");

	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	return json_string(text);
}

int measurement_note_pass(struct measurement *m, const char *name, const char *why)
{
	json_t *sources = json_object_get(result_provenance(m->result), "sources");

	return json_array_append_new(sources, json_pack("{s:s, s:b, s:s*}", "name", name, "used",
	                                                !why, "why", why)) < 0
	               ? -ENOMEM
	               : 0;
}

int measurement_provenance(struct measurement *m)
{
	json_t *to = result_provenance(m->result), *machine = result_pairs(next_machine, m->before);
	int r = machine && !json_object_update(to, machine) ? 0 : -ENOMEM;

	json_decref(machine);
	if (r >= 0)
		r = put(to, "mmtape", json_string(MMTAPE_VERSION));
	if (r >= 0)
		r = put(to, "cmdline", command_line());
	if (r >= 0)
		r = put(to, "spinlock", json_string(settings_spinlock_kind()));
	/* A kernel with LOCK_STAT has lockdep and debug spinlocks: its times are not the kernel's.
	 */
	if (r >= 0)
		r = put(to, "debug_locks", json_boolean(!access("/proc/lockdep_stats", F_OK)));
	if (r >= 0)
		r = put(to, "settings_before", result_pairs(next_setting, m->before));
	if (r >= 0)
		r = put(to, "settings_after", result_pairs(next_setting, m->after));
	if (r >= 0)
		r = put(to, "sources", json_array());
	if (r >= 0)
		r = measurement_note_pass(m, RESULT_PASS_TIME,
		                          m->setup->no_time ? "--no-time" : NULL);
	return r < 0 ? r : observer_provenance(m->observer, json_object_get(to, "sources"));
}
