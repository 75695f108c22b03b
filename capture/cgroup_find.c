/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where cgroups can be made. */

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/cgroup_own.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "common/log.h"

#define TEXT_MAX 65536

/* One line: "36 25 0:31 ROOT MOUNT rw … - TYPE SOURCE OPTIONS", blanks in paths as \040. */
static bool parse_mount(const char *line, char *root, char *mount, char *type, char *options)
{
	const char *dash = strstr(line, " - ");

	/* 159 is CGROUP_PATH - 1; what does not fit is cut and then not a path of ours. */
	return dash && sscanf(line, "%*s %*s %*s %159s %159s", root, mount) == 2 &&
	       sscanf(dash + 3, "%31s %*s %255s", type, options) == 2;
}

static bool has_word(const char *list, const char *word, const char *between)
{
	size_t len = strlen(word);

	for (const char *at = list; *at;) {
		size_t part = strcspn(at, between);

		if (part == len && !strncmp(at, word, len))
			return true;
		at += part + (at[part] != '\0');
	}
	return false;
}

/* "0::/path" among the lines; what is above the mount's root counts as that root. */
static void find_own(const char *cgroup, const char *root, struct cgroup_place *out)
{
	char path[CGROUP_PATH] = "";
	size_t len = strcmp(root, "/") ? strlen(root) : 0;

	for (const char *at = cgroup; at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL)
		if (!strncmp(at, "0::/", 4))
			sscanf(at + 3, "%159[^\n]", path);
	if (strncmp(path, root, len) || !strcmp(path, "/") || strstr(path, "/.."))
		len = strlen(path);
	if ((size_t)snprintf(out->own, sizeof(out->own), "%s%s", out->mount, path + len) >=
	    sizeof(out->own))
		snprintf(out->own, sizeof(out->own), "%s", out->mount);
}

bool cgroup_place_parse(const char *mountinfo, const char *cgroup, struct cgroup_place *out)
{
	char root[CGROUP_PATH], mount[CGROUP_PATH], type[32], options[256];
	bool found = false;

	*out = (struct cgroup_place){ 0 };
	for (const char *at = mountinfo; at && *at;) {
		char line[1024];

		snprintf(line, sizeof(line), "%.*s", (int)strcspn(at, "\n"), at);
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
		if (!parse_mount(line, root, mount, type, options))
			continue;
		if (!strcmp(type, "cgroup") && has_word(options, "memory", ","))
			out->v1_memory = true;
		if (found || strcmp(type, "cgroup2") || strlen(mount) >= sizeof(mount) - 1)
			continue;
		found = true;
		snprintf(out->mount, sizeof(out->mount), "%s", mount);
		find_own(cgroup, root, out);
	}
	return found;
}

static int find_place(struct cgroup_place *out)
{
	_cleanup_free_ char *mountinfo = malloc(TEXT_MAX);
	char cgroup[SYSFILE_MAX];

	if (!mountinfo)
		return -ENOMEM;
	if (sysfile_read("/proc/self/mountinfo", mountinfo, TEXT_MAX) < 0 ||
	    sysfile_read("/proc/self/cgroup", cgroup, sizeof(cgroup)) < 0 ||
	    !cgroup_place_parse(mountinfo, cgroup, out)) {
		log_error("--cgroup: cgroup v2 is not mounted: `mount -t cgroup2 none "
		          "/sys/fs/cgroup` as root");
		return -ENOENT;
	}
	return 0;
}

/* Whether one of a group's lists of controllers names memory. */
static bool lists_memory(const char *group, const char *file)
{
	char path[CGROUP_PATH + 40], text[SYSFILE_MAX];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return sysfile_read(path, text, sizeof(text)) == 0 && has_word(text, "memory", " ");
}

static bool may_make(const char *group)
{
	char full[CGROUP_PATH + 256];

	return sysfile_path(full, sizeof(full), group) == 0 && access(full, W_OK | X_OK) == 0;
}

static int say_no_controller(const struct cgroup_place *place)
{
	if (place->v1_memory)
		log_error("--cgroup: the memory controller is bound to cgroup v1, %s has none: "
		          "boot with "
		          "cgroup_no_v1=memory or systemd.unified_cgroup_hierarchy=1",
		          place->mount);
	else
		log_error("--cgroup: %s has no memory controller: a kernel with CONFIG_MEMCG, "
		          "without "
		          "cgroup_disable=memory, or a container that hands it on",
		          place->mount);
	return -EOPNOTSUPP;
}

int cgroup_find_parent(char out[CGROUP_PATH], bool *switch_on)
{
	struct cgroup_place place;
	int r = find_place(&place);

	if (r < 0)
		return r;
	if (!lists_memory(place.mount, "cgroup.controllers"))
		return say_no_controller(&place);
	for (char *slash;; *slash = '\0') {
		bool on = lists_memory(place.own, "cgroup.subtree_control");

		*switch_on = !on;
		memcpy(out, place.own, CGROUP_PATH);
		if (on && may_make(place.own))
			return 0;
		slash = strrchr(place.own, '/');
		if (!slash || strlen(place.own) <= strlen(place.mount))
			break;
	}
	/* At the top, so nobody below hands it on either. */
	if (*switch_on && may_make(out))
		return 0;
	log_error("--cgroup: no cgroup may be made in %s: run as root, or in a group that was "
	          "delegated",
	          out);
	return -EACCES;
}
