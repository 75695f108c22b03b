/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What speaks against one side by itself. */

#include <stdio.h>

#include "analysis/compat.h"
#include "common/cleanup.h"

/*
 * A sweep changes the settings of sizes itself and is described with its last size; while
 * it runs they are in its journal, so nobody else of ours can change them.
 */
static bool is_swept(const json_t *provenance, const char *key)
{
	const json_t *options = json_object_get(provenance, "options");
	const char *sizes = json_string_value(json_object_get(options, "mthp_sweep"));
	unsigned kib;
	int end = 0;

	return sizes && *sizes && sscanf(key, "thp_%ukB%n", &kib, &end) == 1 && end && !key[end];
}

static int check_settings_kept(const char *path, const json_t *provenance, struct reasons *out)
{
	const json_t *after = json_object_get(provenance, "settings_after");
	const char *key;
	json_t *before;

	json_object_foreach(json_object_get(provenance, "settings_before"), key, before)
	{
		const json_t *now = json_object_get(after, key);
		int r;

		if (!now || reasons_same_value(before, now, 0) || !compat_is_setting(key) ||
		    is_swept(provenance, key))
			continue;
		r = reasons_add(out, "%s: somebody changed the setting %.64s while it ran", path,
		                key);
		if (r < 0)
			return r;
	}
	return 0;
}

static int check_fidelity(const char *path, const json_t *fidelity, struct reasons *out)
{
	static const struct {
		const char *key, *what;
	} counts[] = {
		{ "lost", "events are missing from the recording" },
		{ "mismatches", "operations did not go as recorded" },
	};
	double n;

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		int r;

		if (!reasons_number(json_object_get(fidelity, counts[i].key), &n) || n <= 0)
			continue;
		r = reasons_add(out, "%s: %.0f %s", path, n, counts[i].what);
		if (r < 0)
			return r;
	}
	if (json_is_true(json_object_get(fidelity, "incomplete")))
		return reasons_add(out, "%s: an incomplete recording was replayed", path);
	return 0;
}

int compat_check_side(const struct side *side, const struct option_list *vary, struct reasons *out)
{
	for (size_t i = 0; i < side->count; i++) {
		const json_t *p = result_provenance(side->results[i]);
		const json_t *first = result_provenance(side->results[0]);
		int r;

		r = check_fidelity(side->paths[i], result_fidelity(side->results[i]), out);
		if (r >= 0)
			r = check_settings_kept(side->paths[i], p, out);
		if (r >= 0 && i > 0)
			r = compat_check_results(side->results[0], side->results[i], vary, out);
		if (r >= 0 && i > 0 &&
		    (!json_equal(json_object_get(p, "kernel"), json_object_get(first, "kernel")) ||
		     !json_equal(json_object_get(p, "kernel_version"),
		                 json_object_get(first, "kernel_version"))))
			r = reasons_add(out,
			                "%s and %s are of different kernels: they cannot be pooled",
			                side->paths[0], side->paths[i]);
		if (r < 0)
			return r;
	}
	return 0;
}
