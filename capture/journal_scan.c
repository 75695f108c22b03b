/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The journal: reading the files of other owners. Their text is not trusted:
 * what is not exactly an entry of journal.h is left alone and reported.
 */

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "capture/journal.h"
#include "capture/journal_own.h"
#include "common/cleanup.h"

/* true when the line is an entry. */
static bool parse_entry(char *line, struct journal_entry *e)
{
	char *word = strchr(line, ' '), *old = NULL;
	unsigned kind = 0;

	if (!word)
		return false;
	*word++ = '\0';
	memset(e, 0, sizeof(*e));
	while (kind < JOURNAL_KINDS && strcmp(line, journal_kinds[kind].word))
		kind++;
	if (kind == JOURNAL_KINDS)
		return false;
	e->kind = (enum journal_kind)kind;
	if (e->kind == JOURNAL_SETTING) {
		old = strchr(word, ' ');
		if (!old)
			return false;
		*old++ = '\0';
	}
	if (!journal_entry_valid(e->kind, word, old ? old : ""))
		return false;
	snprintf(e->name, sizeof(e->name), "%s", word);
	snprintf(e->old, sizeof(e->old), "%s", old ? old : "");
	return true;
}

static int parse_lines(char *text, struct journal_file *out)
{
	bool header = false;
	char *newline;

	out->entries = calloc(JOURNAL_MAX_ENTRIES, sizeof(*out->entries));
	if (!out->entries)
		return -ENOMEM;
	for (; (newline = strchr(text, '\n')); text = newline + 1) {
		*newline = '\0';
		if (!header) {
			header = true;
			/* A format of another version is nobody's to guess at. */
			if (strcmp(text, JOURNAL_HEADER)) {
				out->damaged = true;
				return 0;
			}
			continue;
		}
		if (out->count == JOURNAL_MAX_ENTRIES ||
		    !parse_entry(text, &out->entries[out->count]))
			out->damaged = true;
		else
			out->count++;
	}
	return 0;
}

static int read_whole(int fd, char *text, size_t size)
{
	size_t used = 0;
	ssize_t n = 1;

	while (n > 0 && used < size - 1) {
		n = read(fd, text + used, size - 1 - used);
		if (n < 0)
			return error_errno();
		used += (size_t)n;
	}
	text[used] = '\0';
	return 0;
}

static int copy_own(const struct journal *j, const char *name, struct journal_file *out)
{
	const struct journal_entry *entries = journal_entries(j, &out->count);

	memcpy(out->name, name, strlen(name) + 1);
	out->own = out->alive = true;
	out->entries = calloc(out->count + 1, sizeof(*entries));
	if (!out->entries)
		return -ENOMEM;
	if (out->count)
		memcpy(out->entries, entries, out->count * sizeof(*entries));
	return 0;
}

/* 1: not a journal, nothing read. */
static int read_file(int lock, const char *name, struct journal_file *out)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	_cleanup_free_ char *text = NULL;
	_cleanup_close_ int fd = -1;
	const struct journal *own;
	struct stat st;
	int r;

	memset(out, 0, sizeof(*out));
	if (strlen(name) >= sizeof(out->name) || !strstr(name, ".journal"))
		return 1;
	if (fstatat(lock, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : error_errno();
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return 1;
	/* Closing a file of our own would drop its lock: it is not even opened. */
	own = journal_find_own(st.st_dev, st.st_ino);
	if (own)
		return copy_own(own, name, out);
	fd = openat(lock, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 1 : error_errno();
	if (fcntl(fd, F_GETLK, &whole) < 0)
		return error_errno();
	text = malloc(JOURNAL_MAX_BYTES + 1);
	if (!text)
		return -ENOMEM;
	memcpy(out->name, name, strlen(name) + 1);
	out->alive = whole.l_type != F_UNLCK;
	r = read_whole(fd, text, JOURNAL_MAX_BYTES + 1);
	return r < 0 ? r : parse_lines(text, out);
}

void journal_files_clear(struct journal_files *files)
{
	for (size_t i = 0; i < files->count; i++)
		free(files->files[i].entries);
	free(files->files);
	*files = (struct journal_files){ 0 };
}

static int add_file(struct journal_files *out, const struct journal_file *file)
{
	struct journal_file *files;

	files = realloc(out->files, (out->count + 1) * sizeof(*files));
	if (!files)
		return -ENOMEM;
	out->files = files;
	out->files[out->count++] = *file;
	return 0;
}

static int scan_dir(int lock, DIR *dir, struct journal_files *out)
{
	struct dirent *d;

	while ((d = readdir(dir))) {
		struct journal_file file = { 0 };
		int r = read_file(lock, d->d_name, &file);

		if (r > 0)
			continue;
		if (r == 0)
			r = add_file(out, &file);
		if (r < 0) {
			free(file.entries);
			return r;
		}
	}
	return 0;
}

int journal_scan(int lock, struct journal_files *out)
{
	/* A descriptor of its own: one made by dup() would share the position and the flock. */
	int fd = openat(lock, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	DIR *dir;

	*out = (struct journal_files){ 0 };
	if (fd < 0)
		return error_errno();
	dir = fdopendir(fd);
	if (!dir) {
		r = error_errno();
		close(fd);
		return r;
	}
	r = scan_dir(lock, dir, out);
	closedir(dir);
	if (r < 0)
		journal_files_clear(out);
	return r;
}

int journal_remove(int lock, const struct journal_file *file)
{
	return unlinkat(lock, file->name, 0) < 0 ? error_errno() : 0;
}
