/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What joining results needs in both of its ways: of boots, and of passes. */
#pragma once

#include "analysis/compat.h"
#include "analysis/result_tree.h"

json_t *parts_member(const struct result *r, const char *key) _nonnull_;
/* A whole number as one. NULL without memory. */
json_t *parts_number(double value) _must_check_;
/* Takes value over, which may be NULL. -ENOMEM. */
int parts_put(json_t *object, const char *key, json_t *value) _must_check_ _nonnull_args_(1, 2);

/* The worse of both: larger numbers, what is true, the first list that holds anything. -ENOMEM. */
int parts_join_fidelity(json_t *to, const json_t *from) _must_check_ _nonnull_args_(1);
/* Between provenances: a setting that changed while the other ran must not be forgotten. -ENOMEM.
 */
int parts_join_settings(json_t *to, const json_t *from) _must_check_ _nonnull_;
/* The source of that name, or NULL. */
json_t *parts_source(const json_t *sources, const char *name) _nonnull_args_(2);

/* One of compat.h's. */
typedef int parts_check(const struct result *a, const struct result *b, struct reasons *out);

/* -EINVAL, its line printed, when they may not be joined or would have too many rows. */
int parts_check_same(const struct result *into, const struct result *from, unsigned boot,
                     parts_check *check) _must_check_ _nonnull_;

/* A joined result's parts, owned. */
struct parts {
	json_t *rows, *denominators, *fidelity, *provenance;
};

/* Copies of all but rows. -ENOMEM; parts_clear() then too. */
int parts_copy(struct parts *p, const struct result *into) _must_check_ _nonnull_;
/* The parts take their places in the result. -ENOMEM. */
int parts_replace(struct result *into, const struct result *from,
                  const struct parts *p) _must_check_ _nonnull_;
void parts_clear(struct parts *p) _nonnull_;
