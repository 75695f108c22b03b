/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parsing /proc/lock_stat. */

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "capture/lock_stat.h"
#include "common/bytes.h"
#include "common/cleanup.h"

#define HEADER "lock_stat version "
#define VERSION HEADER "0.4"

/*
 * What lockdep follows like locks and nobody waits for: read sides of RCU, counters of
 * sequences (their writers hold a lock that has a class of its own), contexts, and local
 * locks, which only switch preemption off (all named "lock" where they are declared).
 */
static const char *const no_locks[] = {
	"rcu_read_lock*",
	"rcu_callback",
	"*srcu*_lock_map",
	"fs_reclaim",
	"mmu_notifier_invalidate_range_start",
	"*seqcount",
	"*_seq",
	"*->seq",
	"console_*owner",
	"*_map",
	"*_map-wait-type-override",
	"(&*timer)",
	"(work_completion)*",
	"(wq_completion)*",
	"(*).work",
	"*.c:[0-9]*",
	"lock",
	"(null)",
};

/* The columns behind the name, in their order. */
enum column {
	CON_BOUNCES,
	CONTENTIONS,
	WAIT_MIN,
	WAIT_MAX,
	WAIT_TOTAL,
	WAIT_AVG,
	ACQ_BOUNCES,
	ACQUISITIONS,
	HOLD_MIN,
	HOLD_MAX,
	HOLD_TOTAL,
	HOLD_AVG,
	COLUMNS
};

static bool is_time(enum column c)
{
	return (c >= WAIT_MIN && c <= WAIT_AVG) || c >= HOLD_MIN;
}

static bool parse_digits(const char **at, uint64_t *out)
{
	const char *p = *at;
	uint64_t v = 0;

	for (; isdigit((unsigned char)*p); p++)
		if (!mul_fits(v, 10, &v) || !add_fits(v, (uint64_t)(*p - '0'), &v))
			return false;
	if (p == *at)
		return false;
	*at = p;
	*out = v;
	return true;
}

/* "12.34" microseconds: 12340 ns. The least of no waits at all may be "-0.01". */
static bool parse_time(const char **at, double *ns)
{
	bool negative = **at == '-';
	uint64_t whole, part = 0;

	*at += negative;
	if (!parse_digits(at, &whole) || **at != '.')
		return false;
	(*at)++;
	*at += **at == '-';
	if (!parse_digits(at, &part) || part > 99)
		return false;
	*ns = negative ? 0 : (double)whole * 1000 + (double)part * 10;
	return true;
}

/* All columns and nothing else. */
static bool parse_columns(const char *at, uint64_t counts[COLUMNS], double times[COLUMNS])
{
	for (enum column c = 0; c < COLUMNS; c++) {
		if (*at != ' ')
			return false;
		at += strspn(at, " ");
		if (is_time(c) ? !parse_time(&at, &times[c]) : !parse_digits(&at, &counts[c]))
			return false;
	}
	return !at[strspn(at, " \r\n")];
}

/* Takes a mark and the digits behind it from the end of a name. */
static void strip_number(char *name, char mark)
{
	size_t len = strlen(name), digits = len;

	while (digits && isdigit((unsigned char)name[digits - 1]))
		digits--;
	if (digits > 1 && digits < len && name[digits - 1] == mark)
		name[digits - 1] = '\0';
}

static void strip_suffixes(char *name)
{
	size_t len = strlen(name);

	if (len > 2 && (!strcmp(name + len - 2, "-R") || !strcmp(name + len - 2, "-W")))
		name[len - 2] = '\0';
	strip_number(name, '/');
	strip_number(name, '#');
}

/* Rules, headings and the places of contention. */
static bool is_other_line(const char *line)
{
	return !line[strspn(line, " -.\r\n")] || strstr(line, "[<") ||
	       !strncmp(line, "*WARNING*", 9) || strstr(line, "con-bounces");
}

static bool is_no_lock(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(no_locks); i++)
		if (!fnmatch(no_locks[i], name, FNM_NOESCAPE))
			return true;
	return false;
}

int lock_stat_parse_line(const char *line, struct lock_stat_row *out)
{
	const char *name = line + strspn(line, " "), *colon = strrchr(line, ':');
	uint64_t counts[COLUMNS];
	double times[COLUMNS];
	size_t len;

	/* Names may have colons and spaces of their own; the columns have none. */
	if (!colon || colon <= name || !parse_columns(colon + 1, counts, times))
		return is_other_line(line) ? 1 : -EBADMSG;
	len = (size_t)(colon - name);
	if (len >= sizeof(out->name))
		return -EBADMSG;
	memcpy(out->name, name, len);
	out->name[len] = '\0';
	strip_suffixes(out->name);
	if (is_no_lock(out->name))
		return 1;
	out->contentions = counts[CONTENTIONS];
	out->acquisitions = counts[ACQUISITIONS];
	out->wait = times[WAIT_TOTAL];
	out->hold = times[HOLD_TOTAL];
	return 0;
}

static int add_row(struct lock_figures *out, const char *role, const struct lock_stat_row *row)
{
	struct lock_figure *f = lock_figures_at(out, role, ROLE_SIDE_NONE, NULL);

	if (!f)
		return -ENOMEM;
	if (f->acquisitions < 0)
		f->acquisitions = f->contentions = f->wait = f->hold = 0;
	f->acquisitions += (double)row->acquisitions;
	f->contentions += (double)row->contentions;
	f->wait += row->wait;
	f->hold += row->hold;
	return 0;
}

/* Classes that were never taken have no line: their roles were met 0 times. */
static int add_zeros(struct lock_figures *out, uint16_t kernel)
{
	const struct lock_stat_row zero = { .name = "" };
	size_t count;
	const struct role_class *c = role_classes(&count);
	int r = 0;

	for (size_t i = 0; i < count && r >= 0; i++)
		if (kernel >= c[i].from && (!c[i].until || kernel <= c[i].until))
			r = add_row(out, c[i].role, &zero);
	return r;
}

/* Ends the line at text with a NUL and gives the next one. */
static char *cut_line(char *text)
{
	text += strcspn(text, "\n");
	if (*text)
		*text++ = '\0';
	return text;
}

int lock_stat_parse(char *text, uint16_t kernel, struct lock_figures *out, unsigned *line)
{
	double all = 0, unresolved = 0;
	char *next = cut_line(text);
	int r;

	*line = 1;
	if (strncmp(text, HEADER, strlen(HEADER)))
		return -EBADMSG;
	if (strcmp(text, VERSION))
		return -EPROTO;
	r = add_zeros(out, kernel);
	if (r < 0)
		return r;
	while (*next) {
		struct lock_stat_row row;
		const char *role;

		text = next;
		next = cut_line(text);
		(*line)++;
		r = lock_stat_parse_line(text, &row);
		if (r < 0)
			return r;
		if (r > 0)
			continue;
		role = role_of_class(row.name, kernel);
		all += (double)row.acquisitions;
		unresolved += role ? 0 : (double)row.acquisitions;
		r = role ? 0 : lock_figures_unresolved(out, row.name, (double)row.acquisitions);
		if (r >= 0)
			r = add_row(out, role ? role : "unresolved", &row);
		if (r < 0)
			return r;
	}
	out->unresolved = all > 0 ? unresolved / all : 0;
	return 0;
}
