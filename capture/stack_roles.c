/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sums by role, with a cache from stacks to sums. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "capture/chains.h"
#include "capture/perf_record.h"
#include "capture/role_release.h"
#include "capture/stack_roles.h"
#include "common/array.h"
#include "common/log.h"
#include "common/map.h"

/* Stacks remembered; then the cache is begun anew, which costs time and loses nothing. */
#define CACHE_MAX 65536

/* Of code without a name, such as a trampoline: as lock code to roles.h, so it is passed over. */
#define NO_NAME "0x"

struct stack_roles {
	const struct symbols *symbols;
	uint16_t kernel;
	struct map cache; /* hash of a stack to the number of its sum */
	struct stack_sum *sums;
	size_t count, room;
};

int stack_roles_new(struct stack_roles **out, const struct symbols *symbols, uint16_t kernel)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->symbols = symbols;
	(*out)->kernel = kernel;
	return 0;
}

struct stack_roles *stack_roles_free(struct stack_roles *s)
{
	if (s) {
		map_clear(&s->cache);
		free(s->sums);
		free(s);
	}
	return NULL;
}

static bool same(const struct stack_sum *a, const struct stack_sum *b)
{
	return a->side == b->side && a->in_lock == b->in_lock && a->where == b->where &&
	       !strcmp(a->role, b->role) && !strcmp(a->path, b->path);
}

static int find_sum(struct stack_roles *s, const struct stack_sum *wanted)
{
	int r;

	for (size_t i = 0; i < s->count; i++)
		if (same(&s->sums[i], wanted))
			return (int)i;
	r = array_grow((void **)&s->sums, s->count, &s->room, sizeof(*s->sums));
	if (r < 0)
		return r;
	s->sums[s->count] = *wanted;
	return (int)s->count++;
}

/* Behind the first one are return addresses: the call is before them, maybe in another function. */
static const char *name_of(const struct stack_roles *s, const uint64_t *chain, size_t i)
{
	const char *name = symbols_find(s->symbols, i ? chain[i] - 1 : chain[i]);

	return name ? name : NO_NAME;
}

static const char *innermost(const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], NO_NAME) && !role_is_lock_code(names[i]))
			return names[i];
	return NO_NAME;
}

/* Of a stack that ends in an unlock function, what it lets go; else by who takes the lock. */
static void set_role(struct stack_sum *sum, const char *const *names, size_t count, uint16_t kernel)
{
	const struct role_release *release = role_of_release(names, count);
	const struct role_function *f = NULL;

	if (!release) {
		sum->role = role_name_of_stack(names, count, kernel, &f);
		sum->side = f ? f->side : ROLE_SIDE_NONE;
		release = sum->role ? NULL : role_of_lost_caller(names, count);
	}
	if (release) {
		sum->role = release->role;
		sum->side = release->side;
	}
	if (!sum->role) {
		sum->role = "unresolved";
		sum->where = innermost(names, count);
	}
}

static int work_out(struct stack_roles *s, const uint64_t *chain, size_t count)
{
	struct stack_sum sum = { .role = NULL };
	const char *names[PERF_CHAIN_MAX] = { NULL };

	if (count > PERF_CHAIN_MAX)
		count = PERF_CHAIN_MAX;
	for (size_t i = 0; i < count; i++)
		names[i] = name_of(s, chain, i);
	set_role(&sum, names, count, s->kernel);
	sum.path = role_path_of_stack(names, count);
	sum.in_lock = count && strcmp(names[0], NO_NAME) && role_is_lock_code(names[0]);
	return find_sum(s, &sum);
}

int stack_roles_place(struct stack_roles *s, const uint64_t *chain, size_t count)
{
	uint64_t key = chains_hash(chain, count), *found = map_find(&s->cache, key);
	int number, r;

	if (found)
		return (int)*found;
	number = work_out(s, chain, count);
	if (number < 0)
		return number;
	if (s->cache.count >= CACHE_MAX)
		map_clear(&s->cache);
	r = map_set(&s->cache, key, (uint64_t)number);
	return r < 0 ? r : number;
}

struct stack_sum *stack_roles_sum(struct stack_roles *s, size_t number)
{
	return &s->sums[number];
}

size_t stack_roles_count(const struct stack_roles *s)
{
	return s->count;
}

void stack_roles_reset(struct stack_roles *s)
{
	for (size_t i = 0; i < s->count; i++) {
		s->sums[i].count = 0;
		s->sums[i].wait = 0;
	}
}

static int fill_one(struct lock_figures *out, const struct stack_sum *sum, enum role_side side,
                    const char *path, stack_roles_fill_fn *fill, const void *context)
{
	struct lock_figure *f = lock_figures_at(out, sum->role, side, path);

	if (!f)
		return -ENOMEM;
	fill(f, sum, context);
	return 0;
}

/* Ways in are told apart for sides only: they are what a case is about. */
static int fill_levels(struct lock_figures *out, const struct stack_sum *sum, bool with_path,
                       stack_roles_fill_fn *fill, const void *context)
{
	int r = fill_one(out, sum, ROLE_SIDE_NONE, NULL, fill, context);

	if (r < 0 || sum->side == ROLE_SIDE_NONE)
		return r;
	r = fill_one(out, sum, sum->side, NULL, fill, context);
	if (r < 0 || !with_path)
		return r;
	return fill_one(out, sum, sum->side, sum->path, fill, context);
}

/* A lock that was not met is a finding too. */
static int fill_zeros(const struct stack_roles *s, struct lock_figures *out,
                      stack_roles_fill_fn *fill, const void *context)
{
	size_t count;
	const struct role_function *f = role_functions(&count);

	for (size_t i = 0; i < count; i++) {
		struct stack_sum zero = { .role = f[i].role, .side = f[i].side, .in_lock = true };
		int r;

		if (s->kernel < f[i].from || (f[i].until && s->kernel > f[i].until))
			continue;
		r = fill_levels(out, &zero, false, fill, context);
		if (r < 0)
			return r;
	}
	return 0;
}

int stack_roles_figures(const struct stack_roles *s, struct lock_figures *out,
                        stack_roles_fill_fn *fill, const void *context)
{
	int r = fill_zeros(s, out, fill, context);

	for (size_t i = 0; i < s->count && r >= 0; i++)
		if (s->sums[i].count)
			r = fill_levels(out, &s->sums[i], true, fill, context);
	return r;
}

int stack_roles_load(struct stack_roles **out, struct symbols **symbols)
{
	char why[256] = "no memory for the kernel's symbols";
	struct utsname u;
	int r;

	if (uname(&u) < 0)
		return error_errno();
	r = symbols_new(symbols);
	if (r < 0 && r != -ENOMEM && symbols_explain(why, sizeof(why)) >= 0)
		snprintf(why, sizeof(why), "the kernel's symbols: %s", strerror(-r));
	if (r < 0)
		log_error("%s", why);
	return r < 0 ? r : stack_roles_new(out, *symbols, role_kernel(u.release));
}

int stack_roles_unresolved(const struct stack_roles *s, struct lock_figures *out,
                           double (*amount)(const struct stack_sum *sum))
{
	double all = 0, none = 0;
	int r = 0;

	for (size_t i = 0; i < s->count && r >= 0; i++) {
		const struct stack_sum *sum = &s->sums[i];
		double part = amount(sum);

		all += part;
		if (!sum->where || part <= 0)
			continue;
		none += part;
		r = lock_figures_unresolved(out, sum->where, part);
	}
	out->unresolved = all > 0 ? none / all : 0;
	return r;
}
