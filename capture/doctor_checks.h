/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The questions of doctor.c's table, one function each, and how they answer. */
#pragma once

#include "capture/doctor.h"

void doctor_yes(struct doctor_answer *a, const char *fmt, ...) _printf_(2, 3);
/* The remedy may be "". */
void doctor_no(struct doctor_answer *a, const char *remedy, const char *fmt, ...) _printf_(3, 4);
/* With a sentence "cause: remedy", as the checks of other modules give it. */
void doctor_no_sentence(struct doctor_answer *a, const char *sentence) _nonnull_;

/* A line more; NULL without memory. Valid until the next. */
struct doctor_answer *doctor_add(struct doctor_report *report, const char *topic, const char *name,
                                 unsigned need) _must_check_ _nonnull_;

/* Whether the effective set has a capability, by its number. */
bool doctor_has_capability(unsigned capability);
/* The remedy where one is missing: to be root, or to let root have it. */
const char *doctor_need_capability(void);

void doctor_ask_kernel(struct doctor_answer *a);
void doctor_ask_tracefs(struct doctor_answer *a);
void doctor_ask_syscall_events(struct doctor_answer *a);
void doctor_ask_fault_events(struct doctor_answer *a);
void doctor_ask_task_events(struct doctor_answer *a);
void doctor_ask_io_uring(struct doctor_answer *a);

void doctor_ask_heap(struct doctor_answer *a);
void doctor_ask_memlock(struct doctor_answer *a);
void doctor_ask_journal(struct doctor_answer *a);
void doctor_ask_overcommit(struct doctor_answer *a);
void doctor_ask_thp(struct doctor_answer *a);
void doctor_ask_thp_sizes(struct doctor_answer *a);
void doctor_ask_zero_page(struct doctor_answer *a);
void doctor_ask_nodes(struct doctor_answer *a);
void doctor_ask_memory_cgroup(struct doctor_answer *a);
void doctor_ask_swap(struct doctor_answer *a);
void doctor_ask_zram(struct doctor_answer *a);

/* Every lock source. */
int doctor_each_source(struct doctor_report *report);
void doctor_ask_spinlocks(struct doctor_answer *a);
void doctor_ask_symbols(struct doctor_answer *a);
void doctor_ask_perf(struct doctor_answer *a);
void doctor_ask_kprobes(struct doctor_answer *a);
void doctor_ask_histograms(struct doctor_answer *a);
void doctor_ask_profiler(struct doctor_answer *a);
void doctor_ask_roles(struct doctor_answer *a);

void doctor_ask_qemu(struct doctor_answer *a);
void doctor_ask_kvm(struct doctor_answer *a);
void doctor_ask_serial(struct doctor_answer *a);
