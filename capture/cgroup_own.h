/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inside of cgroup.h. */
#pragma once

#include "capture/cgroup.h"

#define CGROUP_PATH 160 /* bytes: what a journal's entry has room for */

struct cgroup_place {
	char mount[CGROUP_PATH]; /* of cgroup v2 */
	char own[CGROUP_PATH]; /* this process's group, as a path below or equal to mount */
	bool v1_memory; /* the memory controller is mounted as cgroup v1 */
};

/*
 * From the text of /proc/self/mountinfo and of /proc/self/cgroup. false: cgroup v2
 * is not mounted, or at a place with a longer path.
 */
bool cgroup_place_parse(const char *mountinfo, const char *cgroup,
                        struct cgroup_place *out) _nonnull_;

/*
 * The group to make groups in; *switch_on: its children have no memory
 * controller yet. Prints its line as cgroups_new().
 */
int cgroup_find_parent(char out[CGROUP_PATH], bool *switch_on) _must_check_ _nonnull_;
