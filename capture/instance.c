/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Life of a tracefs instance. */

#include <event-parse.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>
#include <unistd.h>

#include "capture/instance.h"
#include "capture/journal.h"
#include "common/cleanup.h"
#include "common/log.h"

struct instance {
	struct tracefs_instance *tracefs;
	char name[48];
	unsigned cpus;
	size_t page_bytes;
};

static bool any_left;

bool instance_any_left(void)
{
	return any_left;
}

void instance_note_left(void)
{
	any_left = true;
}

static size_t page_bytes_read(void)
{
	_cleanup_free_ char *text = NULL;
	struct tep_handle *tep;
	size_t bytes = 0;
	int size;

	text = tracefs_instance_file_read(NULL, "events/header_page", &size);
	tep = tep_alloc();
	if (tep && text && !tep_parse_header_page(tep, text, (unsigned long)size, sizeof(long)))
		bytes = (size_t)tep_get_sub_buffer_size(tep);
	if (tep)
		tep_free(tep);
	return bytes;
}

static unsigned cpus_count(struct instance *in)
{
	unsigned cpus = 0;

	for (;;) {
		char dir[32];

		snprintf(dir, sizeof(dir), "per_cpu/cpu%u", cpus);
		if (!tracefs_dir_exists(in->tracefs, dir))
			return cpus;
		cpus++;
	}
}

int instance_write(struct instance *in, const char *file, const char *text)
{
	int r;

	if (tracefs_instance_file_write(in->tracefs, file, text) >= 0)
		return 0;
	r = error_errno();
	log_error("tracefs instances/%s/%s: writing '%s': %s", in->name, file, text, strerror(-r));
	return r;
}

int instance_open_append(struct instance *in, const char *file)
{
	int fd = tracefs_instance_file_open(in->tracefs, file, O_WRONLY | O_APPEND | O_CLOEXEC);
	int r = fd < 0 ? error_errno() : fd;

	if (r < 0)
		log_error("tracefs instances/%s/%s: %s", in->name, file, strerror(-r));
	return r;
}

char *instance_read(struct instance *in, const char *file)
{
	return tracefs_instance_file_read(in->tracefs, file, NULL);
}

int instance_event_set(struct instance *in, const char *system, const char *event, bool on)
{
	char file[128];

	snprintf(file, sizeof(file), "events/%s/%s/enable", system, event);
	return instance_write(in, file, on ? "1" : "0");
}

int instance_on(struct instance *in, bool on)
{
	return instance_write(in, "tracing_on", on ? "1" : "0");
}

int instance_follow_task(struct instance *in, uint32_t task)
{
	char text[16];
	int r = instance_write(in, "options/event-fork", "1");

	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%u", task);
	return instance_write(in, "set_event_pid", text);
}

static int configure(struct instance *in, uint64_t buffer_bytes)
{
	char text[32];
	int r;

	r = instance_on(in, false);
	if (r >= 0)
		r = instance_write(in, "trace_clock", "mono");
	/* A full buffer drops its oldest pages: then the pages say where events are missing. */
	if (r >= 0)
		r = instance_write(in, "options/overwrite", "1");
	if (r < 0)
		return r;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)(buffer_bytes + 1023) / 1024);
	r = instance_write(in, "buffer_size_kb", text);
	if (r < 0)
		return r;
	/* Since 6.1 poll() and waits go by this level: 0 so that any data counts. */
	if (tracefs_file_exists(in->tracefs, "buffer_percent"))
		return instance_write(in, "buffer_percent", "0");
	return 0;
}

static int create(struct instance *in, struct journal *journal)
{
	int r;

	for (unsigned n = 0; n < 1000; n++) {
		snprintf(in->name, sizeof(in->name), "mmtape-%d-%u", getpid(), n);
		/* Somebody's with our number is left alone, and must not come into our journal. */
		if (tracefs_instance_exists(in->name))
			continue;
		r = journal_add_instance(journal, in->name);
		if (r < 0)
			return r;
		in->tracefs = tracefs_instance_create(in->name);
		if (in->tracefs)
			return 0;
		r = error_errno();
		log_error("tracefs instances/%s: %s", in->name, strerror(-r));
		return r;
	}
	log_error("tracefs instances/%s: too many of this name", in->name);
	return -EEXIST;
}

int instance_new(struct instance **out, struct journal *journal, uint64_t buffer_bytes)
{
	struct instance *in = calloc(1, sizeof(*in));
	int r;

	if (!in)
		return -ENOMEM;
	in->page_bytes = page_bytes_read();
	if (!in->page_bytes) {
		log_error("tracefs events/header_page is not understood");
		free(in);
		return -EINVAL;
	}
	r = create(in, journal);
	if (r < 0) {
		free(in);
		return r;
	}
	in->cpus = cpus_count(in);
	r = configure(in, buffer_bytes);
	if (r < 0) {
		instance_free(in);
		return r;
	}
	*out = in;
	return 0;
}

struct instance *instance_free(struct instance *in)
{
	if (!in)
		return NULL;
	if (tracefs_instance_destroy(in->tracefs) < 0) {
		log_warn("tracefs instances/%s could not be removed (%s): the next start tries "
		         "again",
		         in->name, strerror(errno));
		any_left = true;
	}
	tracefs_instance_free(in->tracefs);
	free(in);
	return NULL;
}

const char *instance_name(const struct instance *in)
{
	return in->name;
}

unsigned instance_cpus(const struct instance *in)
{
	return in->cpus;
}

size_t instance_page_bytes(const struct instance *in)
{
	return in->page_bytes;
}

int instance_open_raw(struct instance *in, unsigned cpu)
{
	char file[64];
	int fd;

	snprintf(file, sizeof(file), "per_cpu/cpu%u/trace_pipe_raw", cpu);
	fd = tracefs_instance_file_open(in->tracefs, file, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? error_errno() : fd;
}

int instance_open_marker(struct instance *in)
{
	int fd = tracefs_instance_file_open(in->tracefs, "trace_marker", O_WRONLY | O_CLOEXEC);

	return fd < 0 ? error_errno() : fd;
}

int instance_overrun(struct instance *in, unsigned cpu, uint64_t *out)
{
	static const char *const keys[] = { "\noverrun: ", "\ncommit overrun: ",
		                            "\ndropped events: " };
	_cleanup_free_ char *text = NULL;
	char file[64];

	snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
	text = tracefs_instance_file_read(in->tracefs, file, NULL);
	if (!text)
		return error_errno();
	*out = 0;
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *at = strstr(text, keys[i]);

		if (at)
			*out += strtoull(at + strlen(keys[i]), NULL, 10);
	}
	return 0;
}
