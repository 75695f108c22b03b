/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opens and checks images, programs and the trace. */

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/siphash.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_files.h"
#include "replay/lab_image.h"
#include "replay/measure_options.h"
#include "replay/replay_options.h"
#include "traces/reader.h"

/* As replay has it: beside its pages a task takes a stack slot, and a kernel's stack. */
#define TASK_BYTES (64u << 10)

typedef int check_bytes(const void *bytes, size_t size, char *why, size_t why_size);

/* A regular file whose first bytes are looked at; not a word is said. */
static int open_checked(const char *path, check_bytes *check, char *why, size_t why_size)
{
	_cleanup_free_ char *bytes = malloc(LAB_IMAGE_LOOK);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	ssize_t n;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0 || !bytes) {
		r = error_errno();
		snprintf(why, why_size, "%s", strerror(-r));
		return r;
	}
	if (!S_ISREG(st.st_mode)) {
		snprintf(why, why_size, "not a regular file");
		return -EBADMSG;
	}
	n = pread(fd, bytes, LAB_IMAGE_LOOK, 0);
	if (n < 0) {
		r = error_errno();
		snprintf(why, why_size, "%s", strerror(-r));
		return r;
	}
	r = check(bytes, (size_t)n, why, why_size);
	return r < 0 ? r : take_fd(&fd);
}

int lab_open_image(const char *path)
{
	char why[160];
	int fd = open_checked(path, lab_image_check, why, sizeof(why));

	if (fd < 0)
		log_error("%s: cannot be booted: %s", path, why);
	return fd;
}

int lab_open_program(const char *path, const char *option)
{
	char why[160];
	int fd = open_checked(path, lab_program_check, why, sizeof(why));

	if (fd < 0)
		log_error("%s%s%s: cannot run in a guest: %s", option ? option : "",
		          option ? ": " : "", path, why);
	return fd;
}

int lab_open_mmtape(const struct lab_setup *s)
{
	char self[PATH_MAX], beside[PATH_MAX + 16], why[160];
	ssize_t n;
	int fd;

	if (s->program)
		return lab_open_program(s->program, "--program");
	fd = open_checked("/proc/self/exe", lab_program_check, why, sizeof(why));
	if (fd >= 0)
		return fd;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n > 0) {
		self[n] = '\0';
		snprintf(beside, sizeof(beside), "%s/mmtape-static", dirname(self));
		fd = open_checked(beside, lab_program_check, why, sizeof(why));
	}
	if (fd < 0)
		log_error("a guest needs a static mmtape, and there is no mmtape-static beside "
		          "this program: name one with --program (meson setup build-static "
		          "-Dstatic=true makes it)");
	return fd;
}

int lab_fingerprint(const char *path, uint64_t *out)
{
	static const struct siphash_key key = { 0x6d6d74617065206cULL, 0x616220696d616765ULL };
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	uint64_t word = 0;
	size_t n = 1;
	int r;

	*out = 0;
	errno = 0;
	while (f && n) {
		word = 0;
		n = fread(&word, 1, sizeof(word), f);
		*out = siphash_pair(&key, *out, n == sizeof(word) ? word : word ^ n << 56);
		if (n < sizeof(word))
			break;
	}
	if (f && !ferror(f))
		return 0;
	r = error_errno();
	log_error("%s: %s", path, strerror(-r));
	return r;
}

static int check_arch(const struct lab_setup *s, const struct trace_meta *meta)
{
	const char *arch = trace_meta_get(meta, META_ARCH);

	if (!arch || !strcmp(arch, "x86_64"))
		return 0;
	log_error("%s: recorded on %s: the lab's guests are x86_64", s->trace, arch);
	return -EINVAL;
}

/* The options were checked before; here they say what the plan is like. */
static int parse_again(const struct lab_setup *s, struct replay_setup *replay)
{
	_cleanup_free_ char **words = calloc(s->word_count + 2, sizeof(*words));
	int r;

	if (!words)
		return -ENOMEM;
	memcpy(words, s->words, s->word_count * sizeof(*words));
	words[s->word_count] = (char *)s->trace;
	r = replay_options_parse_elsewhere(replay, (int)s->word_count + 1, words);
	return r > 0 ? -EINVAL : r;
}

static uint64_t bytes_needed(const struct plan_header *h, uint32_t copies)
{
	uint64_t need;

	if (__builtin_add_overflow(h->counts.peak_bytes, (uint64_t)h->task_count * TASK_BYTES,
	                           &need) ||
	    __builtin_mul_overflow(need, (uint64_t)copies, &need))
		need = UINT64_MAX;
	return need;
}

int lab_check_trace(struct lab_setup *s)
{
	struct replay_setup replay;
	struct trace_reader *reader = NULL;
	struct plan plan = { .fd = -1 };
	int r = parse_again(s, &replay);

	if (r >= 0)
		r = trace_reader_new(&reader, s->trace,
		                     replay.compile.incomplete ? TRACE_TOLERATE_DAMAGE : 0);
	if (r >= 0)
		r = check_arch(s, trace_reader_meta(reader));
	if (r >= 0) {
		replay_compile_defaults(&replay.compile, trace_reader_meta(reader));
		r = plan_compile(&plan, reader, &replay.compile);
	}
	if (r >= 0)
		s->need = bytes_needed(plan.header, replay.execute.copies);
	if (plan.header)
		plan_release(&plan);
	trace_reader_free(reader);
	pass_setup_clear(&replay.pass);
	return r;
}
