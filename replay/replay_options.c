/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of the command `replay`. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "capture/settings.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/cpulist.h"
#include "replay/memory.h"
#include "replay/replay_options.h"
#include "replay/sandbox.h"

#define MAX_COPIES 1024
#define MAX_SPEED 65536.0

const char *const replay_place_names[] = { "traced", "kernel", "thp-aligned" };
const char *const replay_order_names[] = { "deps", "serial" };
const char *const replay_touch_names[] = { "recorded", "dense", "region" };

/* A plain decimal number and nothing behind it. */
static int parse_decimal(const char *text, double *out)
{
	char *end;

	if (!*text || strspn(text, "0123456789.") != strlen(text))
		return -EINVAL;
	*out = strtod(text, &end);
	return *end || !isfinite(*out) ? -EINVAL : 0;
}

int replay_parse_pace(const char *text, uint64_t *pace)
{
	double speed = 1;

	if (!strcmp(text, "asap")) {
		*pace = 0;
		return 0;
	}
	if (strcmp(text, "recorded") && (*text != 'x' || parse_decimal(text + 1, &speed) < 0))
		return -EINVAL;
	if (speed < 1 / MAX_SPEED || speed > MAX_SPEED)
		return -EINVAL;
	*pace = (uint64_t)(speed * 65536 + 0.5);
	return 0;
}

int replay_parse_fill(const char *text, enum state_fill *fill, uint32_t *ratio)
{
	double part = 1;

	*ratio = 0;
	*fill = FILL_ZERO;
	if (!strcmp(text, "zero"))
		return 0;
	if (strcmp(text, "random") &&
	    (strncmp(text, "ratio=", 6) || parse_decimal(text + 6, &part) < 0))
		return -EINVAL;
	if (part > 1)
		return -EINVAL;
	*ratio = (uint32_t)(part * 1000 + 0.5);
	if (*ratio)
		*fill = FILL_RANDOM;
	return 0;
}

unsigned replay_parse_rule(const char *text)
{
	static const struct {
		const char *name;
		unsigned rule;
	} rules[] = {
		{ "use-after-map", RULE_USE_AFTER_MAP },
		{ "unmap-after-use", RULE_UNMAP_AFTER_USE },
		{ "map-after-unmap", RULE_MAP_AFTER_UNMAP },
		{ "fault-before-unmap", RULE_FAULT_BEFORE_UNMAP },
		{ "protect", RULE_PROTECT },
		{ "contents", RULE_CONTENTS },
		{ "fork", RULE_FORK },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		if (!strcmp(text, rules[i].name))
			return rules[i].rule;
	return 0;
}

static int call_pace(void *target, const char *value)
{
	struct replay_setup *setup = target;

	setup->pace = value;
	if (!replay_parse_pace(value, &setup->execute.pace))
		return 0;
	log_error("--pace: '%s' is not asap, recorded or xN like x10 or x0.5", value);
	return -EINVAL;
}

static int call_fill(void *target, const char *value)
{
	struct replay_setup *setup = target;

	setup->fill = value;
	if (!replay_parse_fill(value, &setup->execute.fill, &setup->execute.fill_ratio))
		return 0;
	log_error("--fill: '%s' is not zero, random or ratio=R with R from 0 to 1", value);
	return -EINVAL;
}

static int call_rule(void *target, const char *value)
{
	unsigned rule = replay_parse_rule(value);

	if (!rule) {
		log_error("--drop-rule: no rule '%s'", value);
		return -EINVAL;
	}
	((struct replay_setup *)target)->compile.rules &= ~rule;
	return 0;
}

void replay_compile_defaults(struct compile_options *options, const struct trace_meta *trace)
{
	options->max_tasks = sandbox_max_tasks();
	options->max_plan_bytes = memory_total() / 2;
	options->emulate_brk = !settings_probe_heap();
	options->write_reads = !trace_meta_get_u64(trace, META_ZERO_PAGE, 1);
}

static void set_defaults(struct replay_setup *s)
{
	*s = (struct replay_setup){
		.compile = { .rules = RULE_ALL },
		.execute = { .copies = 1 },
		.pace = "asap",
		.fill = "zero",
	};
	pass_setup_defaults(&s->pass);
	s->pass.cgroup_choices = "shared,none,each";
}

static int check_pin(const char *pin)
{
	_cleanup_free_ uint32_t *cpus = NULL;
	uint32_t count = 0, missing = 0;
	int r = cpulist_parse(pin, &cpus, &count);

	if (r < 0) {
		log_error("--pin: '%s' is not a list of cpus like 0-3,6", pin);
		return r;
	}
	r = cpulist_check_allowed(cpus, count, &missing);
	if (r < 0)
		log_error("--pin: cpu %u is not there or not allowed: `nproc` and `taskset -p $$` "
		          "say which are",
		          missing);
	return r;
}

static int check(struct replay_setup *s, int operands, char **argv)
{
	if (operands != 1) {
		log_error("replay takes one trace, not %d: mmtape replay [options] TRACE",
		          operands);
		return -EINVAL;
	}
	if (!s->execute.copies || s->execute.copies > MAX_COPIES) {
		log_error("--copies: %u is not from 1 to %d", s->execute.copies, MAX_COPIES);
		return -EINVAL;
	}
	if (s->pass.cgroup == PASS_CGROUP_EACH)
		s->pass.groups = s->execute.copies;
	s->trace = argv[1];
	s->compile.placement = (enum plan_placement)s->place;
	s->compile.order = (enum plan_order)s->order;
	s->compile.touch = (enum plan_touch)s->touch;
	s->compile.paced = s->execute.pace != 0;
	s->execute.files_on_disk = s->backing == 1;
	s->execute.files_cold = s->cache == 1;
	s->execute.pin = s->pin;
	return s->pin && !s->pass.elsewhere ? check_pin(s->pin) : 0;
}

static int parse(struct replay_setup *s, bool elsewhere, int argc, char **argv)
{
	const struct option options[] = {
		{ 0, "place", OPTION_CHOICE, &s->place, "WHERE",
		  "where mappings go: traced (default), kernel, thp-aligned",
		  .choices = "traced,kernel,thp-aligned" },
		{ 0, "order", OPTION_CHOICE, &s->order, "ORDER",
		  "deps (default): tasks wait for what they need; serial: one operation at a time",
		  .choices = "deps,serial" },
		{ 0, "pace", OPTION_CALL, s, "PACE",
		  "asap (default), recorded, or xN: N times faster", .call = call_pace },
		{ 0, "touch", OPTION_CHOICE, &s->touch, "WHAT",
		  "recorded (default); dense: each page of what a fault covered; region: each page "
		  "of "
		  "each touched region",
		  .choices = "recorded,dense,region" },
		{ 0, "fill", OPTION_CALL, s, "FILL",
		  "what writes put into pages: zero (default), random, ratio=R: that part random",
		  .call = call_fill },
		{ 0, "file-backing", OPTION_CHOICE, &s->backing, "WHERE",
		  "scratch files on tmpfs (default) or disk", .choices = "tmpfs,disk" },
		{ 0, "file-cache", OPTION_CHOICE, &s->cache, "STATE",
		  "scratch files in the page cache: warm (default) or cold",
		  .choices = "warm,cold" },
		{ 0, "copies", OPTION_U32, &s->execute.copies, "N", "so many at once (1)" },
		{ 0, "pin", OPTION_STRING, &s->pin, "CPUS", "spread tasks over cpus, like 0-3,6" },
		{ 0, "incomplete", OPTION_FLAG, &s->compile.incomplete, NULL,
		  "go on although the trace lost events" },
		{ 0, "drop-map-stack", OPTION_FLAG, &s->compile.drop_map_stack, NULL,
		  "leave MAP_STACK out: since 6.7 it means no huge pages" },
		{ 0, "hugetlb", OPTION_FLAG, &s->compile.hugetlb, NULL, "replay MAP_HUGETLB" },
		{ 0, "seal", OPTION_FLAG, &s->compile.seal, NULL, "replay mseal" },
		{ 0, "no-latency", OPTION_FLAG, &s->no_latency, NULL,
		  "leave out the pass that times each call" },
		{ 0, "marks", OPTION_FLAG, &s->execute.marks, NULL, "", .hidden = true },
		{ 0, "drop-rule", OPTION_CALL, s, "RULE", "", .call = call_rule, .hidden = true },
		{ 0, "stuck-after", OPTION_TIME, &s->execute.timeout, "TIME",
		  "end a replay without any progress for so long (1m)" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape replay [options] TRACE",
		"Plays the memory calls and page faults of a trace again, in real processes and "
		"threads, and measures them. Exits with 3 when results differed from the recorded "
		"ones or the trace was incomplete.",
		options,
		false,
	};
	int operands, r;

	set_defaults(s);
	s->pass.elsewhere = elsewhere;
	r = pass_setup_parse(&s->pass, &spec, argc, argv, &operands);
	return r ? r : check(s, operands, argv);
}

int replay_options_parse(struct replay_setup *s, int argc, char **argv)
{
	return parse(s, false, argc, argv);
}

int replay_options_parse_elsewhere(struct replay_setup *s, int argc, char **argv)
{
	return parse(s, true, argc, argv);
}
