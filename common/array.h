/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow by doubling. */
#pragma once

#include <stddef.h>

#include "common/error.h"

/*
 * Room for element number `count` of *array, whose elements are `size` bytes;
 * *room counts elements. New ones are not set. -ENOMEM leaves all as it was.
 */
int array_grow(void **array, size_t count, size_t *room, size_t size) _must_check_
	_nonnull_args_(1, 3);
