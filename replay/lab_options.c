/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of `lab run` and `lab shell`, checked with all that the guest's command will check. */

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "capture/sources.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab.h"
#include "replay/lab_initramfs.h"
#include "replay/measure_options.h"
#include "replay/replay_options.h"

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+"
#define NAME_MAX_LENGTH 64

static bool is_name(const char *text, size_t length)
{
	return length && length <= NAME_MAX_LENGTH && *text != '.' && *text != '-' &&
	       strspn(text, NAME_CHARACTERS) >= length;
}

int lab_kernel_add(struct lab_setup *s, const char *text)
{
	size_t length = strcspn(text, "=");
	struct lab_kernel *k = &s->kernels[s->kernel_count];
	const char *images = text + length + 1;
	size_t first;

	if (!text[length] || !*images || !is_name(text, length)) {
		log_error("--kernel: '%s' is not NAME=IMAGE or NAME=COUNTING,TIMED, a name of "
		          "letters, digits and ._-+",
		          text);
		return -EINVAL;
	}
	if (s->kernel_count == LAB_MAX_KERNELS) {
		log_error("--kernel: more than %u kernels", LAB_MAX_KERNELS);
		return -EINVAL;
	}
	for (size_t i = 0; i < s->kernel_count; i++)
		if (strlen(s->kernels[i].name) == length &&
		    !strncmp(s->kernels[i].name, text, length)) {
			log_error("--kernel: '%s' is given twice", s->kernels[i].name);
			return -EINVAL;
		}
	first = strcspn(images, ",");
	if (!first || (images[first] && (!images[first + 1] || strchr(images + first + 1, ',')))) {
		log_error("--kernel: '%s' is not one image, or two with a comma between them",
		          images);
		return -EINVAL;
	}
	*k = (struct lab_kernel){ .name = strndup(text, length),
		                  .images = { strndup(images, first),
		                              images[first] ? strdup(images + first + 1) : NULL } };
	s->kernel_count++;
	return k->name && k->images[0] && (!images[first] || k->images[1]) ? 0 : -ENOMEM;
}

static int call_kernel(void *target, const char *value)
{
	return lab_kernel_add(target, value);
}

void lab_setup_clear(struct lab_setup *s)
{
	for (size_t i = 0; i < s->kernel_count; i++) {
		free(s->kernels[i].name);
		free(s->kernels[i].images[0]);
		free(s->kernels[i].images[1]);
		result_free(s->kernels[i].result);
	}
	for (size_t i = 0; i < s->word_count; i++)
		free(s->words[i]);
	free(s->words);
	option_list_clear(&s->files);
	*s = (struct lab_setup){ 0 };
}

static int check_machine(const struct lab_setup *s)
{
	if (!s->kernel_count) {
		log_error("no kernel to boot: --kernel NAME=IMAGE");
		return -EINVAL;
	}
	if (!s->cpus || s->cpus > LAB_MAX_CPUS) {
		log_error("--cpus: %u is not from 1 to %u", s->cpus, LAB_MAX_CPUS);
		return -EINVAL;
	}
	if (!s->nodes || s->nodes > LAB_MAX_NODES || s->nodes > s->cpus) {
		log_error("--numa: %u is not from 1 to %u, with a CPU for each node", s->nodes,
		          LAB_MAX_NODES);
		return -EINVAL;
	}
	if (s->memory && s->memory < 64ull << 20) {
		log_error("--memory: less than 64M is not enough for any kernel");
		return -EINVAL;
	}
	if (s->swap && s->swap < 1 << 20) {
		log_error("--swap: less than 1M");
		return -EINVAL;
	}
	if (!s->timeout) {
		log_error("--timeout: 0 leaves no time to boot");
		return -EINVAL;
	}
	return 0;
}

/* The rows that both commands have. */
#define MACHINE_ROWS(s)                                                                            \
	{ 'k',                                                                                     \
	  "kernel",                                                                                \
	  OPTION_CALL,                                                                             \
	  s,                                                                                       \
	  "NAME=IMAGE",                                                                            \
	  "a kernel to boot, a bzImage; run: may be given again, and two images as "               \
	  "COUNTING,TIMED",                                                                        \
	  .call = call_kernel },                                                                   \
		{ 0, "cpus", OPTION_U32, &(s)->cpus, "N", "virtual CPUs (4)" },                    \
		{ 0,           "memory",                                                           \
		  OPTION_SIZE, &(s)->memory,                                                       \
		  "SIZE",      "memory of a guest (2G, or what the trace needs)" },                \
		{ 0, "numa", OPTION_U32, &(s)->nodes, "N", "NUMA nodes (1)" },                     \
		{ 0,          "swap", OPTION_SIZE,                                                 \
		  &(s)->swap, "SIZE", "zram to swap to, where the kernel has it built in" },       \
		{ 0,                                                                               \
		  "append",                                                                        \
		  OPTION_STRING,                                                                   \
		  &(s)->append,                                                                    \
		  "WORDS",                                                                         \
		  "more words for the kernel's command line" },                                    \
		{ 0,           "file",                                                             \
		  OPTION_LIST, &(s)->files,                                                        \
		  "FILE",      "put a file into the guest's folder /files; may be given again" },  \
		{ 0,                                                                               \
		  "accel",                                                                         \
		  OPTION_CHOICE,                                                                   \
		  &(s)->accel,                                                                     \
		  "HOW",                                                                           \
		  "auto (default): kvm where it works, else tcg, which is emulation",              \
		  .choices = "auto,kvm,tcg" },                                                     \
		{ 0,                                                                               \
		  "cpu",                                                                           \
		  OPTION_STRING,                                                                   \
		  &(s)->cpu,                                                                       \
		  "MODEL",                                                                         \
		  "QEMU's CPU model (max,-hypervisor; with kvm host,-hypervisor)" },               \
		{ 0,          "qemu",    OPTION_STRING,                                            \
		  &(s)->qemu, "PROGRAM", "the emulator (qemu-system-x86_64)" },                    \
	{                                                                                          \
		0, "program", OPTION_STRING, &(s)->program, "FILE",                                \
			"the static mmtape that becomes /init"                                     \
	}

static void set_defaults(struct lab_setup *s)
{
	*s = (struct lab_setup){
		.output = ".",
		.boots = 5,
		.repeat = 1,
		.warmup = 1,
		.sources = "all",
		.cpus = 4,
		.nodes = 1,
		.timeout = 10 * 60 * 1000000000ull,
		.append = "",
		.qemu = "qemu-system-x86_64",
	};
}

static int _printf_(2, 3) add_word(struct lab_setup *s, const char *fmt, ...)
{
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&s->words[s->word_count], fmt, ap);
	va_end(ap);
	if (r < 0)
		return -ENOMEM;
	s->word_count++;
	return 0;
}

/* What the lab's own options say; the same options behind the trace come later and count. */
static int begin_words(struct lab_setup *s, const char *command, size_t more)
{
	int r;

	s->words = calloc(more + 5, sizeof(*s->words));
	if (!s->words)
		return -ENOMEM;
	r = add_word(s, "%s", command);
	if (r >= 0)
		r = add_word(s, "--repeat=%u", s->repeat);
	if (r >= 0)
		r = add_word(s, "--warmup=%u", s->warmup);
	return r < 0 ? r : add_word(s, "--sources=%s", s->sources);
}

/* Words for a parser, which moves them about. */
static char **copy_words(const struct lab_setup *s, size_t count, char **words)
{
	char **copy = calloc(s->word_count + count + 1, sizeof(*copy));

	if (!copy)
		return NULL;
	memcpy(copy, s->words, s->word_count * sizeof(*copy));
	memcpy(copy + s->word_count, words, count * sizeof(*copy));
	return copy;
}

static int check_pass(const struct pass_setup *pass)
{
	if (!pass->output && !pass->append && !pass->exclusive)
		return 0;
	log_error("%s behind the trace or command: the lab gives that itself, and writes a "
	          "result for each kernel (-o DIR in front)",
	          pass->exclusive ? "--exclusive"
	          : pass->output  ? "--output"
	                          : "--append");
	return -EINVAL;
}

/* TRACE [replay options]: parsed as the guest will. */
static int take_replay(struct lab_setup *s, size_t count, char **words)
{
	_cleanup_free_ char **copy = NULL;
	struct replay_setup replay;
	int r = begin_words(s, "replay", count);

	copy = r < 0 ? NULL : copy_words(s, count, words);
	if (!copy)
		return -ENOMEM;
	r = replay_options_parse_elsewhere(&replay, (int)(s->word_count + count), copy);
	if (!r) {
		s->trace = replay.trace;
		s->sources = replay.pass.sources;
		r = check_pass(&replay.pass);
	}
	pass_setup_clear(&replay.pass);
	for (size_t i = 0; i < count && !r; i++)
		if (words[i] != s->trace && strcmp(words[i], "--"))
			r = add_word(s, "%s", words[i]);
	return r;
}

/* [options of measure] -- COMMAND … */
static int take_measure(struct lab_setup *s, size_t count, char **words)
{
	_cleanup_free_ char **copy = NULL;
	struct pass_setup pass = { 0 };
	size_t operands = 0, options;
	int r = begin_words(s, "measure", count);

	copy = r < 0 ? NULL : copy_words(s, count, words);
	if (!copy)
		return -ENOMEM;
	r = measure_options_check(&pass, (int)(s->word_count + count), copy);
	if (r)
		goto out;
	while (copy[1 + operands])
		operands++;
	options = count - operands;
	s->command = words + options;
	s->sources = pass.sources;
	if (options && !strcmp(words[options - 1], "--"))
		options--;
	r = check_pass(&pass);
	for (size_t i = 0; i < options && !r; i++)
		r = add_word(s, "%s", words[i]);
out:
	pass_setup_clear(&pass);
	return r;
}

static int check_source(const char *name, size_t length)
{
	char text[64];

	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	if (length < sizeof(text) &&
	    (source_find(text) || !strcmp(text, "all") || !strcmp(text, "none")))
		return 0;
	log_error("--sources: no source '%s': lock_stat, contention, entries, profile, all or none",
	          text);
	return -EINVAL;
}

static int check_sources(const struct lab_setup *s)
{
	char counted[128];

	for (const char *at = s->sources; *at; at += strcspn(at, ","), at += *at == ',')
		if (check_source(at, strcspn(at, ",")) < 0)
			return -EINVAL;
	for (size_t i = 0; i < s->kernel_count; i++)
		if (s->kernels[i].images[1] &&
		    !lab_part_sources(s->sources, LAB_PART_COUNT, counted, sizeof(counted))) {
			log_error("--kernel %s: nothing to count on the first of two images: "
			          "--sources has neither lock_stat nor entries",
			          s->kernels[i].name);
			return -EINVAL;
		}
	return 0;
}

/* Options, and whether the machine that they ask for is one. */
static int parse(struct lab_setup *s, const struct option_spec *spec, int argc, char **argv,
                 int *operands)
{
	int r;

	set_defaults(s);
	r = options_parse(spec, argc, argv, operands);
	return r ? r : check_machine(s);
}

int lab_options_run(struct lab_setup *s, int argc, char **argv)
{
	bool dashed = false;
	const struct option options[] = {
		{ 'o', "output", OPTION_STRING, &s->output, "DIR",
		  "where NAME.json of each kernel goes, made if it is not there (.)" },
		{ 0, "boots", OPTION_U32, &s->boots, "N", "boots of each kernel (5)" },
		{ 0, "repeat", OPTION_U32, &s->repeat, "N",
		  "measured repetitions of each pass in a boot (1)" },
		{ 0, "warmup", OPTION_U32, &s->warmup, "N",
		  "repetitions before, not measured (1)" },
		{ 0, "sources", OPTION_STRING, &s->sources, "LIST",
		  "lock figures: lock_stat, contention, entries, profile, none, or all that work "
		  "there (default)" },
		{ 0, "resume", OPTION_FLAG, &s->resume, NULL,
		  "boot only those that the results in DIR do not have" },
		{ 'f', "force", OPTION_FLAG, &s->force, NULL, "replace results in DIR" },
		{ 0, "timeout", OPTION_TIME, &s->timeout, "TIME",
		  "end a guest that takes longer (10m)" },
		MACHINE_ROWS(s),
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape lab run --kernel NAME=IMAGE… [options] TRACE [replay options]\n"
		"mmtape lab run --kernel NAME=IMAGE… [options] -- COMMAND [arguments]\n"
		"mmtape lab run --kernel NAME=IMAGE… [options] measure [measure options] -- …",
		"Boots each kernel in QEMU, replays the trace there, or measures a static program, "
		"and writes a result for each kernel. Boots alternate between the kernels. Exits "
		"with 1 if a kernel gave no result, with 3 if boots are missing or incomplete.",
		options,
		true,
		&dashed,
	};
	int operands, r;

	r = parse(s, &spec, argc, argv, &operands);
	if (r)
		return r;
	if (!s->boots || s->boots > LAB_MAX_BOOTS) {
		log_error("--boots: %u is not from 1 to %u", s->boots, LAB_MAX_BOOTS);
		return -EINVAL;
	}
	if (!operands) {
		log_error("nothing to run in the guests: mmtape lab run [options] TRACE, or "
		          "-- COMMAND");
		return -EINVAL;
	}
	if (!dashed && !strcmp(argv[1], "measure"))
		r = take_measure(s, (size_t)operands - 1, argv + 2);
	else
		r = dashed ? take_measure(s, (size_t)operands, argv + 1)
		           : take_replay(s, (size_t)operands, argv + 1);
	return r ? r : check_sources(s);
}

static int add_files(struct lab_setup *s, int count, char **files)
{
	for (int i = 0; i < count; i++) {
		const char **items = realloc(s->files.items, (s->files.count + 1) * sizeof(*items));

		if (!items)
			return -ENOMEM;
		s->files.items = items;
		items[s->files.count] = strdup(files[i]);
		if (!items[s->files.count++])
			return -ENOMEM;
	}
	return 0;
}

int lab_options_shell(struct lab_setup *s, int argc, char **argv)
{
	const struct option options[] = { MACHINE_ROWS(s), { 0 } };
	const struct option_spec spec = {
		"mmtape lab shell --kernel NAME=IMAGE [options] [FILE…]",
		"Boots a kernel in QEMU with busybox, mmtape and the files, for a look around on "
		"its console. The guest goes when the shell is left; Ctrl-A X ends it at once.",
		options,
		false,
		NULL,
	};
	int operands, r;

	r = parse(s, &spec, argc, argv, &operands);
	if (r)
		return r;
	if (s->kernel_count > 1 || s->kernels[0].images[1]) {
		log_error("lab shell boots one kernel: one --kernel NAME=IMAGE");
		return -EINVAL;
	}
	return add_files(s, operands, argv + 1);
}
