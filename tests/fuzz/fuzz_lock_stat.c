/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Any bytes as the text of /proc/lock_stat: sums never become negative or less than a part. */

#include <string.h>

#include "capture/lock_stat.h"
#include "fuzz.h"

static void check(const struct lock_figures *f)
{
	if (!(f->unresolved >= 0 && f->unresolved <= 1))
		abort();
	for (size_t i = 0; i < f->count; i++) {
		const struct lock_figure *x = &f->items[i];

		if (!x->role || !(x->acquisitions >= 0) || !(x->contentions >= 0) ||
		    !(x->wait >= 0) || !(x->hold >= 0))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lock_figures f = { 0 };
	char *text = malloc(size + 1);
	unsigned line;

	if (!text)
		abort();
	memcpy(text, data, size);
	text[size] = '\0';
	if (lock_stat_parse(text, ROLE_KERNEL(6, 12), &f, &line) == 0)
		check(&f);
	lock_figures_clear(&f);
	free(text);
	return 0;
}
