/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows behind capture/roles.h: functions and classes in roles_table.c, what is
 * not memory management in roles_other.c.
 */
#pragma once

#include "capture/roles.h"

extern const struct role_function role_table_functions[];
extern const size_t role_table_functions_count;
extern const struct role_class role_table_classes[];
extern const size_t role_table_classes_count;
extern const struct role_other role_table_others[];
extern const size_t role_table_others_count;
