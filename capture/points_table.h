/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How tracepoints are held, shared by points.c and points_load.c only. */
#pragma once

#include "capture/points.h"

/* Where a value lies in a record. */
struct point_field {
	uint16_t offset;
	uint8_t size; /* 0: absent */
	bool is_signed;
};

struct point {
	char system[16], name[40];
	uint16_t kind, id;
	uint16_t bytes; /* a shorter record is cut */
	uint8_t args;
	bool text_dynamic; /* a __data_loc: offset and length in the record */
	struct point_field task, arg[EVENT_MAX_ARGS], text;
	uint16_t text_bytes;
};

struct points {
	struct tep_handle *tep; /* while formats are added */
	struct point *rows;
	size_t count;
	uint16_t *by_id; /* index + 1 */
	size_t ids;
	bool have[EVENT_KIND_COUNT];
};
