/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as what the lab meets: a guest's serial line, fed in pieces; a console
 * of a guest that failed; a kernel image; a program. `tests/fuzz/make-lab-seeds` made the seeds.
 */

#include <string.h>

#include "common/cleanup.h"
#include "fuzz.h"
#include "replay/lab_diagnose.h"
#include "replay/lab_frame.h"
#include "replay/lab_image.h"

/* The frames in it are the same however it is cut into pieces. */
static uint64_t frames_of(const uint8_t *data, size_t size, size_t step)
{
	struct lab_frames frames = { 0 };
	struct lab_frame f;
	uint64_t sum = 0;

	for (size_t at = 0; at < size; at += step) {
		size_t n = size - at < step ? size - at : step;

		if (lab_frames_feed(&frames, data + at, n) < 0)
			abort();
		while (lab_frames_next(&frames, &f) > 0) {
			if (f.length > LAB_FRAME_MAX || f.body[f.length])
				abort();
			sum = sum * 31 + f.length + strlen(f.body) + (uint64_t)f.kind;
		}
	}
	lab_frames_clear(&frames);
	return sum;
}

static void diagnose(const uint8_t *data, size_t size)
{
	_cleanup_free_ char *text = calloc(1, size + 1);
	char out[400];

	if (!text)
		abort();
	memcpy(text, data, size);
	for (unsigned i = 0; i < 8; i++) {
		struct lab_evidence e = {
			.console = text,
			.console_spoke = size != 0,
			.hello = i & 1,
			.timed_out = i & 2,
			.end = i & 4 ? text : NULL,
			.errors = i & 1 ? text : "",
			.exit_status = -1,
		};

		lab_diagnose(&e, out, sizeof(out));
		if (strlen(out) >= sizeof(out))
			abort();
	}
	if (strlen(lab_last_lines(text, 15)) > size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char why[160];

	fuzz_quiet();
	if (size && frames_of(data, size, 7) != frames_of(data, size, size))
		abort();
	diagnose(data, size);
	if (lab_image_check(data, size, why, sizeof(why)) < 0 && strlen(why) >= sizeof(why))
		abort();
	if (lab_program_check(data, size, why, sizeof(why)) < 0 && strlen(why) >= sizeof(why))
		abort();
	return 0;
}
