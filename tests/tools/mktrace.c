/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes a synthetic trace of any length, with the statistics of a link by
 * ld.lld --threads (seen on 6.18 with 2 CPUs): nineteen in twenty events are
 * faults, three in five of them on the page behind the last one, one in eight far
 * away; tasks change every 57 events; gaps between events are of the order of
 * microseconds with a long tail.
 *
 * Threads of one process; each maps its regions, touches them and cuts them with
 * MADV_DONTNEED as thread stacks are cut. The same seed gives the same trace.
 */

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "common/output_file.h"
#include "traces/writer.h"

#define TIME_BASE 1000000000000ULL
#define PAGE 4096ULL
#define REGION_BYTES (64ULL << 20)
#define REGIONS 4 /* of a task */
#define SWITCH_ONE_IN 57
#define CALL_ONE_IN 50 /* a call is two events */
#define ROOT 1000

struct task {
	uint32_t id;
	uint64_t base[REGIONS];
	uint64_t at[REGIONS]; /* next page */
	unsigned region;
	unsigned mapped; /* regions so far */
};

struct maker {
	struct trace_writer *writer;
	struct task *tasks;
	uint64_t *clock; /* by CPU */
	uint32_t *running; /* task number by CPU */
	uint64_t seed, events, made;
	uint32_t cpus, task_count;
	uint64_t flush; /* events between flushes, 0: never */
};

static uint64_t random_next(struct maker *m)
{
	m->seed ^= m->seed << 13;
	m->seed ^= m->seed >> 7;
	m->seed ^= m->seed << 17;
	return m->seed;
}

static bool one_in(struct maker *m, uint64_t n)
{
	return random_next(m) % n == 0;
}

/* About 4 us, most within a factor of two, one in 200 much longer. */
static uint64_t random_gap(struct maker *m)
{
	uint64_t gap = 2000 + random_next(m) % 1500 + random_next(m) % 1500 + random_next(m) % 2000;

	if (one_in(m, 12))
		gap += random_next(m) % 16000;
	if (one_in(m, 200))
		gap += random_next(m) % 2000000;
	return gap;
}

static int put(struct maker *m, uint32_t cpu, uint32_t task, unsigned kind, const uint64_t *args)
{
	struct event e = { .cpu = cpu, .task = task, .kind = (uint16_t)kind };
	int r;

	m->clock[cpu] += random_gap(m);
	e.time = m->clock[cpu];
	memcpy(e.arg, args, event_row(kind)->args * sizeof(*args));
	r = trace_writer_event(m->writer, &e);
	m->made++;
	if (!r && m->flush && m->made % m->flush == 0)
		r = trace_writer_flush(m->writer);
	return r;
}

static int put_call(struct maker *m, uint32_t cpu, uint32_t task, unsigned call,
                    const uint64_t *args, uint64_t result)
{
	int r = put(m, cpu, task, EVENT_ENTER(call), args);

	return r ? r : put(m, cpu, task, EVENT_LEAVE(call), &result);
}

static int map_region(struct maker *m, uint32_t cpu, struct task *t)
{
	const uint64_t args[] = {
		0, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, (uint64_t)-1,
		0
	};

	return put_call(m, cpu, t->id, CALL_MMAP, args, t->base[t->mapped++]);
}

static int put_some_call(struct maker *m, uint32_t cpu, struct task *t)
{
	uint64_t base = t->base[random_next(m) % t->mapped];
	uint64_t offset = random_next(m) % (REGION_BYTES / 0x801000) * 0x801000;
	const uint64_t cut[] = { base + offset, 0x7fb000, MADV_DONTNEED };
	const uint64_t protect[] = { base + offset, 0x21000, PROT_READ | PROT_WRITE };

	if (one_in(m, 3))
		return put_call(m, cpu, t->id, CALL_MADVISE, cut, 0);
	return put_call(m, cpu, t->id, CALL_MPROTECT, protect, 0);
}

static int put_fault(struct maker *m, uint32_t cpu, struct task *t)
{
	static const uint64_t codes[] = { 4, 4, 0x14, 7 };
	uint64_t step = 1, args[2];
	uint64_t *at;

	if (one_in(m, 12))
		t->region = (unsigned)(random_next(m) % t->mapped);
	at = &t->at[t->region];
	if (one_in(m, 24))
		*at = random_next(m) % (REGION_BYTES / PAGE);
	else if (one_in(m, 3))
		step = random_next(m) % 16;
	*at = (*at + step) % (REGION_BYTES / PAGE);
	args[0] = t->base[t->region] + *at * PAGE;
	args[1] = one_in(m, 11) ? codes[random_next(m) % ARRAY_SIZE(codes)] : 6;
	return put(m, cpu, t->id, EVENT_FAULT_USER, args);
}

static int put_next(struct maker *m, uint32_t cpu)
{
	struct task *t;

	/* A task stays on its CPU: its events are in order without a word about clocks. */
	if (one_in(m, SWITCH_ONE_IN)) {
		uint32_t mine = (m->task_count - cpu + m->cpus - 1) / m->cpus;

		m->running[cpu] = cpu + (uint32_t)(random_next(m) % mine) * m->cpus;
	}
	t = &m->tasks[m->running[cpu]];
	if (t->mapped < REGIONS && (!t->mapped || one_in(m, 100)))
		return map_region(m, cpu, t);
	return one_in(m, CALL_ONE_IN) ? put_some_call(m, cpu, t) : put_fault(m, cpu, t);
}

static int put_start(struct maker *m)
{
	const uint64_t flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
	int r = 0;

	for (uint32_t i = 1; i < m->task_count && !r; i++) {
		const uint64_t args[] = { ROOT + i, flags };

		r = put(m, 0, ROOT, EVENT_NEWTASK, args);
	}
	for (uint32_t cpu = 1; cpu < m->cpus; cpu++)
		m->clock[cpu] = m->clock[0];
	return r;
}

static int put_exits(struct maker *m)
{
	uint64_t last = 0;
	int r = 0;

	for (uint32_t cpu = 0; cpu < m->cpus; cpu++)
		last = m->clock[cpu] > last ? m->clock[cpu] : last;
	for (uint32_t i = m->task_count; i-- > 0 && !r;) {
		const uint64_t group_dead = i == 0;

		m->clock[i % m->cpus] = last;
		r = put(m, i % m->cpus, m->tasks[i].id, EVENT_EXIT, &group_dead);
		last = m->clock[i % m->cpus];
	}
	return r;
}

static int make(struct maker *m)
{
	struct trace_name name = { .time = TIME_BASE, .task = ROOT, .name = "mktrace" };
	struct trace_tail tail = { .flags = TAIL_STATUS_KNOWN };
	int r = trace_writer_name(m->writer, &name);

	r = r ? r : put_start(m);
	for (uint32_t cpu = 0; m->made + m->task_count < m->events && !r; cpu = (cpu + 1) % m->cpus)
		r = put_next(m, cpu);
	r = r ? r : put_exits(m);
	for (uint32_t cpu = 0; cpu < m->cpus; cpu++)
		tail.time = m->clock[cpu] > tail.time ? m->clock[cpu] : tail.time;
	return r ? r : trace_writer_finish(m->writer, &tail);
}

static int maker_init(struct maker *m)
{
	m->tasks = calloc(m->task_count, sizeof(*m->tasks));
	m->clock = calloc(m->cpus, sizeof(*m->clock));
	m->running = calloc(m->cpus, sizeof(*m->running));
	if (!m->tasks || !m->clock || !m->running)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->task_count; i++) {
		m->tasks[i].id = ROOT + i;
		for (unsigned k = 0; k < REGIONS; k++)
			m->tasks[i].base[k] = 0x7f0000000000 - (i * REGIONS + k + 1) * REGION_BYTES;
	}
	for (uint32_t cpu = 0; cpu < m->cpus; cpu++) {
		m->clock[cpu] = TIME_BASE;
		m->running[cpu] = cpu;
	}
	return 0;
}

static int meta_init(struct trace_meta *meta, const struct maker *m)
{
	static const char *const pairs[][2] = {
		{ META_CLOCK, "mono" },
		{ META_KERNEL, "0.0-synthetic" },
		{ META_ARCH, "x86_64" },
		{ META_PAGE_SIZE, "4096" },
		{ META_ADDRESS_BITS, "47" },
		{ META_THP, "madvise" },
		{ META_ZERO_PAGE, "1" },
		{ META_TOOL, "mktrace" },
		{ META_TRACE_ID, "0123456789abcdef0123456789abcdef" },
	};
	int r = 0;

	for (size_t i = 0; i < ARRAY_SIZE(pairs) && !r; i++)
		r = trace_meta_set(meta, pairs[i][0], pairs[i][1]);
	r = r ? r : trace_meta_set_u64(meta, META_TIME_BASE, TIME_BASE);
	r = r ? r : trace_meta_set_u64(meta, META_CPUS, m->cpus);
	return r ? r : trace_meta_set_u64(meta, META_ROOT_TASK, ROOT);
}

static int run(struct maker *m, const char *path, bool force, uint32_t level)
{
	const struct trace_writer_options options = { .level = (int)level };
	struct trace_meta *meta = NULL;
	int r, fd;

	r = trace_meta_new(&meta);
	r = r ? r : meta_init(meta, m);
	r = r ? r : maker_init(m);
	if (!r) {
		fd = output_file_open(path, force);
		r = fd < 0 ? fd : trace_writer_new(&m->writer, fd, meta, &options);
	}
	r = r ? r : make(m);
	if (r < 0)
		log_error("%s: %s", path, strerror(-r));
	else
		printf("%llu events, %llu bytes, %.3f bytes per event\n",
		       (unsigned long long)trace_writer_events(m->writer),
		       (unsigned long long)trace_writer_bytes(m->writer),
		       (double)trace_writer_bytes(m->writer) /
		               (double)trace_writer_events(m->writer));
	trace_writer_free(m->writer);
	trace_meta_free(meta);
	free(m->tasks);
	free(m->clock);
	free(m->running);
	return r < 0 ? STATUS_FAILED : STATUS_DONE;
}

int main(int argc, char **argv)
{
	struct maker m = { .seed = 1, .events = 40000, .cpus = 2, .task_count = 16 };
	const char *output = NULL;
	uint32_t level = 0;
	bool force = false;
	int operands, r;
	const struct option options[] = {
		{ 'o', "output", OPTION_STRING, &output, "FILE", "the trace to write" },
		{ 0, "force", OPTION_FLAG, &force, NULL, "replace an existing file" },
		{ 'n', "events", OPTION_U64, &m.events, "N", "how many events, about (40000)" },
		{ 'c', "cpus", OPTION_U32, &m.cpus, "N", "on how many CPUs (2)" },
		{ 't', "tasks", OPTION_U32, &m.task_count, "N",
		  "threads, at least one a CPU (16)" },
		{ 0, "seed", OPTION_U64, &m.seed, "N", "another seed, another trace" },
		{ 0, "flush", OPTION_U64, &m.flush, "N", "flush every N events" },
		{ 0, "level", OPTION_U32, &level, "N", "of zstd (3)" },
		{ 0 },
	};
	const struct option_spec spec = { "mktrace -o FILE [options]",
		                          "Writes a synthetic trace for tests and benchmarks.",
		                          options };

	r = options_parse(&spec, argc, argv, &operands);
	if (r)
		return r == OPTIONS_HELP ? STATUS_DONE : STATUS_USAGE;
	if (!output || operands || !m.cpus || m.task_count < m.cpus || !m.seed) {
		log_error("needs -o FILE, no operands, a task for every CPU and a seed above 0");
		return STATUS_USAGE;
	}
	return run(&m, output, force, level);
}
