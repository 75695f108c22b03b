/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of tracepoints, and what this kernel's format files say about them.
 * Field names are the argument names of traces/kinds.c, which are those of the
 * format files. Plugins of libtraceevent are never loaded.
 */

#include <event-parse.h>
#include <stdlib.h>
#include <string.h>
#include <tracefs.h>

#include "capture/points_table.h"
#include "common/cleanup.h"
#include "common/log.h"

enum point_need {
	NEED_OPTIONAL,
	NEED_ALWAYS,
};

struct point_row {
	const char *system, *name;
	uint16_t kind;
	enum point_need need;
	const char *text; /* the field with a name or path, NULL: none */
};

static const struct point_row point_rows[] = {
	{ "exceptions", "page_fault_user", EVENT_FAULT_USER, NEED_ALWAYS, NULL },
	{ "exceptions", "page_fault_kernel", EVENT_FAULT_KERNEL, NEED_ALWAYS, NULL },
	{ "task", "task_newtask", EVENT_NEWTASK, NEED_ALWAYS, "comm" },
	{ "sched", "sched_prepare_exec", EVENT_PREPARE_EXEC, NEED_OPTIONAL, NULL },
	{ "sched", "sched_process_exec", EVENT_EXEC, NEED_ALWAYS, "filename" },
	{ "sched", "sched_process_exit", EVENT_EXIT, NEED_ALWAYS, NULL },
};

/* Calls without which a recording would be worth nothing; the others may be missing. */
static const enum call needed_calls[] = { CALL_MMAP,    CALL_MUNMAP, CALL_MREMAP,
	                                  CALL_MADVISE, CALL_BRK,    CALL_MPROTECT };

/* Arguments that the format file has under another name, or not at all (NULL). */
static const struct {
	uint16_t kind;
	const char *argument, *field;
} field_aliases[] = {
	{ EVENT_ENTER(CALL_SETRLIMIT), "soft", "rlim" },
	{ EVENT_ENTER(CALL_SETRLIMIT), "hard", NULL },
	{ EVENT_ENTER(CALL_PRLIMIT64), "soft", "new_rlim" },
	{ EVENT_ENTER(CALL_PRLIMIT64), "hard", NULL },
};

static struct tep_handle *tep_new(void)
{
	struct tep_handle *tep = tep_alloc();

	if (tep)
		tep_set_long_size(tep, sizeof(long));
	tep_set_loglevel(TEP_LOG_NONE);
	return tep;
}

int points_new_empty(struct points **out)
{
	struct points *p = calloc(1, sizeof(*p));

	if (!p)
		return -ENOMEM;
	p->tep = tep_new();
	if (!p->tep) {
		free(p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

struct points *points_free(struct points *p)
{
	if (!p)
		return NULL;
	if (p->tep)
		tep_free(p->tep);
	free(p->rows);
	free(p->by_id);
	free(p);
	return NULL;
}

/*
 * System calls have all arguments in 8-byte slots whose upper halves are
 * whatever the register held: an argument of a 32-bit type is 4 bytes.
 */
static bool is_32_bit_type(const char *type)
{
	static const char *const types[] = { "int",     "unsigned int", "u32",   "pid_t", "key_t",
		                             "umode_t", "mode_t",       "qid_t", NULL };

	for (size_t i = 0; types[i]; i++)
		if (!strcmp(type, types[i]))
			return true;
	return false;
}

static bool is_signed_type(const char *type)
{
	return !strcmp(type, "int") || !strcmp(type, "pid_t") || !strcmp(type, "key_t");
}

static int field_set(struct point_field *out, const struct tep_format_field *f)
{
	if (f->offset < 0 || f->offset > UINT16_MAX - 8)
		return -EINVAL;
	out->offset = (uint16_t)f->offset;
	out->size = f->size == 8 && is_32_bit_type(f->type) ? 4 : (uint8_t)f->size;
	out->is_signed = (f->flags & TEP_FIELD_IS_SIGNED) || is_signed_type(f->type);
	return out->size == 1 || out->size == 2 || out->size == 4 || out->size == 8 ? 0 : -EINVAL;
}

static const char *field_name(unsigned kind, const char *argument)
{
	for (size_t i = 0; i < ARRAY_SIZE(field_aliases); i++)
		if (field_aliases[i].kind == kind && !strcmp(field_aliases[i].argument, argument))
			return field_aliases[i].field;
	return argument;
}

static int args_set(struct point *pt, struct tep_event *ev, const struct event_row *row)
{
	pt->args = row->args;
	for (unsigned i = 0; i < row->args; i++) {
		const char *name = field_name(pt->kind, row->names[i]);
		struct tep_format_field *f = name ? tep_find_field(ev, name) : NULL;

		/* 5.x has no group_dead; a leave always has its result. */
		if (!f)
			continue;
		if (field_set(&pt->arg[i], f) < 0)
			return -EINVAL;
		if (row->types[i] == ARG_FD) {
			pt->arg[i].size = 4;
			pt->arg[i].is_signed = true;
		}
		if (pt->bytes < f->offset + f->size)
			pt->bytes = (uint16_t)(f->offset + f->size);
	}
	return 0;
}

static int text_set(struct point *pt, struct tep_event *ev, const char *name)
{
	struct tep_format_field *f = tep_find_field(ev, name);

	if (!f || f->offset < 0 || f->offset + f->size > UINT16_MAX)
		return -EINVAL;
	pt->text.offset = (uint16_t)f->offset;
	pt->text_dynamic = f->flags & TEP_FIELD_IS_DYNAMIC;
	pt->text.size = 4;
	pt->text_bytes = (uint16_t)f->size;
	if (pt->bytes < f->offset + f->size)
		pt->bytes = (uint16_t)(f->offset + f->size);
	return 0;
}

static const char *text_field(unsigned kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(point_rows); i++)
		if (point_rows[i].kind == kind)
			return point_rows[i].text;
	return NULL;
}

static int index_add(struct points *p, const struct point *pt)
{
	struct point *rows = realloc(p->rows, (p->count + 1) * sizeof(*rows));

	if (!rows)
		return -ENOMEM;
	p->rows = rows;
	if (pt->id >= p->ids) {
		size_t ids = (size_t)pt->id + 64;
		uint16_t *by_id = realloc(p->by_id, ids * sizeof(*by_id));

		if (!by_id)
			return -ENOMEM;
		memset(by_id + p->ids, 0, (ids - p->ids) * sizeof(*by_id));
		p->by_id = by_id;
		p->ids = ids;
	}
	p->rows[p->count++] = *pt;
	p->by_id[pt->id] = (uint16_t)p->count;
	p->have[pt->kind] = true;
	return 0;
}

int points_add_format(struct points *p, const char *system, unsigned kind, const char *text,
                      size_t size)
{
	const char *text_name = text_field(kind);
	struct point pt = { .kind = (uint16_t)kind };
	struct tep_format_field *task;
	struct tep_event *ev;

	if (tep_parse_format(p->tep, &ev, text, size, system))
		return -EINVAL;
	task = tep_find_common_field(ev, "common_pid");
	if (!task || ev->id < 0 || ev->id > UINT16_MAX - 64 || field_set(&pt.task, task) < 0 ||
	    args_set(&pt, ev, event_row(kind)) < 0 ||
	    (text_name && text_set(&pt, ev, text_name) < 0))
		return -EINVAL;
	pt.id = (uint16_t)ev->id;
	snprintf(pt.system, sizeof(pt.system), "%s", system);
	snprintf(pt.name, sizeof(pt.name), "%s", ev->name);
	return index_add(p, &pt);
}

/* 1 when the kernel has no such tracepoint. */
static int point_load(struct points *p, const char *system, const char *name, unsigned kind)
{
	_cleanup_free_ char *text = NULL;
	int size = 0;
	int r;

	text = tracefs_event_file_read(NULL, system, name, "format", &size);
	if (!text)
		return errno == ENOENT || errno == ENODEV ? 1 : error_errno();
	r = points_add_format(p, system, kind, text, (size_t)size);
	if (r == -EINVAL)
		log_error("%s:%s: its format file is not understood", system, name);
	return r;
}

static int say_missing(char *why, size_t size, const char *system, const char *name)
{
	if (!strcmp(system, "exceptions"))
		snprintf(why, size,
		         "this kernel has no tracepoint %s:%s: recording needs the page fault "
		         "events of x86-64",
		         system, name);
	else
		snprintf(why, size,
		         "this kernel has no tracepoint %s:%s: recording needs one with it", system,
		         name);
	return -ENOENT;
}

static int missing(const char *system, const char *name)
{
	char why[192];
	int r = say_missing(why, sizeof(why), system, name);

	log_error("%s", why);
	return r;
}

static int rows_load(struct points *p)
{
	for (size_t i = 0; i < ARRAY_SIZE(point_rows); i++) {
		const struct point_row *row = &point_rows[i];
		int r = point_load(p, row->system, row->name, row->kind);

		if (r > 0 && row->need == NEED_ALWAYS)
			return missing(row->system, row->name);
		if (r < 0)
			return r;
	}
	return 0;
}

int points_explain(const char *system, char *why, size_t size)
{
	char name[48];

	for (size_t i = 0; i < ARRAY_SIZE(point_rows); i++)
		if (point_rows[i].need == NEED_ALWAYS && !strcmp(point_rows[i].system, system) &&
		    !tracefs_event_file_exists(NULL, system, point_rows[i].name, "format"))
			return say_missing(why, size, system, point_rows[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(needed_calls) && !strcmp(system, "syscalls"); i++) {
		snprintf(name, sizeof(name), "sys_exit_%s", call_name(needed_calls[i]));
		if (!tracefs_event_file_exists(NULL, system, name, "format"))
			return say_missing(why, size, system, name);
	}
	return 0;
}

static bool call_needed(enum call call)
{
	for (size_t i = 0; i < ARRAY_SIZE(needed_calls); i++)
		if (needed_calls[i] == call)
			return true;
	return false;
}

static int call_side_load(struct points *p, enum call call, bool leave)
{
	char name[48];
	int r;

	snprintf(name, sizeof(name), "sys_%s_%s", leave ? "exit" : "enter", call_name(call));
	r = point_load(p, "syscalls", name, leave ? EVENT_LEAVE(call) : EVENT_ENTER(call));
	if (r > 0)
		return call_needed(call) ? missing("syscalls", name) : 0;
	return r;
}

static int calls_load(struct points *p, bool futex)
{
	for (unsigned c = 0; c < CALL_COUNT; c++) {
		enum call_record sides = call_recorded((enum call)c);
		int r = 0;

		if (c == CALL_FUTEX && !futex)
			continue;
		if (sides != CALL_ENTER_ONLY)
			r = call_side_load(p, (enum call)c, true);
		if (r >= 0 && sides != CALL_LEAVE_ONLY)
			r = call_side_load(p, (enum call)c, false);
		if (r < 0)
			return r;
	}
	return 0;
}

int points_new(struct points **out, bool futex)
{
	struct points *p;
	int r = points_new_empty(&p);

	if (r < 0)
		return r;
	r = rows_load(p);
	if (r >= 0)
		r = calls_load(p, futex);
	if (r < 0) {
		points_free(p);
		return r;
	}
	tep_free(p->tep);
	p->tep = NULL;
	*out = p;
	return 0;
}
