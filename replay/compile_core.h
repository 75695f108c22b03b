/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of the compiler share. A trace is read twice: the survey finds
 * where each address space lies and what was in it unseen; the second pass
 * takes the events in time order and writes each task's stream.
 *
 * Two kinds of address space: a group is one made by a root or by an exec, with
 * all copies that forks made of it (it becomes a plan_space); a cspace is one
 * copy, as the second pass follows it. Addresses are the recorded ones until
 * they are placed.
 */
#pragma once

#include "common/array.h"
#include "common/map.h"
#include "replay/compile.h"
#include "replay/ranges.h"
#include "traces/calls.h"
#include "traces/descriptors.h"
#include "traces/lineage.h"
#include "traces/space.h"

#define NONE UINT32_MAX
#define USER_END (1ULL << 57) /* addresses from here on are the kernel's, or nonsense */
#define HUGE_PAGE 0x200000ULL

/* What an operation does to a range; decides which rule orders two of them. */
enum access_kind {
	ACCESS_USE,
	ACCESS_MAP,
	ACCESS_UNMAP,
	ACCESS_PROTECT,
	ACCESS_CONTENTS,
	ACCESS_KINDS,
};

struct access {
	uint64_t start, end;
	enum access_kind kind;
};

/* A recorded cluster and where it goes, in bytes. */
struct cluster {
	uint64_t start, end, to;
};

/* A mapping made before the first operation of a group, at recorded addresses. */
struct assumed {
	uint64_t start, end, offset;
	uint32_t prot, flags, file;
};

struct group {
	uint64_t time; /* of its first event */
	uint32_t task; /* that makes it */
	uint32_t process_id; /* in the trace */
	uint32_t same_process; /* group number of another space of its process, NONE */
	const struct trace_maps *snapshot; /* its mappings, read from the process; NULL */
	struct ranges slots; /* of 1 GiB that it uses */
	struct ranges ever; /* mapped by a recorded call at some time */
	struct ranges
		unseen; /* used before any recorded call mapped it; value: PROT_* of the uses */
	struct ranges made; /* of maps below */
	uint64_t brk_start; /* 0: none */
	uint64_t chosen_end, chosen_length; /* of the first mapping that the kernel chose */
	struct cluster *clusters;
	size_t cluster_count, cluster_room;
	struct assumed *maps;
	size_t map_count, map_room;
};

/* Users of a range or a page since its last exclusive operation: a list. */
struct user {
	uint32_t task, ordinal, next; /* index into deps.users, 0: end */
};

struct deps {
	struct ranges exclusive; /* value: kind, task, ordinal of the last one */
	struct ranges uses; /* value: list of range uses; lists share their tails */
	struct ranges pages; /* 2 MiB blocks with touched pages; value: struct page_users * */
	struct user *users;
	uint32_t user_count, user_room, user_free;
};

#define MAX_WANTS 64

struct want {
	uint32_t task, ordinal;
};

/* A call between its enter and its leave. */
struct flight {
	struct paired_call call;
	struct flight *next, *previous; /* of its space */
	struct cspace *space;
	struct ctask *task;
	uint64_t gone, gone_end; /* what it unmaps */
	uint64_t made, made_end; /* what it maps */
	bool active, committed, counted;
};

struct cspace {
	uint32_t group;
	struct space *model;
	struct ranges gone; /* unmapped by a call and not mapped since */
	struct ranges anchors; /* value: index into compile.anchors */
	struct ranges huge; /* value: 1 MADV_HUGEPAGE, 2 MADV_NOHUGEPAGE */
	struct ranges done; /* touched whole already (dense, region) */
	struct ranges no_fork; /* MADV_DONTFORK */
	struct ranges free; /* thp-aligned: replayed addresses to use again; value: the unmap */
	uint64_t free_next; /* thp-aligned: never used from here on */
	uint64_t brk; /* 0: not asked yet */
	uint64_t resident, inherited; /* pages counted in compile.resident, pages at the fork */
	uint64_t forks; /* made from it or before it */
	uint64_t chosen; /* mappings that the kernel placed, plus 1 */
	bool lock_future;
	bool shared; /* several tasks: conflicts are followed */
	struct deps deps;
	struct flight *flights;
	uint32_t *members; /* tasks in it since the last fork */
	uint32_t member_count, member_room;
	uint64_t barrier; /* count of forks that are barriers here */
	uint32_t barrier_task;
	uint64_t barrier_ordinal;
};

/* The touch that may become a run or a longer run. */
struct touch_run {
	size_t word; /* of its head */
	size_t end; /* words of the stream behind it */
	uint64_t first, last; /* offsets */
	uint64_t stride; /* in bytes, 0: one touch so far */
	uint64_t count;
	uint64_t head; /* without kind and notify */
};

struct pending_touch {
	uint64_t address, time;
	uint32_t code;
	bool kernel;
};

struct ctask {
	uint32_t number; /* in the lineage */
	uint32_t plan; /* in the plan */
	uint32_t parent, process; /* lineage numbers; of the leader, for good */
	uint32_t space; /* lineage number of the space its operations go to */
	uint32_t first_space;
	uint32_t vfork_child, vfork_parent; /* while one waits for the other */
	uint64_t clone_flags;
	uint32_t recorded_id;
	uint32_t threads; /* of a leader: alive in its process */
	uint32_t *ended; /* of a leader: child processes that ended and were not waited for */
	uint32_t ended_count, ended_room;
	bool born, exited, exit_deferred, exec_forced, waited;
	uint64_t *words;
	size_t word_count, word_room;
	size_t exec_word; /* of the last exec */
	size_t spawn_word; /* of the flags of the vfork it waits in */
	uint64_t ordinal;
	uint8_t *notify; /* a bit for each ordinal */
	size_t notify_bytes;
	struct map known; /* task to ordinal: what must have happened before the next operation */
	uint64_t barrier_seen;
	uint32_t barrier_space;
	uint64_t last_time;
	struct touch_run run;
	uint64_t repeat_page; /* of the last event, if it was a kernel fault */
	uint32_t repeat_access;
	struct pending_touch *pending; /* faults inside an exec */
	size_t pending_count, pending_room;
	uint32_t *free_anchors;
	uint32_t free_anchor_count, free_anchor_room;
	struct flight flight;
};

struct anchor {
	uint64_t recorded, recorded_end; /* the mapping it stands for */
	uint64_t base; /* added to offsets: 0, or with id 0 the replayed start */
	uint32_t id;
	uint32_t task; /* that made it */
	uint64_t forks; /* of its space then */
	uint64_t hole_chosen; /* cspace.chosen when a part of it was unmapped first; 0: none was */
};

struct cfile {
	uint64_t size;
	struct map windows;
};

struct compile {
	const struct compile_options *options;
	struct trace_reader *reader;
	struct lineage *lineage; /* of the pass that runs */
	struct plan_counts counts;
	uint64_t page;
	bool thp_always, thp_madvise, stack_is_small;
	struct group *groups;
	size_t group_count, group_room;
	struct map process_groups; /* process id to its last group */
	uint32_t *group_of; /* by lineage space number; NONE */
	uint32_t group_of_count, group_of_room;
	struct ctask *tasks; /* by lineage number */
	size_t task_count;
	uint32_t root_count;
	struct cspace **spaces; /* by lineage space number */
	size_t space_count, space_room;
	struct anchor *anchors;
	size_t anchor_count, anchor_room;
	uint32_t anchor_ids; /* 0 and 1 are always there */
	struct cfile *files; /* [0] is number 1 */
	size_t file_count, file_room;
	struct descriptors *descriptors;
	struct map file_index, hash_index; /* descriptor's file, hash of maps: to number */
	uint64_t file_shared; /* files beyond the limit, that share one */
	uint64_t window_count;
	struct map shm_sizes; /* by shmid */
	struct map segments; /* shmid to number + 1 */
	uint64_t words; /* of all streams */
	uint64_t start_time; /* of the first operation; UINT64_MAX before */
	uint64_t end_time;
	uint32_t last_task; /* serial: who made the last operation */
	uint64_t last_ordinal;
	uint64_t resident; /* pages now */
	uint64_t in_flight;
	struct want wants[MAX_WANTS]; /* what the operation being opened waits for */
	uint32_t want_count;
	unsigned depth; /* of early calls that make calls early */
};

#define ANCHOR_SCRAP 1 /* takes results that nothing follows */

static inline uint64_t page_down(const struct compile *c, uint64_t v)
{
	return v & ~(c->page - 1);
}

static inline uint64_t page_up(const struct compile *c, uint64_t v)
{
	return (v + c->page - 1) & ~(c->page - 1);
}

/* Room for one more element of an array. */
int grow_list(uint32_t **list, uint32_t count, uint32_t *room) _must_check_ _nonnull_;

/* compile_survey.c: the first pass. */
int compile_survey(struct compile *c) _must_check_ _nonnull_;

/* compile_assume.c: what must have been mapped unseen. */
int assume_begin(struct compile *c) _must_check_ _nonnull_;
int group_assume(struct compile *c, struct group *g) _must_check_ _nonnull_;

/* compile_place.c */
int place_group(struct compile *c, struct group *g) _must_check_ _nonnull_;
struct piece {
	uint64_t start, end; /* recorded */
	uint64_t offset; /* replayed, from the anchor */
	uint32_t anchor;
	bool outside; /* nothing of the plan can be there: no operation */
};
/* The first part of start…end that lies in one place. */
void place_piece(const struct compile *c, const struct cspace *sp, uint64_t start, uint64_t end,
                 struct piece *out) _nonnull_;
/* One place for the whole range, or an unmapped hole with the same low bits. */
bool place_whole(const struct compile *c, const struct cspace *sp, uint64_t start, uint64_t end,
                 struct piece *out) _nonnull_;
#define HOLE_BYTES (1ULL << 42)
/* The kernel may have put another mapping into a hole of this range. */
bool place_holes_taken(const struct compile *c, const struct cspace *sp, uint64_t start,
                       uint64_t end) _nonnull_;
void place_hole(const struct compile *c, uint64_t start, struct piece *out) _nonnull_;
/* A new mapping that the kernel chose (or, thp-aligned, that we choose). */
int place_choose(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                 uint64_t end, bool aligned, struct piece *out) _must_check_ _nonnull_;
/* The range was mapped at its own address / was unmapped. */
int place_fixed(struct compile *c, struct cspace *sp, uint64_t start,
                uint64_t end) _must_check_ _nonnull_;
int place_unmapped(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                   uint64_t end) _must_check_ _nonnull_;

/* compile_emit.c: streams. op_open, op_emit once or more, op_close. */
int op_open(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t time,
            const struct access *access, size_t count) _must_check_ _nonnull_args_(1, 2, 3);
int op_emit(struct compile *c, struct ctask *t, uint64_t head, const uint64_t *operands,
            unsigned count) _must_check_ _nonnull_args_(1, 2);
int op_close(struct compile *c, struct ctask *t, struct cspace *sp, const struct access *access,
             size_t count) _must_check_ _nonnull_args_(1, 2, 3);
int emit_word(struct compile *c, struct ctask *t, uint64_t word) _must_check_ _nonnull_;
/* Makes t wait for an operation of another task, unless that is known to be done. */
int emit_wait(struct compile *c, struct ctask *t, uint32_t task,
              uint64_t ordinal) _must_check_ _nonnull_;
bool is_known(const struct ctask *t, uint32_t task, uint64_t ordinal) _nonnull_;
bool is_notified(const struct ctask *t, uint64_t ordinal) _nonnull_;
int refuse_call(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call) _must_check_ _nonnull_;
/* The same for what lies outside every known range. */
int skip_call(struct compile *c, struct ctask *t, struct cspace *sp,
              const struct paired_call *call) _must_check_ _nonnull_;

/* compile_range.c: an operation on a range, in pieces where places meet. */
struct range_op {
	enum plan_kind kind;
	unsigned flags, error, small;
	uint64_t start, end; /* whole pages */
	uint64_t length; /* as recorded */
	uint64_t extra; /* third operand of MBIND */
};
int range_emit(struct compile *c, struct ctask *t, const struct cspace *sp,
               const struct range_op *op) _must_check_ _nonnull_;
/* Opens, emits, closes and counts. */
int range_call(struct compile *c, struct ctask *t, struct cspace *sp,
               const struct paired_call *call, const struct range_op *op,
               enum access_kind kind) _must_check_ _nonnull_;

/* compile_layout.c */
int compile_layout(struct compile *c, struct plan *out) _must_check_ _nonnull_;

/* compile_order.c: conflicts within one space. order_flush() emits what was found to wait for. */
int order_flush(struct compile *c, struct ctask *t) _must_check_ _nonnull_;
int order_before(struct compile *c, struct ctask *t, struct cspace *sp,
                 const struct access *a) _must_check_ _nonnull_;
int order_after(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct access *a) _must_check_ _nonnull_;
int order_touch_before(struct compile *c, struct ctask *t, struct cspace *sp,
                       uint64_t page) _must_check_ _nonnull_;
int order_touch_after(struct compile *c, struct ctask *t, struct cspace *sp,
                      uint64_t page) _must_check_ _nonnull_;
void deps_clear(struct deps *d) _nonnull_;

/* compile_space.c */
struct cspace *space_get(struct compile *c, uint32_t number, int *err) _nonnull_;
int space_copy(struct compile *c, struct cspace *from, uint32_t to) _must_check_ _nonnull_;
void space_drop(struct compile *c, uint32_t number) _nonnull_;
int space_join(struct cspace *sp, uint32_t task) _must_check_ _nonnull_;
void space_account(struct compile *c, struct cspace *sp) _nonnull_;
/* Memory of the range is there and was never unmapped; made if it was never seen. */
int space_need(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start, uint64_t end,
               uint32_t prot, uint64_t time) _must_check_ _nonnull_;

/* compile_flight.c: calls under way. */
int flight_enter(struct compile *c, struct ctask *t,
                 const struct paired_call *call) _must_check_ _nonnull_;
int flight_leave(struct compile *c, struct ctask *t,
                 const struct paired_call *call) _must_check_ _nonnull_;
void flight_end(struct compile *c, struct ctask *t) _nonnull_;
/* Memory was returned there: calls of others that unmap it came first. */
int flight_settle_gone(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end) _must_check_ _nonnull_;
/* Memory is used there: calls of others that map it came first. */
int flight_settle_made(struct compile *c, struct ctask *t, struct cspace *sp, uint64_t start,
                       uint64_t end) _must_check_ _nonnull_;

/* compile_calls.c: a call that returned. */
int call_commit(struct compile *c, struct ctask *t, struct cspace *sp,
                const struct paired_call *call) _must_check_ _nonnull_;
bool call_has_operation(unsigned call);

typedef int call_fn(struct compile *c, struct ctask *t, struct cspace *sp,
                    const struct paired_call *call);
call_fn call_mmap, call_munmap, call_mremap, call_brk, call_shmat, call_shmdt;
call_fn call_madvise, call_mprotect, call_mlock, call_mlockall, call_munlockall, call_mbind;
call_fn call_mseal, call_prctl;
call_fn call_wait4, call_waitid;

/* compile_touch.c */
int compile_fault(struct compile *c, struct ctask *t, const struct event *e) _must_check_ _nonnull_;
int touch_pending(struct compile *c, struct ctask *t) _must_check_ _nonnull_;

/* compile_tasks.c */
int task_spawn(struct compile *c, struct ctask *t, const struct event *e) _must_check_ _nonnull_;
int task_exec(struct compile *c, struct ctask *t, const struct event *e) _must_check_
	_nonnull_args_(1, 2);
int task_exit(struct compile *c, struct ctask *t, uint64_t time) _must_check_ _nonnull_;
/* Those that never went on from a vfork, or never arrived in an exec: the trace ends before. */
void task_finish(struct compile *c, struct ctask *t) _nonnull_;
/* Before an event of t: if it waited for a vfork child, that is over. */
int task_resume(struct compile *c, struct ctask *t, const struct event *e) _must_check_ _nonnull_;

/* compile_files.c */
int files_item(struct compile *c, const struct item *item, uint32_t task) _must_check_ _nonnull_;
int files_of_descriptor(struct compile *c, const struct ctask *t, uint64_t fd,
                        uint32_t *file) _must_check_ _nonnull_;
int files_of_hash(struct compile *c, uint64_t hash, uint32_t *file) _must_check_ _nonnull_;
/* The file reaches to there; false: no file can. */
bool files_need(struct compile *c, uint32_t file, uint64_t offset, uint64_t length) _nonnull_;
/* Pages that are touched: their windows are filled. */
int files_touch(struct compile *c, uint32_t file, uint64_t offset,
                uint64_t length) _must_check_ _nonnull_;
