/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Says how a boot ended. */
#pragma once

#include "replay/lab_qemu.h"

/* true: the command ran to its end, and a result may be taken. Otherwise says why, with the
 * console. */
bool lab_report_boot(const char *kernel, unsigned boot, const struct lab_machine *m,
                     const struct lab_outcome *o) _nonnull_;
