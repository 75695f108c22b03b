/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sums by role over many call stacks: a stack's role, side and way in are worked
 * out once and remembered, in bounded memory.
 */
#pragma once

#include "capture/sources.h"
#include "capture/symbols.h"

struct stack_sum {
	const char *role; /* "unresolved" for none */
	const char
		*where; /* if unresolved the innermost function that is no lock code, else NULL */
	enum role_side side;
	const char *path; /* of role_path_of_stack() */
	bool in_lock; /* the innermost function is lock code */
	uint64_t count; /* the caller's, as is wait */
	double wait;
};

struct stack_roles;

/* Borrows the symbols; kernel is a ROLE_KERNEL. */
int stack_roles_new(struct stack_roles **out, const struct symbols *symbols,
                    uint16_t kernel) _must_check_ _nonnull_;
struct stack_roles *stack_roles_free(struct stack_roles *s);

/*
 * The number of the sum that a stack of kernel addresses, innermost first, belongs
 * to; -ENOMEM. Numbers stay, pointers to sums do not.
 */
int stack_roles_place(struct stack_roles *s, const uint64_t *chain, size_t count) _must_check_
	_nonnull_args_(1);
struct stack_sum *stack_roles_sum(struct stack_roles *s, size_t number) _nonnull_;
size_t stack_roles_count(const struct stack_roles *s) _nonnull_;
/* All counts and waits back to 0. */
void stack_roles_reset(struct stack_roles *s) _nonnull_;

/*
 * Adds every sum to the figures of its role, of its side and of its way in with fill();
 * roles and sides of this kernel that none belongs to get fill() with a sum of 0.
 */
typedef void stack_roles_fill_fn(struct lock_figure *f, const struct stack_sum *sum,
                                 const void *context);
int stack_roles_figures(const struct stack_roles *s, struct lock_figures *out,
                        stack_roles_fill_fn *fill, const void *context) _must_check_
	_nonnull_args_(1, 2, 3);

/*
 * Of the amount() of all sums the share that matched no role, and by which functions.
 * -ENOMEM.
 */
int stack_roles_unresolved(const struct stack_roles *s, struct lock_figures *out,
                           double (*amount)(const struct stack_sum *sum)) _must_check_ _nonnull_;

/* Symbols and kernel of the running machine. Prints its line on failure. */
int stack_roles_load(struct stack_roles **out, struct symbols **symbols) _must_check_ _nonnull_;
