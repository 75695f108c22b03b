/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What journal.c and journal_scan.c share and nobody else needs. */
#pragma once

#include "capture/journal.h"

#define JOURNAL_HEADER "mmtape-journal 1"
#define JOURNAL_KINDS 5

struct journal_kind_words {
	const char *word; /* that begins a line of the file */
	const char *what; /* for messages */
};

extern const struct journal_kind_words journal_kinds[JOURNAL_KINDS];

/* Whether recovery would act on it: the same test when writing and when reading. */
bool journal_entry_valid(enum journal_kind kind, const char *name, const char *old) _nonnull_;
/* This process's journal with that file, or NULL. */
const struct journal *journal_find_own(dev_t device, ino_t inode);
