/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options of `lab run` and `lab shell`, and what must be right before anything boots. */

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_image.h"
#include "replay/lab_options.h"
#include "replay/memory.h"
#include "traces/reader.h"

#define MAX_CPUS 64
#define MAX_NODES 8
#define LEAST_MEMORY (128ull << 20)
#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

int lab_parse_kernel(const char *text, struct lab_kernel *out)
{
	const char *is = strchr(text, '=');
	const char *comma;

	*out = (struct lab_kernel){ 0 };
	if (!is || is == text || (size_t)(is - text) >= sizeof(out->name) || !is[1] ||
	    *text == '.' || *text == '-')
		return -EINVAL;
	memcpy(out->name, text, (size_t)(is - text));
	if (strspn(out->name, NAME_LETTERS) != strlen(out->name))
		return -EINVAL;
	comma = strchr(is + 1, ',');
	if (comma && (comma == is + 1 || !comma[1] || strchr(comma + 1, ',')))
		return -EINVAL;
	out->image = comma ? strndup(is + 1, (size_t)(comma - is - 1)) : strdup(is + 1);
	out->timed = comma ? strdup(comma + 1) : NULL;
	return out->image && (!comma || out->timed) ? 0 : -ENOMEM;
}

/* The head of a file, for lab_image_check() or lab_program_check(). */
static int check_file(const char *path,
                      int (*check)(const void *bytes, size_t size, char *why, size_t why_size))
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *head = malloc(LAB_IMAGE_LOOK);
	char why[160];
	ssize_t n;
	int r;

	if (!head)
		return -ENOMEM;
	n = fd < 0 ? -1 : read(fd, head, LAB_IMAGE_LOOK);
	if (n < 0) {
		r = error_errno();
		log_error("%s: %s", path, strerror(-r));
		return r;
	}
	r = check(head, (size_t)n, why, sizeof(why));
	if (r < 0)
		log_error("%s: %s", path, why);
	return r;
}

static int add_kernel(struct lab_setup *s, const char *text)
{
	struct lab_kernel *k = &s->kernels[s->kernel_count];
	int r = s->kernel_count == LAB_MAX_KERNELS ? -E2BIG : lab_parse_kernel(text, k);

	if (r < 0) {
		log_error("--kernel: '%s' is not NAME=IMAGE or NAME=COUNTING,TIMING", text);
		return r;
	}
	s->kernel_count++;
	for (size_t i = 0; i + 1 < s->kernel_count; i++)
		if (!strcmp(s->kernels[i].name, k->name)) {
			log_error("--kernel: the name '%s' is given twice", k->name);
			return -EINVAL;
		}
	r = check_file(k->image, lab_image_check);
	return r >= 0 && k->timed ? check_file(k->timed, lab_image_check) : r;
}

/* A comma parts images here, so the list type of options is not used. */
static int call_kernel(void *target, const char *value)
{
	return add_kernel(target, value);
}

static int check_machine(struct lab_setup *s)
{
	struct lab_machine *m = &s->machine;
	uint64_t available = memory_available();

	if (!m->cpus || m->cpus > MAX_CPUS) {
		log_error("--cpus: %u is not from 1 to %d", m->cpus, MAX_CPUS);
		return -EINVAL;
	}
	if (!m->nodes || m->nodes > MAX_NODES || m->nodes > m->cpus) {
		log_error("--numa: %u nodes: from 1 to %d, and a cpu for each", m->nodes,
		          MAX_NODES);
		return -EINVAL;
	}
	if (m->memory < LEAST_MEMORY) {
		log_error("--memory: a guest needs at least 128M");
		return -EINVAL;
	}
	if (m->memory > available) {
		log_error("--memory: a guest of %.1f GiB, and this host has %.1f GiB available",
		          (double)m->memory / (1 << 30), (double)available / (1 << 30));
		return -ENOMEM;
	}
	m->kvm = s->accel == 1 || (s->accel == 0 && lab_qemu_has_kvm());
	s->qemu = lab_qemu_find();
	m->qemu = s->qemu;
	return s->qemu ? 0 : -ENOENT;
}

static bool is_static(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_free_ char *head = malloc(LAB_IMAGE_LOOK);
	char why[160];
	ssize_t n = fd < 0 || !head ? -1 : read(fd, head, LAB_IMAGE_LOOK);

	return n >= 0 && !lab_program_check(head, (size_t)n, why, sizeof(why));
}

/* This program if it is static, else mmtape-static beside it. */
static int find_program(struct lab_setup *s)
{
	char self[4096];
	ssize_t n;

	if (s->given_program) {
		s->program = strdup(s->given_program);
		return s->program ? check_file(s->program, lab_program_check) : -ENOMEM;
	}
	n = readlink("/proc/self/exe", self, sizeof(self) - sizeof("-static"));
	if (n < 0)
		return error_errno();
	self[n] = 0;
	if (!is_static(self))
		strcat(self, "-static");
	if (!is_static(self)) {
		log_error(
			"no %s: guests need mmtape as a static program (build with -Dstatic=true, "
			"name it with --program)",
			self);
		return -ENOENT;
	}
	s->program = strdup(self);
	return s->program ? 0 : -ENOMEM;
}

static bool is_word(const char *word, const char *option)
{
	size_t len = strlen(option);

	return !strncmp(word, option, len) && (!word[len] || word[len] == '=');
}

/* As the guest's replay will read them, so that what is wrong is said before a boot. */
static int check_words(struct lab_setup *s)
{
	char *args[256] = { (char *)"replay" };
	int count = 1, r;

	for (char **w = s->words; *w; w++) {
		if (count == 250) {
			log_error("too many options behind the trace");
			return -E2BIG;
		}
		s->has_sources |= is_word(*w, "--sources");
		args[count++] = *w;
	}
	args[count++] = (char *)s->trace;
	r = replay_options_parse(&s->replay, count, args);
	if (r)
		return r == OPTIONS_HELP ? r : -EINVAL;
	if (s->replay.pass.output || s->replay.pass.append) {
		log_error("-o or --append behind the trace: the lab names the results, -o DIR "
		          "stands before it");
		return -EINVAL;
	}
	return 0;
}

/* Every guest is an x86-64 machine. */
static int check_trace(const struct lab_setup *s)
{
	struct trace_reader *reader;
	const char *arch;
	int r = trace_reader_new(&reader, s->trace,
	                         s->replay.compile.incomplete ? TRACE_TOLERATE_DAMAGE : 0);

	if (r < 0)
		return r;
	arch = trace_meta_get(trace_reader_meta(reader), META_ARCH);
	if (arch && strcmp(arch, "x86_64")) {
		log_error("%s: recorded on %s, and the lab's guests are x86_64", s->trace, arch);
		r = -EINVAL;
	}
	trace_reader_free(reader);
	return r;
}

static int check_run(struct lab_setup *s, int operands, char **argv, bool is_command)
{
	int r;

	if (!s->kernel_count || !operands || !s->output || !s->boots || !s->repeat) {
		log_error("%s", !s->kernel_count ? "lab run needs a kernel: --kernel NAME=IMAGE"
		                : !s->output     ? "lab run needs -o DIR, a folder for the results"
		                : !operands      ? "lab run needs a trace, or -- and a command"
		                                 : "--boots and --repeat go from 1");
		return -EINVAL;
	}
	s->trace = is_command ? NULL : argv[1];
	s->words = argv + (is_command ? 1 : 2);
	r = is_command ? check_file(argv[1], lab_program_check) : check_words(s);
	if (!r && s->trace)
		r = check_trace(s);
	if (!r)
		r = find_program(s);
	return r;
}

static int parse_run(struct lab_setup *s, int argc, char **argv)
{
	const struct option options[] = {
		{ 0, "kernel", OPTION_CALL, s, "NAME=IMAGE",
		  "a kernel to boot; NAME=COUNTING,TIMING: one image for lock counts, one for "
		  "times; "
		  "may be given again",
		  .call = call_kernel },
		{ 'o', "output", OPTION_STRING, &s->output, "DIR",
		  "folder of the results, NAME.json for each kernel" },
		{ 'f', "force", OPTION_FLAG, &s->force, NULL, "replace results that are there" },
		{ 0, "resume", OPTION_FLAG, &s->resume, NULL, "add the boots that are missing" },
		{ 0, "boots", OPTION_U32, &s->boots, "N", "of each kernel, in turn (5)" },
		{ 0, "repeat", OPTION_U32, &s->repeat, "N",
		  "repetitions of a pass in each boot (1)" },
		{ 0, "warmup", OPTION_U32, &s->warmup, "N",
		  "repetitions before, not measured (1)" },
		{ 0, "sources", OPTION_STRING, &s->sources, "LIST",
		  "lock figures: as for replay; by default all that work in the guest" },
		{ 0, "cpus", OPTION_U32, &s->machine.cpus, "N", "of the guest (4)" },
		{ 0, "memory", OPTION_SIZE, &s->machine.memory, "SIZE", "of the guest (2G)" },
		{ 0, "numa", OPTION_U32, &s->machine.nodes, "N", "nodes of the guest (1)" },
		{ 0, "swap", OPTION_SIZE, &s->swap, "SIZE", "compressed memory as swap (zram)" },
		{ 0, "timeout", OPTION_TIME, &s->machine.timeout, "TIME", "for each boot (10m)" },
		{ 0, "accel", OPTION_CHOICE, &s->accel, "HOW",
		  "auto (default): KVM, unless it is missing or this is a guest itself; kvm; tcg: "
		  "emulation",
		  .choices = "auto,kvm,tcg" },
		{ 0, "append", OPTION_STRING, &s->machine.append, "TEXT",
		  "more for the kernel's command line" },
		{ 0, "program", OPTION_STRING, &s->given_program, "FILE",
		  "the static mmtape to run in the guest" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape lab run --kernel NAME=IMAGE… -o DIR [options] (TRACE [replay options] | -- "
		"CMD…)",
		"Boots kernels in QEMU and replays a trace, or measures a static program, on each. "
		"Exits "
		"with 3 when boots failed or were incomplete, with 1 when no result came.",
		options,
		true,
	};
	const char *behind = NULL;
	int operands, r;

	for (int i = 1; i < argc && !behind; i++)
		if (!strcmp(argv[i], "--"))
			behind = argv[i + 1];
	r = options_parse(&spec, argc, argv, &operands);
	if (!r)
		r = check_run(s, operands, argv, operands && argv[1] == behind);
	return r ? r : check_machine(s);
}

static int parse_shell(struct lab_setup *s, int argc, char **argv)
{
	const struct option options[] = {
		{ 0, "kernel", OPTION_CALL, s, "NAME=IMAGE", "the kernel to boot",
		  .call = call_kernel },
		{ 0, "cpus", OPTION_U32, &s->machine.cpus, "N", "of the guest (4)" },
		{ 0, "memory", OPTION_SIZE, &s->machine.memory, "SIZE", "of the guest (2G)" },
		{ 0, "numa", OPTION_U32, &s->machine.nodes, "N", "nodes of the guest (1)" },
		{ 0, "accel", OPTION_CHOICE, &s->accel, "HOW",
		  "auto (default): KVM, unless it is missing or this is a guest itself; kvm; tcg: "
		  "emulation",
		  .choices = "auto,kvm,tcg" },
		{ 0, "append", OPTION_STRING, &s->machine.append, "TEXT",
		  "more for the kernel's command line" },
		{ 0, "program", OPTION_STRING, &s->given_program, "FILE",
		  "the static mmtape to put in the guest" },
		{ 0 },
	};
	const struct option_spec spec = {
		"mmtape lab shell --kernel NAME=IMAGE [options] [FILE…]",
		"Boots a kernel with a shell on this terminal; mmtape and the files are in /.",
		options,
		false,
	};
	int operands, r = options_parse(&spec, argc, argv, &operands);

	if (r)
		return r;
	if (s->kernel_count != 1) {
		log_error("lab shell needs one kernel: --kernel NAME=IMAGE");
		return -EINVAL;
	}
	s->words = argv + 1;
	r = find_program(s);
	return r < 0 ? r : check_machine(s);
}

int lab_options_parse(struct lab_setup *s, int argc, char **argv)
{
	*s = (struct lab_setup){
		.machine = { .cpus = 4,
		             .nodes = 1,
		             .memory = 2ull << 30,
		             .timeout = 600000000000ull },
		.sources = "all",
		.boots = 5,
		.repeat = 1,
		.warmup = 1,
	};
	return !strcmp(argv[0], "run") ? parse_run(s, argc, argv) : parse_shell(s, argc, argv);
}

void lab_options_clear(struct lab_setup *s)
{
	for (size_t i = 0; i < s->kernel_count; i++) {
		free(s->kernels[i].image);
		free(s->kernels[i].timed);
	}
	free(s->qemu);
	free(s->program);
	pass_setup_clear(&s->replay.pass);
}
