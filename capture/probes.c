/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobe_events and kprobe_profile of tracefs. A line is
 *
 *   p:GROUP/EVENT FUNCTION ARGUMENTS         (kprobe_events)
 *     EVENT    HITS    MISSED                (kprobe_profile)
 *
 * Opening kprobe_events with O_TRUNC would remove everybody's probes: it is
 * always appended to. The profile has no groups, so the names of our events carry
 * what is particular of ours.
 */

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/instance.h"
#include "capture/journal.h"
#include "capture/probes.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

#define LINE_BYTES 1024

/* MAX_EVENT_NAME_LEN without the terminator. */
#define EVENT_MAX 63

struct probes {
	char group[64];
	unsigned number;
};

static const char *const tracing_dirs[] = {
	"/sys/kernel/tracing",
	"/sys/kernel/debug/tracing",
};

/* The path of a file of tracefs where it is there, else NULL. */
static const char *find_file(const char *file, char *path, size_t size)
{
	char full[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(tracing_dirs); i++) {
		snprintf(path, size, "%s/%s", tracing_dirs[i], file);
		if (sysfile_path(full, sizeof(full), path) == 0 && access(full, F_OK) == 0)
			return path;
	}
	return NULL;
}

static bool confidential(void)
{
	char text[SYSFILE_MAX];

	return sysfile_read_choice("/sys/kernel/security/lockdown", text, sizeof(text)) == 0 &&
	       !strcmp(text, "confidentiality");
}

int probes_explain(char *why, size_t size)
{
	char path[64];

	if (confidential()) {
		snprintf(why, size,
		         "kernel lockdown is at confidentiality, which forbids kprobes: boot with "
		         "lockdown=integrity or without lockdown");
		return -EPERM;
	}
	if (!find_file("kprobe_events", path, sizeof(path))) {
		snprintf(why, size,
		         "this kernel has no kprobe events: it needs CONFIG_KPROBE_EVENTS");
		return -ENOENT;
	}
	if (sysfile_may_write(path) < 0) {
		snprintf(why, size, "%s: may not be written: run as root", path);
		return -EPERM;
	}
	return 0;
}

static int append_line(const char *text)
{
	_cleanup_close_ int fd = -1;
	char path[64], full[PATH_MAX];
	int r;

	if (!find_file("kprobe_events", path, sizeof(path)))
		return -ENOENT;
	r = sysfile_path(full, sizeof(full), path);
	if (r < 0)
		return r;
	fd = open(full, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return error_errno();
	return 0;
}

/* The next event of the group, in *event; 0: no more. */
static int next_event(FILE *f, const char *group, char *event, size_t size)
{
	char line[LINE_BYTES];

	while (fgets(line, sizeof(line), f)) {
		char *name = strchr(line, ':'), *slash = name ? strchr(name, '/') : NULL;

		if (!slash || !strchr("pr", line[0]))
			continue;
		*slash = '\0';
		slash[1 + strcspn(slash + 1, " \t\n")] = '\0';
		if (strcmp(name + 1, group))
			continue;
		snprintf(event, size, "%s", slash + 1);
		return 1;
	}
	return 0;
}

static int group_has_event(const char *group, char *event, size_t size)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64];

	if (!find_file("kprobe_events", path, sizeof(path)))
		return 0;
	f = sysfile_open(path);
	return f ? next_event(f, group, event, size) : error_errno();
}

int probes_remove_group(const char *group)
{
	char event[LINE_BYTES], last[LINE_BYTES] = "", text[LINE_BYTES * 2];
	int r, removed = 0;

	/* Read anew each time: what is listed changes with every removal. */
	while ((r = group_has_event(group, event, sizeof(event))) > 0) {
		if (!strcmp(event, last))
			return -EBUSY;
		snprintf(last, sizeof(last), "%s", event);
		snprintf(text, sizeof(text), "-:%s/%s\n", group, event);
		r = append_line(text);
		if (r < 0)
			return r;
		removed = 1;
	}
	return r < 0 ? r : removed;
}

int probes_new(struct probes **out, struct journal *journal)
{
	static unsigned numbers;
	struct probes *p = calloc(1, sizeof(*p));
	char event[LINE_BYTES];
	int r;

	if (!p)
		return -ENOMEM;
	/* Somebody's with our number is left alone, and must not come into our journal. */
	do {
		p->number = numbers++;
		snprintf(p->group, sizeof(p->group), "mmtape_%d_%u", (int)getpid(), p->number);
		r = group_has_event(p->group, event, sizeof(event));
	} while (r > 0);
	if (r < 0)
		log_error("tracefs kprobe_events: %s", strerror(-r));
	else
		r = journal_add_probes(journal, p->group);
	if (r < 0) {
		free(p);
		return r;
	}
	*out = p;
	return 0;
}

struct probes *probes_free(struct probes *p)
{
	int r;

	if (!p)
		return NULL;
	r = probes_remove_group(p->group);
	if (r < 0) {
		log_warn("probes %s could not be removed (%s): the next start tries again",
		         p->group, strerror(-r));
		instance_note_left();
	}
	free(p);
	return NULL;
}

const char *probes_group(const struct probes *p)
{
	return p->group;
}

void probes_event_name(const struct probes *p, const char *function, char *out, size_t size)
{
	char tail[32];
	int n = snprintf(tail, sizeof(tail), "_%d_%u", (int)getpid(), p->number);

	snprintf(out, size, "%.*s%s", EVENT_MAX - n, function, tail);
}

int probes_add(struct probes *p, const char *function, const char *args)
{
	char text[LINE_BYTES], event[EVENT_MAX + 1];
	int r, n;

	probes_event_name(p, function, event, sizeof(event));
	n = snprintf(text, sizeof(text), "p:%s/%s %s %s\n", p->group, event, function, args);
	if (n < 0 || (size_t)n >= sizeof(text))
		return -ENAMETOOLONG;
	r = append_line(text);
	/* No such name, several of it, or one where probes are forbidden. */
	if (r == -ENOENT || r == -EINVAL || r == -EADDRNOTAVAIL || r == -EILSEQ)
		return 1;
	if (r < 0)
		log_error("tracefs kprobe_events: writing 'p:%s/%s': %s", p->group, function,
		          strerror(-r));
	return r;
}

int probes_count(const struct probes *p, const char *function, struct probe_counts *out)
{
	_cleanup_fclose_ FILE *f = NULL;
	char path[64], line[LINE_BYTES], event[EVENT_MAX + 1];

	probes_event_name(p, function, event, sizeof(event));
	if (!find_file("kprobe_profile", path, sizeof(path)))
		return -ENOENT;
	f = sysfile_open(path);
	if (!f)
		return error_errno();
	while (fgets(line, sizeof(line), f)) {
		unsigned long long hits, missed;
		char name[EVENT_MAX + 1];

		if (sscanf(line, "%63s %llu %llu", name, &hits, &missed) != 3 ||
		    strcmp(name, event))
			continue;
		*out = (struct probe_counts){ hits, missed };
		return 0;
	}
	return -ENOENT;
}
