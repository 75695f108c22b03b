/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source `lock_stat`: counters per lock class, kept by a kernel with
 * CONFIG_LOCK_STAT (Documentation/locking/lockstat.rst). They are one for the whole
 * machine. Counting is off but between start and stop, so that making the text,
 * which allocates memory, is not in it.
 */

#include <string.h>
#include <sys/utsname.h>

#include "capture/lock_stat.h"
#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/buffer.h"
#include "common/cleanup.h"
#include "common/log.h"

#define STATISTICS "/proc/lock_stat"
#define SWITCH "/proc/sys/kernel/lock_stat"
#define LOCKDEP "/proc/lockdep_stats"
/* Some 8,192 classes of at most 11 lines. */
#define TEXT_MAX (32u << 20)

struct lock_stat {
	struct settings_change *change;
	struct buffer text; /* as last read */
	uint16_t kernel;
};

/* false once lockdep has reported something: from then on the kernel counts nothing. */
static bool lockdep_counts(void)
{
	_cleanup_fclose_ FILE *f = sysfile_open(LOCKDEP);
	unsigned on = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, " debug_locks: %u", &on) == 1)
			break;
	return on;
}

static int lock_stat_check(const struct source_options *options, char *why, size_t size)
{
	int r = sysfile_may_write(STATISTICS);

	if (r == -ENOENT) {
		snprintf(why, size,
		         "this kernel has no lock_stat: boot one built with CONFIG_LOCK_STAT");
		return r;
	}
	if (r < 0) {
		snprintf(why, size, "%s: not permitted: run as root", STATISTICS);
		return -EPERM;
	}
	if (!options->exclusive) {
		snprintf(
			why, size,
			"lock_stat counts, and is reset, for the whole machine: use it in the lab, "
			"or allow it with --exclusive");
		return -EPERM;
	}
	if (!lockdep_counts()) {
		snprintf(
			why, size,
			"lockdep has switched itself off, see its report in the kernel's log: boot "
			"again");
		return -EIO;
	}
	return 0;
}

static void lock_stat_close(void *state)
{
	struct lock_stat *s = state;

	if (!s)
		return;
	settings_change_free(s->change);
	buffer_clear(&s->text);
	free(s);
}

/* The switch is journalled since open: whatever it is set to here is put back. */
static int put(const char *path, const char *value)
{
	int r = sysfile_write(path, value);

	if (r < 0)
		log_error("%s: cannot write '%s': %s", path, value, strerror(-r));
	return r;
}

/*
 * Before the start, not at it: opening the file takes memory, for copies of all counters,
 * which sources that started before would count.
 */
static int reset(void)
{
	return put(STATISTICS, "0");
}

static int lock_stat_open(void **state, const struct source_options *options)
{
	struct lock_stat *s = calloc(1, sizeof(*s));
	struct utsname u;
	int r;

	if (!s)
		return -ENOMEM;
	r = uname(&u) < 0 ? error_errno() : 0;
	if (r >= 0) {
		s->kernel = role_kernel(u.release);
		r = settings_change_new(&s->change);
	}
	if (r >= 0)
		r = settings_change_alone(s->change, SWITCH, "0");
	if (r >= 0)
		r = reset();
	if (r < 0) {
		lock_stat_close(s);
		return r;
	}
	*state = s;
	return 0;
}

static int lock_stat_start(void *state)
{
	return put(SWITCH, "1");
}

/* Not part of stop(): it takes memory, which sources that stop later would count. */
static int read_statistics(struct buffer *text)
{
	_cleanup_fclose_ FILE *f = sysfile_open(STATISTICS);
	size_t n;
	int r;

	text->len = 0;
	if (!f)
		return error_errno();
	do {
		r = buffer_reserve(text, 1u << 16);
		if (r < 0)
			return r;
		n = fread(text->data + text->len, 1, text->cap - text->len - 1, f);
		text->len += n;
	} while (n && text->len < TEXT_MAX);
	if (ferror(f))
		return error_errno();
	text->data[text->len] = '\0';
	return text->len < TEXT_MAX ? 0 : -EFBIG;
}

static int lock_stat_stop(void *state)
{
	return put(SWITCH, "0");
}

static int lock_stat_read(void *state, struct lock_figures *out)
{
	struct lock_stat *s = state;
	unsigned line = 0;
	int r = read_statistics(&s->text);

	if (r < 0) {
		log_error("%s: cannot read it: %s", STATISTICS, strerror(-r));
		return r;
	}
	if (!s->text.len) {
		log_error("%s: nothing was read", STATISTICS);
		return -ENODATA;
	}
	r = lock_stat_parse((char *)s->text.data, s->kernel, out, &line);
	if (r == -ENOMEM)
		log_error("lock_stat: out of memory");
	else if (r == -EPROTO)
		log_error("%s: not of version 0.4, which is what mmtape reads", STATISTICS);
	else if (r < 0)
		log_error("%s:%u: not understood", STATISTICS, line);
	if (r >= 0)
		r = reset();
	if (r < 0 || lockdep_counts())
		return r;
	out->dropped++;
	snprintf(out->note, sizeof(out->note),
	         "lockdep reported something and counting stopped: see the kernel's log");
	return 0;
}

const struct source source_lock_stat = {
	.name = "lock_stat",
	.gives = "acquisitions, contentions, wait and hold times by lock class",
	.check = lock_stat_check,
	.open = lock_stat_open,
	.start = lock_stat_start,
	.stop = lock_stat_stop,
	.read = lock_stat_read,
	.close = lock_stat_close,
};
