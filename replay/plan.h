/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A trace compiled for replay: tables and, per task, a stream of 64-bit words.
 * It lies in one shared memory object that the replaying processes map, read
 * only, at PLAN_BASE; offsets are in bytes from its start. It never leaves the
 * machine that made it, so its structs are native.
 *
 * Every operation is a head word and operand words:
 *
 *   bits  0…7   kind (enum plan_kind)
 *   bits  8…15  flags (enum plan_flags)
 *   bits 16…23  errno the recording saw, 0 for success
 *   bits 24…31  small operand (advice, prot, 1 for a write touch …)
 *   bits 32…63  index operand (anchor, child task, space …)
 *
 * An address operand is an offset from an anchor: the engine adds base[anchor]
 * of its copy. Anchor 0 has base 0, so with placement `traced` offsets are
 * addresses and nothing is looked up elsewhere.
 *
 * Operations of a task have ordinals from 1. Pseudo operations (PLAN_WAIT,
 * PLAN_TIME, PLAN_END) have none. An operation that another task waits for is
 * flagged PLAN_NOTIFY: the engine stores its ordinal as the task's progress
 * when it is done. Ordinals make a mismatch traceable to its operation.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "traces/event.h"

/* Where the replayer's shared memory lies: below every cluster, above what kernels choose. */
#define PLAN_BASE 0x010000000000ULL /* 1 TiB */
#define STATE_BASE 0x020000000000ULL /* 2 TiB */
#define RESERVED_END 0x030000000000ULL /* 3 TiB */
/* Clusters of recorded addresses are moved into this window (x86-64, 47 bits). */
#define CLUSTER_BASE 0x040000000000ULL /* 4 TiB */
#define CLUSTER_END 0x500000000000ULL /* 80 TiB; position-independent programs start above */

enum plan_kind {
	PLAN_END = 0, /* the stream's end; a task that was never seen to exit stays until told */
	PLAN_WAIT, /* bits 8…31 task, bits 32…63 ordinal: progress[task] >= ordinal */
	PLAN_TIME, /* bits 8…63: ns after the start; only with a pace */
	PLAN_TOUCH, /* offset; small: 1 write; index: anchor; errno EFAULT: it must fail */
	PLAN_TOUCH_RUN, /* offset, count:u32 | stride in pages:u32 << 32; as above */
	PLAN_MMAP, /* offset, length, flags:u32 | file:u32 << 32, file offset (only if file != 0) */
	PLAN_MUNMAP, /* offset, length */
	PLAN_MREMAP, /* offset, old length, new length, new offset, flags:u32 | anchor:u32 << 32 */
	PLAN_MADVISE, /* offset, length; small: advice */
	PLAN_MPROTECT, /* offset, length; small: PROT_READ|WRITE|EXEC, 8: GROWSDOWN, 16: GROWSUP */
	PLAN_BRK, /* new break, 0 to ask; anchor always 0 */
	PLAN_MLOCK, /* offset, length */
	PLAN_MLOCK2, /* offset, length; small: flags */
	PLAN_MUNLOCK, /* offset, length */
	PLAN_MBIND, /* offset, length, mode:u32 | flags:u32 << 32; without a node mask */
	PLAN_SHMAT, /* offset, size; small: 1 read only; index anchor; next word: segment number */
	PLAN_SHMDT, /* offset */
	PLAN_MSEAL, /* offset, length */
	PLAN_PRCTL, /* option, arg2, offset (arg3), arg4; index: anchor of arg3 */
	PLAN_REFUSED, /* call:u64: counted, not made (not on a white list, or unreadable) */
	PLAN_SPAWN, /* clone flags; index: child task */
	PLAN_EXEC, /* index: the space it makes */
	PLAN_EXIT, /* the task ends */
	PLAN_WAIT_CHILD, /* index: child task; wait4 for it */
	PLAN_KIND_COUNT,
};

enum plan_flags {
	PLAN_NOTIFY = 1 << 0, /* publish the ordinal when done */
	PLAN_CHOOSE = 1 << 1, /* MMAP, MREMAP, SHMAT: the kernel chooses; the result becomes the
	                         anchor's base */
	PLAN_ASSUMED =
		1 << 2, /* not recorded: made so that what follows can run; not counted as a call */
	PLAN_CONT = 1 << 3, /* a further piece of the recorded call before it */
	PLAN_UNCHECKED = 1 << 4, /* its result depends on something that is not replayed */
};

static inline uint64_t plan_head(enum plan_kind kind, unsigned flags, unsigned error,
                                 unsigned small, uint32_t index)
{
	return (uint64_t)kind | (uint64_t)(flags & 0xff) << 8 | (uint64_t)(error & 0xff) << 16 |
	       (uint64_t)(small & 0xff) << 24 | (uint64_t)index << 32;
}

static inline enum plan_kind plan_head_kind(uint64_t head)
{
	return (enum plan_kind)(head & 0xff);
}

static inline unsigned plan_head_flags(uint64_t head)
{
	return (head >> 8) & 0xff;
}

static inline unsigned plan_head_errno(uint64_t head)
{
	return (head >> 16) & 0xff;
}

static inline unsigned plan_head_small(uint64_t head)
{
	return (head >> 24) & 0xff;
}

static inline uint32_t plan_head_index(uint64_t head)
{
	return (uint32_t)(head >> 32);
}

/* Words of an operation after its head. */
unsigned plan_operands(const uint64_t *op) _nonnull_;

/* One recorded task from its start to its end, through all its execs. */
struct plan_task {
	uint64_t words; /* offset of its stream */
	uint64_t word_count;
	uint64_t operations; /* highest ordinal */
	uint64_t clone_flags; /* 0 for a root */
	uint32_t space; /* where it starts */
	uint32_t parent; /* PLAN_NONE for a root */
	uint32_t process; /* task number of its leader */
	uint32_t recorded_id;
};

#define PLAN_NONE UINT32_MAX

/* An address space made by a root or by an exec; forks inherit and have none of their own. */
struct plan_space {
	uint64_t maps; /* offset of the mappings to be made before its first operation */
	uint32_t map_count;
	uint32_t task; /* the task that makes it */
	uint64_t brk_start, brk; /* replayed addresses; 0: no heap */
	/*
	 * Where the first mapping that the kernel chose ended in the recording, 0 if
	 * unknown, and its length. The engine gives the free area below its top the
	 * same phase modulo PLAN_PHASE: a random start would move every mapping
	 * against huge pages and fault-around windows.
	 */
	uint64_t chosen_end, chosen_length;
};

#define PLAN_PHASE (2u << 20)

struct plan_map {
	uint64_t address, length; /* replayed */
	uint64_t file_offset;
	uint32_t file; /* 0: anonymous */
	uint32_t prot;
	uint32_t flags; /* MAP_PRIVATE or MAP_SHARED and what goes with it; without MAP_FIXED */
	uint32_t anchor;
};

/* A scratch file. Windows of 16 pages around what is touched are filled before the start. */
struct plan_file {
	uint64_t size; /* bytes, a multiple of the page size */
	uint64_t windows; /* offset of the u64 file offsets of its 64 KiB windows */
	uint64_t window_count;
};

enum plan_placement { PLACE_TRACED, PLACE_KERNEL, PLACE_THP_ALIGNED };
enum plan_order { ORDER_DEPS, ORDER_SERIAL };
enum plan_touch { TOUCH_RECORDED, TOUCH_DENSE, TOUCH_REGION };

/* The rules of the `deps` order; all on, but for tests that show that each is needed. */
enum plan_rule {
	RULE_USE_AFTER_MAP = 1 << 0, /* a use waits for the mapping it uses */
	RULE_UNMAP_AFTER_USE = 1 << 1, /* an unmap waits for earlier uses */
	RULE_MAP_AFTER_UNMAP = 1 << 2, /* an address is mapped again only when it is free */
	RULE_FAULT_BEFORE_UNMAP = 1 << 3, /* a fault while its range is being unmapped came first */
	RULE_PROTECT = 1 << 4, /* mprotect, mlock and lasting advice against uses, both ways */
	RULE_CONTENTS = 1 << 5, /* DONTNEED and FREE against touches, both ways */
	RULE_FORK = 1 << 6, /* fork is a barrier on its space */
	RULE_ALL = (1 << 7) - 1,
};

/* What a compilation counted; goes into the result's fidelity block. */
struct plan_counts {
	uint64_t operations; /* all with ordinals */
	uint64_t words; /* of the streams */
	uint64_t calls[CALL_COUNT]; /* recorded and planned, by call */
	uint64_t refused[CALL_COUNT]; /* recorded, not replayable */
	uint64_t touches; /* base touches planned */
	uint64_t recorded_faults; /* user and kernel */
	uint64_t recorded_kernel_faults;
	uint64_t assumed_maps;
	uint64_t assumed_bytes;
	uint64_t emulated; /* operations replayed by other means, e.g. brk by fixed mappings */
	uint64_t split; /* recorded calls that became several */
	uint64_t waits; /* cross-task waits planned */
	uint64_t unknown_files; /* file mappings whose file is known only by its descriptor */
	uint64_t skipped; /* recorded operations outside every known range: left out */
	uint64_t dropped_faults; /* repeats, NUMA hints, kernel addresses: no touches */
	uint64_t orphans; /* calls without enter or leave: left out */
	uint64_t lost; /* events lost in the trace */
	uint64_t peak_bytes; /* estimate of resident memory, one copy */
	uint64_t peak_tasks; /* alive at once */
	uint64_t peak_calls; /* calls in flight at once, as recorded */
	uint64_t
		placed_large; /* anonymous, of a huge page or more, placed by the recorded kernel */
	uint64_t placed_aligned; /* of these, how many began at a huge page */
	uint64_t mappings; /* of the first root's space when it exits, merged as kernels merge */
	uint64_t duration; /* ns, first to last operation */
};

struct plan_header {
	uint64_t magic;
	uint64_t bytes; /* of the whole object */
	uint64_t tasks, spaces, files; /* offsets of the tables */
	uint32_t task_count, space_count, file_count, anchor_count;
	uint32_t segment_count; /* SysV segments */
	uint32_t root_count; /* tasks 0 … root_count-1 are roots */
	uint32_t page_size;
	uint8_t placement, order, touch, pace; /* pace: 1 if PLAN_TIME words are there */
	uint8_t zero_page; /* recorded: a read fault maps the zero page */
	uint8_t reserved[3];
	struct plan_counts counts;
};

#define PLAN_MAGIC 0x6e616c706d6dULL /* "mmplan" */
