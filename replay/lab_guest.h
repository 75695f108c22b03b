/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest's side of the lab: mmtape as /init. */
#pragma once

/* Where host and guest agree to put things in the initramfs. */
#define LAB_GUEST_JOB "/lab/job" /* bytes of swap, then the command's words, each with a NUL */
#define LAB_GUEST_TRACE "/lab/trace.mmt.zst"
#define LAB_GUEST_PROGRAM "/lab/program"
#define LAB_GUEST_RESULT "/tmp/result.json"

/* For process 1 only. Does not return. */
int lab_guest_main(void);
