/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From what a guest sent to DIR/NAME.json. */

#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/output_file.h"
#include "replay/lab_files.h"
#include "replay/lab_results.h"

#define NEW ".new" /* renamed when it is whole */

static char *path_of(const struct lab_setup *s, const char *name, const char *more)
{
	char *path;

	return asprintf(&path, "%s/%s.json%s", s->output, name, more) < 0 ? NULL : path;
}

static int say(const char *what, int error)
{
	log_error("%s: %s", what, strerror(-error));
	return error;
}

static int prepare_one(const struct lab_setup *s, const char *name)
{
	_cleanup_free_ char *path = path_of(s, name, "");

	if (!path)
		return say(s->output, -ENOMEM);
	if (!s->resume && !s->force && access(path, F_OK) == 0) {
		log_error("%s: exists already: --resume to go on with it, --force to replace it, "
		          "or another folder (-o)",
		          path);
		return -EEXIST;
	}
	return output_file_check(path, true);
}

int lab_results_prepare(const struct lab_setup *s)
{
	int r = 0;

	if (mkdir(s->output, 0777) < 0 && errno != EEXIST)
		return output_file_say(s->output, error_errno());
	for (size_t i = 0; i < s->kernel_count && r >= 0; i++)
		r = prepare_one(s, s->kernels[i].name);
	return r;
}

static json_t *words_array(const struct lab_setup *s)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < s->word_count; i++)
		json_array_append_new(array, json_string(s->words[i]));
	for (size_t i = 1; array && s->command && s->command[i]; i++)
		json_array_append_new(array, json_string(s->command[i]));
	return array;
}

static json_t *images_array(const struct lab_kernel *k, int *error)
{
	json_t *array = json_array();

	for (size_t i = 0; array && i < 2 && k->images[i] && *error >= 0; i++) {
		uint64_t hash = 0;
		char text[24];

		*error = lab_fingerprint(k->images[i], &hash);
		snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
		json_array_append_new(array, json_string(text));
	}
	return array;
}

int lab_describe(const struct lab_setup *s, const struct lab_machine *m, const struct lab_kernel *k,
                 json_t **out)
{
	int error = 0;
	json_t *images = images_array(k, &error);

	*out = json_pack("{s:s, s:b, s:s, s:i, s:i, s:b, s:I, s:i, s:I, s:s, s:o, s:o}", "accel",
	                 m->kvm ? "kvm" : "tcg", "one_thread", m->one_thread, "cpu", m->cpu,
	                 "virtual_cpus", (int)s->cpus, "real_cpus", (int)m->real_cpus, "emulated",
	                 !m->kvm, "memory", (json_int_t)m->memory, "numa_nodes", (int)s->nodes,
	                 "swap", (json_int_t)s->swap, "append", s->append, "command",
	                 words_array(s), "images", images);
	if (!*out && error >= 0)
		return say("the result", -ENOMEM);
	return error;
}

/* How many CPUs there are may change from day to day; the rest is the experiment. */
static const char *first_difference(const json_t *a, const json_t *b)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)a, key, value)
	{
		if (!json_equal(value, json_object_get(b, key)))
			return key;
	}
	return NULL;
}

bool lab_results_have(const struct lab_kernel *k, unsigned boot)
{
	const json_t *row;
	size_t i;

	json_array_foreach(
		k->result ? json_object_get(result_json(k->result), "repetitions") : NULL, i, row)
	{
		if (json_integer_value(json_object_get(row, "boot")) == boot)
			return true;
	}
	return false;
}

int lab_results_resume(const struct lab_setup *s, struct lab_kernel *k, const json_t *lab)
{
	_cleanup_free_ char *path = path_of(s, k->name, "");
	const char *key;
	int r;

	if (!path)
		return say(s->output, -ENOMEM);
	if (access(path, F_OK) < 0)
		return 0;
	r = result_read(&k->result, path);
	if (r < 0)
		return r;
	key = first_difference(
		lab, json_object_get(json_object_get(result_json(k->result), "provenance"), "lab"));
	if (key) {
		log_error("%s: cannot go on with it: '%s' was another then (provenance.lab); "
		          "another folder (-o), or --force without --resume",
		          path, key);
		return -EINVAL;
	}
	return 0;
}

static void number_rows(struct result *r, unsigned boot)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(result_json(r), "repetitions"), i, row)
		json_object_set_new(row, "boot", json_integer(boot));
}

static int write_whole(const struct lab_setup *s, const struct lab_kernel *k)
{
	_cleanup_free_ char *path = path_of(s, k->name, "");
	_cleanup_free_ char *new = path_of(s, k->name, NEW);
	int r;

	if (!path || !new)
		return say(s->output, -ENOMEM);
	r = result_write(k->result, new, true);
	if (r >= 0 && rename(new, path) < 0)
		r = output_file_say(path, error_errno());
	return r;
}

int lab_results_add(const struct lab_setup *s, struct lab_kernel *k, struct result *made,
                    unsigned boot, const json_t *lab)
{
	int r = 0;

	if (json_object_set(result_provenance(made), "lab", (json_t *)lab) < 0)
		r = say(k->name, -ENOMEM);
	if (!k->result) {
		number_rows(made, boot);
		k->result = made;
	} else {
		if (r >= 0)
			r = result_append(k->result, made, boot);
		result_free(made);
	}
	return r < 0 ? r : write_whole(s, k);
}
