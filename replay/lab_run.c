/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lab's work: which kernel boots next, and what becomes of what it sends. */

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/result.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/lab_initrd.h"
#include "replay/lab_report.h"
#include "replay/lab_run.h"

struct lab {
	const struct lab_setup *setup;
	char folder[64]; /* of our own files */
	char initrds[3][96]; /* by enum lab_part; empty: not made */
	unsigned failed, incomplete;
	bool stop;
};

static int make_initrd(struct lab *lab, enum lab_part part)
{
	if (lab->initrds[part][0])
		return 0;
	snprintf(lab->initrds[part], sizeof(lab->initrds[part]), "%s/initrd-%d", lab->folder,
	         (int)part);
	return lab_initrd_run(lab->setup, part, lab->initrds[part]);
}

static int put(json_t *object, const char *key, json_t *value)
{
	return value && !json_object_set_new(object, key, value) ? 0 : -ENOMEM;
}

/* What the guest cannot know of itself. */
static int describe(const struct lab *lab, struct result *r)
{
	const struct lab_setup *s = lab->setup;
	const struct lab_machine *m = &s->machine;
	json_t *to = result_provenance(r);
	const char *slash = s->trace ? strrchr(s->trace, '/') : NULL;
	int e = put(to, "lab",
	            json_pack("{s:s, s:s, s:i, s:I, s:b}", "accel", m->kvm ? "kvm" : "tcg", "cpu",
	                      m->kvm ? "host" : "max,-hypervisor", "virtual_cpus", (int)m->cpus,
	                      "real_cpus", (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "emulated",
	                      !m->kvm));

	if (e >= 0 && s->trace)
		e = put(to, "trace", json_string(slash ? slash + 1 : s->trace));
	return e;
}

/* What came over the line is read as any file would be: it is not trusted more. */
static int read_result(const struct lab *lab, const struct lab_outcome *o, struct result **out)
{
	char path[96];
	_cleanup_close_ int fd = -1;
	int r;

	snprintf(path, sizeof(path), "%s/result.json", lab->folder);
	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, o->result.data, o->result.len) != (ssize_t)o->result.len) {
		log_error("%s: %s", path, strerror(errno));
		return error_errno();
	}
	r = result_read(out, path);
	if (r >= 0)
		r = describe(lab, *out);
	return r;
}

/* One boot of one image; *out is NULL where no result came. */
static int boot_image(struct lab *lab, const struct lab_kernel *k, const char *image,
                      enum lab_part part, unsigned boot, struct result **out)
{
	struct lab_outcome o;
	int r = make_initrd(lab, part);

	*out = NULL;
	if (r >= 0)
		r = lab_qemu_run(&lab->setup->machine, image, lab->initrds[part], &o);
	if (r < 0)
		return r;
	lab->stop |= o.end == LAB_END_INTERRUPTED;
	if (lab_report_boot(k->name, boot, &lab->setup->machine, &o) && o.result.len)
		r = read_result(lab, &o, out);
	lab->incomplete += o.end == LAB_END_DONE && o.status == STATUS_INCOMPLETE;
	lab_outcome_clear(&o);
	return r;
}

static int boot_kernel(struct lab *lab, const struct lab_kernel *k, unsigned boot,
                       struct result **out)
{
	struct result *timed = NULL;
	int r = boot_image(lab, k, k->image, k->timed ? LAB_PART_COUNT : LAB_PART_ALL, boot, out);

	if (r < 0 || !k->timed || !*out)
		return r;
	r = boot_image(lab, k, k->timed, LAB_PART_TIME, boot, &timed);
	if (r >= 0 && timed)
		r = result_join_passes(timed, *out);
	result_free(*out);
	*out = r >= 0 ? take_ptr(timed) : NULL;
	result_free(timed);
	return r;
}

static void kernel_path(const struct lab *lab, const struct lab_kernel *k, const char *end,
                        char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/%s.json%s", lab->setup->output, k->name, end);
}

/* The new file takes the old one's place only when it is whole. */
static int keep(const struct lab *lab, const struct lab_kernel *k, struct result *boot,
                unsigned number)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	struct result *all = NULL;
	int r = 0;

	kernel_path(lab, k, "", path);
	kernel_path(lab, k, ".new", fresh);
	if (number) {
		r = result_read(&all, path);
		if (r >= 0)
			r = result_append(all, boot, number);
	}
	if (r >= 0)
		r = result_write(all ? all : boot, fresh, true);
	if (r >= 0 && rename(fresh, path) < 0) {
		r = error_errno();
		log_error("%s: %s", path, strerror(-r));
	}
	result_free(all);
	return r;
}

/* How many boots the folder has of this kernel already; -EEXIST where they are in the way. */
static int boots_there(const struct lab *lab, const struct lab_kernel *k, unsigned *out)
{
	const struct lab_setup *s = lab->setup;
	char path[PATH_MAX];
	struct result *have;
	int r;

	*out = 0;
	kernel_path(lab, k, "", path);
	if (access(path, F_OK) < 0)
		return 0;
	if (s->resume) {
		r = result_read(&have, path);
		if (r >= 0) {
			*out = result_next_boot(have);
			result_free(have);
		}
		return r;
	}
	if (s->force)
		return unlink(path) < 0 ? error_errno() : 0;
	log_error("%s is there: --resume adds boots to it, --force replaces it", path);
	return -EEXIST;
}

static int boot_once(struct lab *lab, size_t kernel, unsigned boot)
{
	const struct lab_kernel *k = &lab->setup->kernels[kernel];
	struct result *result;
	int r;

	log_progress("%s, boot %u of %u", k->name, boot + 1, lab->setup->boots);
	r = boot_kernel(lab, k, boot, &result);
	log_progress_end();
	if (r >= 0 && result) {
		char path[PATH_MAX];

		/* A boot that failed leaves no gap: the next one takes its number. */
		kernel_path(lab, k, "", path);
		r = 0;
		if (!access(path, F_OK)) {
			struct result *have;

			r = result_read(&have, path);
			if (r >= 0) {
				boot = result_next_boot(have);
				result_free(have);
			}
		} else {
			boot = 0;
		}
		if (r >= 0)
			r = keep(lab, k, result, boot);
	} else {
		lab->failed++;
	}
	result_free(result);
	return r;
}

/* Kernels take turns, and so does which of them goes first. */
static int boot_all(struct lab *lab, const unsigned *have)
{
	const struct lab_setup *s = lab->setup;
	int r = 0;

	for (unsigned boot = 0; boot < s->boots && r >= 0; boot++)
		for (size_t i = 0; i < s->kernel_count && r >= 0 && !lab->stop; i++) {
			size_t kernel = boot % 2 ? s->kernel_count - 1 - i : i;

			if (boot >= have[kernel])
				r = boot_once(lab, kernel, boot);
		}
	return r;
}

static bool has_result(const struct lab *lab, size_t kernel)
{
	char path[PATH_MAX];

	kernel_path(lab, &lab->setup->kernels[kernel], "", path);
	return !access(path, F_OK);
}

static int status_of(const struct lab *lab, int r)
{
	size_t results = 0;

	for (size_t i = 0; i < lab->setup->kernel_count; i++)
		results += has_result(lab, i);
	if (r < 0 || lab->stop || !results)
		return STATUS_FAILED;
	return lab->failed || lab->incomplete || results < lab->setup->kernel_count
	               ? STATUS_INCOMPLETE
	               : STATUS_DONE;
}

static int prepare(struct lab *lab, unsigned *have)
{
	const char *tmp = getenv("TMPDIR");
	int r = 0;

	if (mkdir(lab->setup->output, 0755) < 0 && errno != EEXIST) {
		log_error("%s: %s", lab->setup->output, strerror(errno));
		return error_errno();
	}
	for (size_t i = 0; i < lab->setup->kernel_count && r >= 0; i++)
		r = boots_there(lab, &lab->setup->kernels[i], &have[i]);
	if (r < 0)
		return r;
	snprintf(lab->folder, sizeof(lab->folder), "%s/mmtape-lab.XXXXXX",
	         tmp && strlen(tmp) < 32 ? tmp : "/tmp");
	if (mkdtemp(lab->folder))
		return 0;
	log_error("%s: %s", lab->folder, strerror(errno));
	lab->folder[0] = 0;
	return error_errno();
}

static void clean(const struct lab *lab)
{
	char path[96];

	if (!lab->folder[0])
		return;
	for (int part = 0; part < 3; part++)
		if (lab->initrds[part][0])
			unlink(lab->initrds[part]);
	snprintf(path, sizeof(path), "%s/result.json", lab->folder);
	unlink(path);
	rmdir(lab->folder);
}

int lab_run(const struct lab_setup *s)
{
	struct lab lab = { .setup = s };
	unsigned have[LAB_MAX_KERNELS] = { 0 };
	int r = prepare(&lab, have);

	if (r >= 0)
		r = boot_all(&lab, have);
	clean(&lab);
	return status_of(&lab, r);
}
