/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One counter for the process. */

#include <stdatomic.h>

#include "traces/budget.h"

static atomic_size_t taken;

int budget_take(size_t bytes)
{
	size_t before = atomic_fetch_add(&taken, bytes);

	if (bytes <= BUDGET_BYTES && before <= BUDGET_BYTES - bytes)
		return 0;
	atomic_fetch_sub(&taken, bytes);
	return -E2BIG;
}

void budget_give(size_t bytes)
{
	atomic_fetch_sub(&taken, bytes);
}

size_t budget_taken(void)
{
	return atomic_load(&taken);
}
