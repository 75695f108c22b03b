/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel releases as uname gives them: "6.12.3-cloud-amd64". */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* false for NULL and for what is no release. */
static inline bool release_at_least(const char *release, unsigned major, unsigned minor)
{
	unsigned a, b;

	if (!release || sscanf(release, "%u.%u", &a, &b) != 2)
		return false;
	return a > major || (a == major && b >= minor);
}
