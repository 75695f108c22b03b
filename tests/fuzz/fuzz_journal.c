/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Any bytes as the journal of a killed owner, in a /sys and /run of our own:
 * only settings of the white list are ever written, and only probes of ours removed.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/settings.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"
#include "fuzz.h"

#define THP_DIR "/sys/kernel/mm/transparent_hugepage/"
#define SENTINEL "/etc/passwd"
#define KPROBE_EVENTS "/sys/kernel/tracing/kprobe_events"
#define PROBES "p:mmtape_1_0/x y\np:theirs/x y\n"

static char root[] = "/tmp/mmtape-fuzz-journal-XXXXXX";

static void put_file(const char *path, const void *bytes, size_t size)
{
	char full[512];
	FILE *f;

	if (sysfile_path(full, sizeof(full), path) < 0)
		abort();
	for (char *p = full + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	f = fopen(full, "w");
	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) == EOF)
		abort();
}

static void remove_root(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	if (system(command))
		abort();
}

static void make_root(void)
{
	if (!mkdtemp(root))
		abort();
	atexit(remove_root);
	sysfile_set_root(root);
	put_file(SENTINEL, "untouched", 9);
	put_file(THP_DIR "enabled", "always [madvise] never", 22);
	put_file(THP_DIR "hugepages-64kB/enabled", "always [never]", 14);
}

static void check_sentinel(void)
{
	char text[512];

	if (sysfile_read(SENTINEL, text, sizeof(text)) < 0 || strcmp(text, "untouched"))
		abort();
	/* The kernel would take each appended line as a command. */
	if (sysfile_read(KPROBE_EVENTS, text, sizeof(text)) == 0 && strstr(text, "-:theirs"))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[128] = "/run/mmtape/1-0.journal";

	if (strstr(root, "XXXXXX"))
		make_root();
	fuzz_quiet();
	if (geteuid() != 0)
		snprintf(path, sizeof(path), "/run/user/%u/mmtape/1-0.journal",
		         (unsigned)geteuid());
	put_file(path, data, size);
	put_file(KPROBE_EVENTS, PROBES, strlen(PROBES));
	if (settings_recover() < 0)
		abort();
	check_sentinel();
	return 0;
}
