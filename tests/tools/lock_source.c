/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock_source SOURCE COMMAND…: runs the command under one lock source and prints its
 * figures, a line each: ROLE SIDE PATH ACQUISITIONS CONTENTIONS WAIT, "-" for none.
 * lock_source --roles: the rows of the table that this kernel has no function for.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/instance.h"
#include "capture/journal.h"
#include "capture/roles_check.h"
#include "capture/settings.h"
#include "capture/sources.h"

static int run(char **command)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		return error_errno();
	if (pid == 0) {
		execv(command[0], command);
		perror(command[0]);
		_exit(127);
	}
	if (waitpid(pid, &status, 0) < 0)
		return error_errno();
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -ECHILD;
}

static void print_value(double value)
{
	if (value < 0)
		printf(" -");
	else
		printf(" %.0f", value);
}

static void print_figures(const struct lock_figures *f)
{
	for (size_t i = 0; i < f->count; i++) {
		const struct lock_figure *x = &f->items[i];

		printf("figure %s %s %s", x->role, x->side ? role_side_name(x->side) : "-",
		       x->path ? x->path : "-");
		print_value(x->acquisitions);
		print_value(x->contentions);
		print_value(x->wait);
		putchar('\n');
	}
	printf("dropped %llu\nunresolved %.6f\nnote %s\n", (unsigned long long)f->dropped,
	       f->unresolved, f->note);
}

static int observe(const struct source *source, const struct source_options *options,
                   char **command)
{
	struct lock_figures figures = { 0 };
	void *state = NULL;
	int r = source->open(&state, options);

	if (r < 0)
		return r;
	r = source->start(state);
	if (r >= 0)
		r = run(command);
	if (r >= 0)
		r = source->stop(state);
	if (r >= 0)
		r = source->read(state, &figures);
	if (r >= 0)
		print_figures(&figures);
	source->close(state);
	lock_figures_clear(&figures);
	return r;
}

static void print_missing(void *data, const struct role_function *row, bool certain)
{
	printf("missing %s %s %s\n", row->name, row->role,
	       certain           ? "certain"
	       : row->unverified ? "unverified"
	                         : row->needs);
}

static int print_roles(void)
{
	struct utsname u;

	if (uname(&u) < 0)
		return 1;
	printf("kernel %s\n", u.release);
	return roles_check_each(role_kernel(u.release), print_missing, NULL) < 0;
}

int main(int argc, char **argv)
{
	struct source_options options = { .exclusive = true };
	const struct source *source;
	char why[256] = "";
	int r;

	if (argc == 2 && !strcmp(argv[1], "--roles"))
		return print_roles();
	source = argc > 2 ? source_find(argv[1]) : NULL;
	if (!source) {
		fprintf(stderr, "usage: lock_source SOURCE COMMAND… | lock_source --roles\n");
		return 2;
	}
	if (settings_recover() < 0)
		return 1;
	if (source->check(&options, why, sizeof(why)) < 0) {
		printf("not here: %s\n", why);
		return 77;
	}
	r = journal_new(&options.journal);
	if (r >= 0)
		r = observe(source, &options, &argv[2]);
	if (instance_any_left())
		journal_leave(options.journal);
	else
		journal_free(options.journal);
	if (r < 0)
		fprintf(stderr, "lock_source: %s\n", strerror(-r));
	return r < 0;
}
