/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Layout and making of the shared state. */

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/bytes.h"
#include "common/cleanup.h"
#include "common/log.h"
#include "replay/arch_x86_64.h"
#include "replay/execute_state.h"
#include "replay/sandbox.h"

#define PAGE_BYTES 4096
/* How often a wait looks before it sleeps; a look takes about 25 ns. */
#define SPIN_LOOKS 2000 /* longer than waking a task on an idle virtual CPU takes */
#define SPIN_LOOKS_CROWDED 200 /* others need the CPU more */

/* Reserves room for count elements; false when the sum does not fit. */
static bool place(uint64_t *at, uint64_t *offset, uint64_t count, uint64_t size, uint64_t align)
{
	uint64_t bytes;

	*offset = align_up(*at, align);
	return mul_fits(count, size, &bytes) && add_fits(*offset, bytes, at);
}

static int lay_out(struct state_header *h, const struct plan_header *plan, uint32_t pin_count,
                   bool latency)
{
	uint64_t at = sizeof(*h), tasks = plan->task_count;
	uint64_t rows = latency ? run_state_rows(plan->task_count) : 0;

	if (!place(&at, &h->tasks, tasks, sizeof(struct state_task), 128) ||
	    !place(&at, &h->anchors, plan->anchor_count + 1ULL, 8, 64) ||
	    !place(&at, &h->segments, plan->segment_count + 1ULL, 8, 64) ||
	    !place(&at, &h->pins, pin_count, 4, 64) ||
	    !place(&at, &h->execs, plan->space_count, sizeof(struct state_exec), 64) ||
	    !place(&at, &h->latencies, rows * PLAN_KIND_COUNT, sizeof(struct state_latency), 64))
		return -E2BIG;
	h->prefault = align_up(at, PAGE_BYTES);
	if (!place(&at, &h->stacks, tasks, STATE_STACK_BYTES, STATE_STACK_BYTES) ||
	    at > RESERVED_END - STATE_BASE)
		return -E2BIG;
	h->bytes = at;
	return 0;
}

/* Strings and vector of an exec of this program; all addresses are those at STATE_BASE. */
static void write_exec(struct state_header *h, struct state_exec *exec, uint64_t shared,
                       uint32_t task, uint32_t space)
{
	uint64_t own = STATE_BASE + (uint64_t)((char *)exec - (char *)h);
	unsigned n = 0;

	snprintf(exec->task, sizeof(exec->task), "%u", task);
	snprintf(exec->space, sizeof(exec->space), "%u", space);
	for (unsigned i = 0; i < STATE_SHARED_WORDS; i++)
		exec->argv[n++] = shared + i * sizeof(h->words[0]);
	exec->argv[n++] = own + offsetof(struct state_exec, task);
	exec->argv[n++] = shared + STATE_SHARED_WORDS * sizeof(h->words[0]);
	exec->argv[n++] = own + offsetof(struct state_exec, space);
	exec->argv[n] = 0;
}

static void write_execs(struct state_header *h, const struct plan *plan)
{
	const struct plan_space *spaces = plan_at(plan, plan->header->spaces);
	struct state_exec *execs = (struct state_exec *)((char *)h + h->execs);
	const char *words[] = { "mmtape",  "replay-space", "--plan", NULL,
		                "--state", NULL,           "--task", "--space" };

	for (unsigned i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i])
			snprintf(h->words[i], sizeof(h->words[i]), "%s", words[i]);
	snprintf(h->words[3], sizeof(h->words[3]), "%u", h->plan_fd);
	snprintf(h->words[5], sizeof(h->words[5]), "%u", h->state_fd);
	for (uint32_t s = 0; s < plan->header->space_count; s++)
		write_exec(h, &execs[s], STATE_BASE + offsetof(struct state_header, words),
		           spaces[s].task, s);
}

static uint32_t spin_looks(const struct plan *plan, const struct execute_options *options)
{
	uint64_t tasks = plan->header->counts.peak_tasks * options->copies;
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) < 2)
		return 0;
	return tasks > (uint64_t)CPU_COUNT(&cpus) ? SPIN_LOOKS_CROWDED : SPIN_LOOKS;
}

static void write_header(struct state_header *h, const struct plan *plan,
                         const struct execute_options *options, const struct run_numbers *numbers)
{
	h->marks = options->marks;
	h->measure_latency = options->latency;
	h->spin = spin_looks(plan, options);
	h->fill = options->fill;
	h->fill_ratio = options->fill == FILL_ZERO ? 0 : options->fill_ratio;
	h->pace = options->pace;
	h->max_alive = (uint32_t)(sandbox_max_tasks() / options->copies);
	h->alive = plan->header->root_count;
	h->task_count = plan->header->task_count;
	h->anchor_count = plan->header->anchor_count;
	h->segment_count = plan->header->segment_count;
	h->plan_bytes = plan->header->bytes;
	h->self_fd = numbers->self;
	h->plan_fd = numbers->plan;
	h->state_fd = numbers->state;
	h->file_fd = numbers->file;
	strcpy(h->name, "mmtape");
}

static void fill_tables(struct state_header *h, const struct plan *plan, const uint32_t *pins,
                        uint32_t pin_count, uint32_t copy)
{
	uint64_t *bases = (uint64_t *)((char *)h + h->anchors);
	uint32_t *to = (uint32_t *)((char *)h + h->pins);

	for (uint32_t a = 1; a <= h->anchor_count; a++)
		bases[a] = STATE_NO_BASE;
	h->pin_count = pin_count;
	for (uint32_t i = 0; i < pin_count; i++)
		to[i] = pins[(i + (uint64_t)copy * h->task_count) % pin_count];
	write_execs(h, plan);
	/* Every page a task needs exists before the start: tables, and the tops of the stacks. */
	for (uint64_t at = 0; at < h->prefault; at += PAGE_BYTES)
		*((volatile char *)h + at) = *((volatile char *)h + at);
	for (uint32_t t = 0; t < h->task_count; t++) {
		volatile char *top = (char *)h + h->stacks + (t + 1ULL) * STATE_STACK_BYTES;

		top[-1] = 0;
		top[-1 - PAGE_BYTES] = 0;
	}
}

int run_state_make(struct run_state *out, const struct plan *plan,
                   const struct execute_options *options, const struct run_numbers *numbers,
                   const uint32_t *pins, uint32_t pin_count, uint32_t copy, uint64_t tick_ns)
{
	struct state_header layout = { 0 };
	int r = lay_out(&layout, plan->header, pin_count, options->latency);

	out->fd = -1;
	out->header = NULL;
	if (r >= 0) {
		out->bytes = layout.bytes;
		out->fd = memfd_create("mmtape-state", MFD_CLOEXEC);
		r = out->fd < 0 || ftruncate(out->fd, (off_t)out->bytes) < 0 ? error_errno() : 0;
	}
	if (r >= 0) {
		out->header =
			mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->fd, 0);
		if (out->header == MAP_FAILED) {
			out->header = NULL;
			r = error_errno();
		}
	}
	if (r < 0) {
		log_error("cannot make the shared state of the replay: %s", strerror(-r));
		run_state_release(out);
		return r;
	}
	*out->header = layout;
	out->header->tick_ns = tick_ns;
	write_header(out->header, plan, options, numbers);
	fill_tables(out->header, plan, pins, pin_count, copy);
	return 0;
}

void run_state_release(struct run_state *s)
{
	if (s->header)
		munmap(s->header, s->bytes);
	if (s->fd >= 0)
		close(s->fd);
	s->header = NULL;
	s->fd = -1;
}

uint64_t run_measure_tick(void)
{
	struct timespec from, to, pause = { 0, 20000000 };
	uint64_t ticks, ns;

	clock_gettime(CLOCK_MONOTONIC, &from);
	ticks = arch_ticks();
	nanosleep(&pause, NULL);
	clock_gettime(CLOCK_MONOTONIC, &to);
	ticks = arch_ticks() - ticks;
	ns = (uint64_t)(to.tv_sec - from.tv_sec) * 1000000000 + (uint64_t)to.tv_nsec -
	     (uint64_t)from.tv_nsec;
	return ticks ? (uint64_t)(((unsigned __int128)ns << 32) / ticks) : 0;
}
