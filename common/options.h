/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command-line options as a table: parsing, checking and --help come from the
 * same rows, so that they cannot disagree.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"

enum option_type {
	OPTION_FLAG, /* bool: --name sets it */
	OPTION_STRING, /* const char * */
	OPTION_LIST, /* struct option_list: may be given again, or comma-separated */
	OPTION_U32, /* uint32_t, decimal */
	OPTION_U64, /* uint64_t, decimal */
	OPTION_SIZE, /* uint64_t bytes: 4096, 64K, 64M, 2G, 1T (powers of 1024) */
	OPTION_TIME, /* uint64_t ns: 10s, 250ms, 5us, 3m; a bare number is seconds */
	OPTION_CHOICE, /* unsigned: index into `choices`, a comma-separated list */
	OPTION_CALL, /* int (*)(void *target, const char *value), see `call` */
};

struct option_list {
	const char **items; /* owned by the list, strings are argv's or copies */
	size_t count;
};

struct option {
	char letter; /* short form, or 0 */
	const char *name; /* without the dashes */
	enum option_type type;
	void *target;
	const char *value; /* how --help names the value, NULL for flags */
	const char *help; /* wrapped by the printer */
	const char *choices; /* OPTION_CHOICE */
	int (*call)(void *target, const char *value); /* OPTION_CALL; says what is wrong itself */
	bool hidden; /* for the project's own tests: not in --help */
};

struct option_spec {
	const char *usage; /* "mmtape info [options] FILE" */
	const char *about; /* what the command does, a short paragraph */
	const struct option *options; /* ends with a row whose name is NULL */
	bool takes_command; /* stop at the first operand or after `--` */
	bool *dashed; /* set when it was after `--`; may be NULL */
};

/* options_parse() printed the help: the command returns STATUS_DONE. */
#define OPTIONS_HELP 1

/*
 * Parses argv[1…]; --help, -h and --quiet are understood everywhere. Operands
 * are moved to the front: argv[1] … argv[*operands] afterwards, NULL behind.
 * With takes_command everything from the command on stays in order.
 * Returns 0, OPTIONS_HELP, or -EINVAL after printing one line.
 */
int options_parse(const struct option_spec *spec, int argc, char **argv,
                  int *operands) _must_check_;

void option_list_clear(struct option_list *list);

/* The value parsers, for callers with values in other places. 0 or -EINVAL, silent. */
int parse_u64(const char *text, uint64_t *out);
int parse_size(const char *text, uint64_t *out);
int parse_time(const char *text, uint64_t *out);
