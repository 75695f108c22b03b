/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a replay's result comes from: the trace and the options. */

#include <string.h>

#include "common/cleanup.h"
#include "replay/replay_result.h"

static int put(json_t *object, const char *key, json_t *value)
{
	return value && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

static json_t *options_object(const struct replay_setup *s)
{
	json_t *own = json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:s, s:b, s:b, s:b}", "place",
		replay_place_names[s->place], "order", replay_order_names[s->order], "touch",
		replay_touch_names[s->touch], "pace", s->pace, "fill", s->fill, "file_backing",
		s->execute.files_on_disk ? "disk" : "tmpfs", "file_cache",
		s->execute.files_cold ? "cold" : "warm", "copies", (json_int_t)s->execute.copies,
		"pin", s->pin ? s->pin : "", "drop_map_stack", s->compile.drop_map_stack, "hugetlb",
		s->compile.hugetlb, "seal", s->compile.seal);
	json_t *common = measurement_options(&s->pass);
	bool joined = own && common && !json_object_update(own, common);

	json_decref(common);
	if (joined)
		return own;
	json_decref(own);
	return NULL;
}

static json_t *text_of(const char *text)
{
	return json_string(text ? text : "");
}

int replay_result_provenance(struct measurement *m, const struct replay_setup *setup,
                             const struct trace_reader *reader)
{
	const struct trace_meta *trace = trace_reader_meta(reader);
	json_t *to = result_provenance(m->result);
	const char *slash = strrchr(setup->trace, '/');
	int r = measurement_provenance(m);

	if (r >= 0)
		r = measurement_note_pass(m, "latency", setup->no_latency ? "--no-latency" : NULL);
	if (r >= 0)
		r = put(to, "trace_id", text_of(trace_meta_get(trace, META_TRACE_ID)));
	if (r >= 0)
		r = put(to, "trace", text_of(slash ? slash + 1 : setup->trace));
	return r < 0 ? r : put(to, "options", options_object(setup));
}
