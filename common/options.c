/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Table-driven option parsing and help. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"

#define HELP_WIDTH 80
#define HELP_INDENT 28

static const struct option common_options[] = {
	{ 'h', "help", OPTION_FLAG, NULL, NULL, "show this help", NULL, NULL, false },
	{ 0, "quiet", OPTION_FLAG, NULL, NULL, "no progress and no notes", NULL, NULL, false },
};

int parse_u64(const char *text, uint64_t *out)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	*out = strtoull(text, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int parse_scaled(const char *text, const char *const units[], const uint64_t scales[],
                        uint64_t *out)
{
	char *end;
	uint64_t v;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -EINVAL;
	for (size_t i = 0; units[i]; i++)
		if (!strcasecmp(end, units[i]))
			return mul_fits(v, scales[i], out) ? 0 : -EINVAL;
	return -EINVAL;
}

int parse_size(const char *text, uint64_t *out)
{
	static const char *const units[] = { "",    "K",   "M",   "G",   "T",
		                             "KiB", "MiB", "GiB", "TiB", NULL };
	static const uint64_t scales[] = { 1,          1ULL << 10, 1ULL << 20,
		                           1ULL << 30, 1ULL << 40, 1ULL << 10,
		                           1ULL << 20, 1ULL << 30, 1ULL << 40 };

	return parse_scaled(text, units, scales, out);
}

int parse_time(const char *text, uint64_t *out)
{
	static const char *const units[] = { "", "s", "ms", "us", "ns", "m", "h", NULL };
	static const uint64_t scales[] = { 1000000000ULL,  1000000000ULL,   1000000, 1000, 1,
		                           60000000000ULL, 3600000000000ULL };

	return parse_scaled(text, units, scales, out);
}

void option_list_clear(struct option_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free((char *)list->items[i]);
	free(list->items);
	*list = (struct option_list){ 0 };
}

static int list_add(struct option_list *list, const char *value)
{
	while (*value) {
		size_t len = strcspn(value, ",");
		const char **items;
		char *item;

		items = realloc(list->items, (list->count + 1) * sizeof(*items));
		if (!items)
			return -ENOMEM;
		list->items = items;
		item = strndup(value, len);
		if (!item)
			return -ENOMEM;
		list->items[list->count++] = item;
		value += len;
		if (*value == ',')
			value++;
	}
	return 0;
}

static int choice_index(const char *choices, const char *value, unsigned *out)
{
	size_t want = strlen(value);

	for (unsigned i = 0;; i++) {
		size_t len = strcspn(choices, ",");

		if (len == want && !strncmp(choices, value, len)) {
			*out = i;
			return 0;
		}
		if (!choices[len])
			return -EINVAL;
		choices += len + 1;
	}
}

static int parse_u32(const char *text, uint32_t *out)
{
	uint64_t v;

	if (parse_u64(text, &v) < 0 || v > UINT32_MAX)
		return -EINVAL;
	*out = (uint32_t)v;
	return 0;
}

static const char *value_expected(const struct option *o)
{
	switch (o->type) {
	case OPTION_SIZE:
		return "a size such as 64M";
	case OPTION_TIME:
		return "a time such as 10s or 250ms";
	case OPTION_CHOICE:
		return o->choices;
	default:
		return "a whole number";
	}
}

static int option_set(const struct option *o, const char *value)
{
	int r = 0;

	switch (o->type) {
	case OPTION_FLAG:
		*(bool *)o->target = true;
		return 0;
	case OPTION_STRING:
		*(const char **)o->target = value;
		return 0;
	case OPTION_LIST:
		return list_add(o->target, value);
	case OPTION_CALL:
		return o->call(o->target, value);
	case OPTION_U32:
		r = parse_u32(value, o->target);
		break;
	case OPTION_U64:
		r = parse_u64(value, o->target);
		break;
	case OPTION_SIZE:
		r = parse_size(value, o->target);
		break;
	case OPTION_TIME:
		r = parse_time(value, o->target);
		break;
	case OPTION_CHOICE:
		r = choice_index(o->choices, value, o->target);
		break;
	}
	if (r < 0)
		log_error("--%s: '%s' is not %s%s", o->name, value,
		          o->type == OPTION_CHOICE ? "one of " : "", value_expected(o));
	return r;
}

/* Words are put apart by one space, lines broken before a word that would not fit. */
static void print_wrapped(const char *text, int indent, int column)
{
	int start = column;

	while (*text) {
		int word = (int)strcspn(text, " \n");
		bool apart = column > indent && column > start;

		if (word && column + apart + word > HELP_WIDTH && column > indent) {
			printf("\n%*s", indent, "");
			column = start = indent;
			apart = false;
		}
		if (word)
			printf("%s%.*s", apart ? " " : "", word, text);
		column += apart + word;
		text += word;
		for (; *text == ' ' || *text == '\n'; text++) {
			if (*text == '\n') {
				printf("\n%*s", text[1] == '\n' ? 0 : indent, "");
				column = start = indent;
			}
		}
	}
	putchar('\n');
}

static void print_option(const struct option *o)
{
	char head[128];
	int n;

	if (o->hidden)
		return;
	n = snprintf(head, sizeof(head), "  %c%c%c--%s%s%s", o->letter ? '-' : ' ',
	             o->letter ? o->letter : ' ', o->letter ? ' ' : ' ', o->name,
	             o->value ? "=" : "", o->value ? o->value : "");
	printf("%-*s", HELP_INDENT, head);
	if (n >= HELP_INDENT)
		printf("\n%*s", HELP_INDENT, "");
	print_wrapped(o->help, HELP_INDENT, HELP_INDENT);
}

static void print_help(const struct option_spec *spec)
{
	fputs("usage: ", stdout);
	print_wrapped(spec->usage, 7, 7);
	putchar('\n');
	print_wrapped(spec->about, 0, 0);
	putchar('\n');
	for (const struct option *o = spec->options; o->name; o++)
		print_option(o);
	for (size_t i = 0; i < ARRAY_SIZE(common_options); i++)
		print_option(&common_options[i]);
}

static const struct option *find_long(const struct option_spec *spec, const char *name, size_t len)
{
	for (const struct option *o = spec->options; o->name; o++)
		if (strlen(o->name) == len && !strncmp(o->name, name, len))
			return o;
	for (size_t i = 0; i < ARRAY_SIZE(common_options); i++)
		if (strlen(common_options[i].name) == len &&
		    !strncmp(common_options[i].name, name, len))
			return &common_options[i];
	return NULL;
}

static const struct option *find_short(const struct option_spec *spec, char letter)
{
	for (const struct option *o = spec->options; o->name; o++)
		if (o->letter == letter)
			return o;
	return letter == 'h' ? &common_options[0] : NULL;
}

/* The option that argv[*i] names, its value in *value; *i moves over a separate value. */
static const struct option *option_at(const struct option_spec *spec, char **argv, int *i,
                                      const char **value)
{
	const char *arg = argv[*i];
	const struct option *o;
	size_t len;

	*value = NULL;
	if (arg[1] != '-') {
		o = find_short(spec, arg[1]);
		if (o && arg[2])
			*value = arg + 2 + (arg[2] == '=');
	} else {
		len = strcspn(arg + 2, "=");
		o = find_long(spec, arg + 2, len);
		if (o && arg[2 + len])
			*value = arg + 3 + len;
	}
	if (!o) {
		log_error("no option '%s': `mmtape %s --help` lists them", arg, argv[0]);
		return NULL;
	}
	if (o->type == OPTION_FLAG && *value) {
		if (arg[1] == '-')
			log_error("--%s takes no value", o->name);
		else
			log_error("'%s': options of one letter stand apart: -%c -…", arg, arg[1]);
		return NULL;
	}
	if (o->type != OPTION_FLAG && !*value) {
		*value = argv[*i + 1];
		if (!*value) {
			log_error("--%s needs a value (%s)", o->name,
			          o->value ? o->value : "VALUE");
			return NULL;
		}
		++*i;
	}
	return o;
}

int options_parse(const struct option_spec *spec, int argc, char **argv, int *operands)
{
	int kept = 1;

	for (int i = 1; i < argc; i++) {
		const struct option *o;
		const char *value;
		bool end = !strcmp(argv[i], "--");

		if (end || (spec->takes_command && argv[i][0] != '-')) {
			if (end && spec->dashed)
				*spec->dashed = true;
			for (i += end; i < argc; i++)
				argv[kept++] = argv[i];
			break;
		}
		if (argv[i][0] != '-' || !argv[i][1]) {
			argv[kept++] = argv[i];
			continue;
		}
		o = option_at(spec, argv, &i, &value);
		if (!o)
			return -EINVAL;
		if (o == &common_options[0]) {
			print_help(spec);
			return OPTIONS_HELP;
		}
		if (o == &common_options[1]) {
			log_set_quiet(true);
			continue;
		}
		if (option_set(o, value) < 0)
			return -EINVAL;
	}
	argv[kept] = NULL;
	*operands = kept - 1;
	return 0;
}
