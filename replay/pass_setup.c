/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the options that `replay` and `measure` share, and what may be wrong with them. */

#include <string.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/pass_setup.h"

#define MAX_REPEAT 10000
#define MAX_ROWS 64

const char *const pass_cgroup_names[] = { "shared", "none", "each" };

void pass_setup_defaults(struct pass_setup *s)
{
	*s = (struct pass_setup){
		.repeat = 5,
		.warmup = 1,
		.sources = "none",
		.cgroup_choices = "shared,none",
		.cgroup = PASS_CGROUP_UNSET,
	};
}

void pass_setup_clear(struct pass_setup *s)
{
	option_list_clear(&s->mthp);
}

/* A limit needs a group. */
static int check_cgroup(struct pass_setup *s)
{
	if (s->memory_max && s->cgroup == PASS_CGROUP_NONE) {
		log_error("--memory-max is the limit of a cgroup: leave --cgroup=none out");
		return -EINVAL;
	}
	if (s->cgroup == PASS_CGROUP_UNSET)
		s->cgroup = s->memory_max ? PASS_CGROUP_SHARED : PASS_CGROUP_NONE;
	s->groups = s->cgroup != PASS_CGROUP_NONE;
	return 0;
}

static int check(struct pass_setup *s)
{
	int r;

	if (s->output && s->append) {
		log_error("--output makes a result and --append adds to one: give one of them");
		return -EINVAL;
	}
	if (!s->repeat || s->repeat > MAX_REPEAT || s->warmup > MAX_REPEAT) {
		log_error("--repeat goes from 1 to %d, --warmup from 0", MAX_REPEAT);
		return -EINVAL;
	}
	r = check_cgroup(s);
	if (r >= 0 && s->thp && !s->elsewhere)
		r = settings_check_thp(s->thp);
	for (size_t i = 0; i < s->mthp.count && r >= 0 && !s->elsewhere; i++)
		r = settings_check_mthp(s->mthp.items[i]);
	if (r >= 0 && s->sweep_text)
		r = sweep_parse(s->sweep_text, &s->sweep);
	return r;
}

static const char *cgroup_help(const char *choices)
{
	return strstr(choices, "each") ? "memory cgroups: shared: one for all, the default with "
	                                 "--memory-max; each: one for each copy; none"
	                               : "memory cgroup: shared: one of its own, the default with "
	                                 "--memory-max; none";
}

/* A row for each option; the command's own rows stand behind them. */
static int parse(struct pass_setup *s, const struct option_spec *spec, int argc, char **argv,
                 int *operands)
{
	const struct option common[] = {
		{ 'o', "output", OPTION_STRING, &s->output, "FILE", "the result to write" },
		{ 0, "append", OPTION_STRING, &s->append, "FILE",
		  "add this run to a result as a boot of its own; make it if it is not there" },
		{ 'f', "force", OPTION_FLAG, &s->force, NULL,
		  "replace FILE; a replay goes on although memory may not suffice" },
		{ 0, "repeat", OPTION_U32, &s->repeat, "N", "measured repetitions (5)" },
		{ 0, "warmup", OPTION_U32, &s->warmup, "N",
		  "repetitions before, not measured (1)" },
		{ 0, "thp", OPTION_STRING, &s->thp, "MODE",
		  "transparent huge pages during the run: always, madvise, never" },
		{ 0, "mthp", OPTION_LIST, &s->mthp, "SIZE=MODE",
		  "the same for one size, like 64k=always; may be given again" },
		{ 0, "mthp-sweep", OPTION_STRING, &s->sweep_text, "SIZES",
		  "measure with each of these sizes of folios, like 16k,64k,2m" },
		{ 0, "memory-max", OPTION_SIZE, &s->memory_max, "SIZE",
		  "limit the memory of each cgroup; the rest goes to swap" },
		{ 0, "cgroup", OPTION_CHOICE, &s->cgroup, "HOW", cgroup_help(s->cgroup_choices),
		  .choices = s->cgroup_choices },
		{ 0, "sources", OPTION_STRING, &s->sources, "LIST",
		  "lock figures, each in a pass of its own: lock_stat, contention, entries, "
		  "profile, all or none (default)" },
		{ 0, "exclusive", OPTION_FLAG, &s->exclusive, NULL,
		  "nobody else measures here: sources may use what the machine has once" },
		{ 0, "together", OPTION_FLAG, &s->together, NULL,
		  "all sources in one pass: to compare what they count" },
		{ 0, "no-time", OPTION_FLAG, &s->no_time, NULL,
		  "leave out the pass that measures times" },
	};
	struct option rows[MAX_ROWS] = { 0 };
	struct option_spec joined = *spec;
	size_t own = 0;

	while (spec->options[own].name)
		own++;
	if (ARRAY_SIZE(common) + own >= MAX_ROWS)
		return -E2BIG;
	memcpy(rows, common, sizeof(common));
	memcpy(rows + ARRAY_SIZE(common), spec->options, own * sizeof(*rows));
	joined.options = rows;
	return options_parse(&joined, argc, argv, operands);
}

int pass_setup_parse(struct pass_setup *s, const struct option_spec *spec, int argc, char **argv,
                     int *operands)
{
	int r = parse(s, spec, argc, argv, operands);

	return r ? r : check(s);
}
