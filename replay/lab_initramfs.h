/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest boots into, and the command it is given. */
#pragma once

#include "replay/lab.h"

/* What an image is used for: of two, one counts and the other is timed. */
enum lab_part { LAB_PART_ALL, LAB_PART_COUNT, LAB_PART_TIME };

/* The words of a guest's command; a NULL is behind the last. */
struct lab_words {
	char **items;
	size_t count;
};

/* -ENOMEM; cleared by the caller all the same. */
int lab_words_make(const struct lab_setup *s, enum lab_part part,
                   struct lab_words *out) _must_check_ _nonnull_;
void lab_words_clear(struct lab_words *w) _nonnull_;

bool lab_lists_source(const char *list, const char *source) _nonnull_;

/* Of a list of sources those that belong to the part, in the order of the list; false: none. */
bool lab_part_sources(const char *list, enum lab_part part, char *out, size_t size) _nonnull_;

/*
 * An initramfs in a memfd, so that nothing is left behind whatever ends the lab.
 * words NULL: a shell. Prints its line.
 */
int lab_initramfs_new(const struct lab_setup *s, const struct lab_words *words) _must_check_
	_nonnull_args_(1);
