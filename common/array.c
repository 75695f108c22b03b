/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by doubling. */

#include <stdlib.h>

#include "common/array.h"
#include "common/bytes.h"

#define FIRST_ROOM 16

int array_grow(void **array, size_t count, size_t *room, size_t size)
{
	size_t more = *room ? *room : FIRST_ROOM;
	uint64_t bytes;
	void *p;

	if (count < *room)
		return 0;
	while (more <= count)
		if (__builtin_mul_overflow(more, (size_t)2, &more))
			return -ENOMEM;
	if (!mul_fits(more, size, &bytes))
		return -ENOMEM;
	p = realloc(*array, bytes);
	if (!p)
		return -ENOMEM;
	*array = p;
	*room = more;
	return 0;
}
