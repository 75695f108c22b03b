/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms of lock entries: their text, and adding them up by role. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "capture/entries.h"
#include "capture/hist.h"
#include "common/cleanup.h"

static const char *const by_caller =
	"# event histogram\n#\n"
	"# trigger info: hist:keys=caller.sym,common_flags:vals=hitcount:size=2048 [active]\n#\n\n"
	"{ caller: [ffffffff811e2498] __pte_offset_map_lock     , common_flags:   0 } "
	"hitcount:      33725\n"
	"{ caller: [ffffffff811f0288] free_pcppages_bulk     , common_flags:   36 } hitcount: 94\n"
	"{ caller: [ffffffff811f0288] free_pcppages_bulk     , common_flags:   16 } hitcount: 6\n"
	"{ caller: [ffffffff81079b87] raw_spin_rq_lock_nested , common_flags: 9 } hitcount: 994\n"
	"{ caller: [ffffffff811bef98] deferred_split_folio , common_flags: 0 } hitcount: 5\n"
	"{ caller: [ffffffff811beeff] frobnicate , common_flags: 0 } hitcount: 176\n"
	"\nTotals:\n    Hits: 35000\n    Entries: 6\n    Dropped: 0\n";

static const char *const by_stack =
	"# event histogram\n#\n# trigger info: hist:keys=caller.sym,common_stacktrace "
	"[active]\n#\n\n"
	"{ caller: [ffffffff811bef98] deferred_split_folio , common_stacktrace:\n"
	"         kprobe_ftrace_handler+0x151/0x18a\n"
	"         0xffffffffa00000e7\n"
	"         _raw_spin_lock_irqsave+0x5/0x1c\n"
	"         folio_remove_rmap_ptes+0x92/0xb7\n"
	"         madvise_vma_behavior+0x664/0x6d1\n"
	"} hitcount:          4\n"
	"{ caller: [ffffffff811bef98] deferred_split_folio , common_stacktrace:\n"
	"         _raw_spin_lock_irqsave+0x5/0x1c\n"
	"         deferred_split_folio+0x5/0x1c\n"
	"         do_huge_pmd_anonymous_page+0x92/0xb7\n"
	"         __handle_mm_fault+0x664/0x6d1\n"
	"} hitcount:          1\n"
	"\nTotals:\n    Hits: 5\n    Entries: 2\n    Dropped: 3\n";

static int count_entry(void *data, const struct hist_entry *e)
{
	*(uint64_t *)data += e->hits;
	return 0;
}

static int parse(const char *text, uint64_t *hits, struct hist_totals *totals)
{
	_cleanup_free_ char *copy = strdup(text);

	*hits = 0;
	assert_non_null(copy);
	return hist_parse(copy, totals, count_entry, hits);
}

static void test_text_of_both_keys(void **state)
{
	struct hist_totals totals;
	uint64_t hits;
	char both[4096];

	assert_int_equal(parse(by_caller, &hits, &totals), 0);
	assert_int_equal(hits, 35000);
	assert_int_equal(totals.hits, 35000);
	assert_int_equal(parse(by_stack, &hits, &totals), 0);
	assert_int_equal(hits, 5);
	assert_int_equal(totals.dropped, 3);
	/* A block for each trigger of the event. */
	snprintf(both, sizeof(both), "%s%s", by_caller, by_stack);
	assert_int_equal(parse(both, &hits, &totals), 0);
	assert_int_equal(hits, 35005);
	assert_int_equal(totals.hits, 35005);
	assert_int_equal(totals.dropped, 3);
}

static void test_bad_text(void **state)
{
	static const char *const bad[] = {
		"",
		"\n",
		"hello\n",
		"# event histogram\n",
		"Totals:\n    Hits: 1\n",
		"Totals:\n    Hits: x\n    Entries: 1\n    Dropped: 0\n",
		"Totals:\n    Hits: 99999999999999999999999\n    Entries: 1\n    Dropped: 0\n",
		"Totals:\n    Hits: 1\n    Entries: 1\n    Dropped: 0",
		"{ caller: [ffff] a , common_flags: 0 } hitcount: 1\n",
		"{ caller: [ffff] a , common_flags: 999 } hitcount: 1\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , common_flags: 0 } hitcount: -1\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , common_flags: 0\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] , common_flags: 0 } hitcount: 1\nTotals:\n    Dropped: 0\n",
		"{ caller: ffff a , common_flags: 0 } hitcount: 1\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , common_pid: 0 } hitcount: 1\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , stacktrace:\n} hitcount: 1\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , stacktrace:\n  b+0x1\n\nTotals:\n    Dropped: 0\n",
		"{ caller: [ffff] a , stacktrace:\n  b+0x1\nTotals:\n    Dropped: 0\n",
		"{ common_pid: 5 } hitcount: 1\nTotals:\n    Dropped: 0\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct hist_totals totals;
		uint64_t hits;

		if (parse(bad[i], &hits, &totals) != -EBADMSG)
			fail_msg("accepted: %s", bad[i]);
	}
}

static void test_deep_stack(void **state)
{
	char text[4096] = "{ caller: [ffff] a , stacktrace:\n";
	struct hist_totals totals;
	uint64_t hits;

	for (int i = 0; i < HIST_FRAMES + 1; i++)
		strcat(text, "  f+0x1/0x2\n");
	strcat(text, "} hitcount: 1\nTotals:\n    Dropped: 0\n");
	assert_int_equal(parse(text, &hits, &totals), -EBADMSG);
}

/* Whatever byte is cut off or changed: an answer, no crash. */
static void test_cut_anywhere(void **state)
{
	for (size_t length = 0; length < strlen(by_stack); length++) {
		char text[4096];
		struct hist_totals totals;
		uint64_t hits;

		snprintf(text, sizeof(text), "%.*s", (int)length, by_stack);
		assert_int_equal(parse(text, &hits, &totals), -EBADMSG);
		snprintf(text, sizeof(text), "%s", by_stack);
		text[length] ^= 0x15;
		(void)!parse(text, &hits, &totals);
	}
}

static void add_up(struct entries_sum *sum, const char *text)
{
	_cleanup_free_ char *copy = strdup(text);
	struct hist_totals totals;

	assert_non_null(copy);
	sum->point = "_raw_spin_lock_irqsave";
	assert_int_equal(hist_parse(copy, &totals, entries_add, sum), 0);
}

static double acquisitions(struct lock_figures *f, const char *role, enum role_side side,
                           const char *path)
{
	size_t before = f->count;
	const struct lock_figure *figure = lock_figures_at(f, role, side, path);

	assert_int_equal(f->count, before);
	return figure->acquisitions;
}

static void test_sums_by_role_side_and_path(void **state)
{
	struct lock_figures f = { 0 };
	struct entries_sum sum = { .kernel = ROLE_KERNEL(6, 12), .stacks = true, .figures = &f };

	add_up(&sum, by_caller);
	add_up(&sum, by_stack);
	entries_finish(&sum, 0);
	assert_true(acquisitions(&f, "page-table", ROLE_SIDE_NONE, NULL) == 33725);
	assert_true(acquisitions(&f, "zone-free", ROLE_SIDE_NONE, NULL) == 100);
	assert_true(acquisitions(&f, "zone", ROLE_SIDE_NONE, NULL) == 100);
	assert_true(acquisitions(&f, "sched", ROLE_SIDE_NONE, NULL) == 994);
	assert_true(acquisitions(&f, "unresolved", ROLE_SIDE_NONE, NULL) == 176);
	/* Counted once, by caller; parts by stack. */
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_NONE, NULL) == 5);
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_UNMAP, NULL) == 4);
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_UNMAP, "madvise") == 4);
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_ALLOC, "fault") == 1);
	assert_true(f.unresolved > 0.00502 && f.unresolved < 0.00503);
	assert_int_equal(f.name_count, 1);
	assert_string_equal(f.names[0].name, "frobnicate");
	assert_int_equal(f.dropped, 0);
	lock_figures_clear(&f);
}

static void test_sides_without_stacks(void **state)
{
	struct lock_figures f = { 0 };
	struct entries_sum sum = { .kernel = ROLE_KERNEL(6, 12), .figures = &f };

	add_up(&sum, by_caller);
	entries_finish(&sum, 0);
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_NONE, NULL) == 5);
	assert_true(acquisitions(&f, "deferred-split", ROLE_SIDE_UNMAP, NULL) == 5);
	lock_figures_clear(&f);
}

/* Of 1,000 entries in interrupts 6 were zone-free's, which has 100: 6 of 1,000 missed matter. */
static void test_missed_probes(void **state)
{
	struct lock_figures f = { 0 };
	struct entries_sum sum = { .kernel = ROLE_KERNEL(6, 12), .figures = &f };

	add_up(&sum, by_caller);
	assert_int_equal(entries_missed(&sum, 0), 0);
	assert_int_equal(entries_missed(&sum, 50), 0);
	assert_int_equal(entries_missed(&sum, 1000), 6);
	entries_finish(&sum, 1000);
	assert_int_equal(f.dropped, 6);
	lock_figures_clear(&f);
}

static void test_missed_without_interrupts(void **state)
{
	struct lock_figures f = { 0 };
	struct entries_sum sum = { .kernel = ROLE_KERNEL(6, 12), .figures = &f };

	entries_finish(&sum, 7);
	assert_int_equal(f.dropped, 7);
	lock_figures_clear(&f);
}

static void test_whose_stack_is_wanted(void **state)
{
	assert_true(entries_wants_stack("deferred_split_folio", ROLE_KERNEL(6, 12)));
	assert_true(entries_wants_stack("deferred_split_folio.part.0", ROLE_KERNEL(6, 12)));
	assert_true(entries_wants_stack("list_lru_add", ROLE_KERNEL(6, 12)));
	assert_false(entries_wants_stack("folio_lruvec_lock_irqsave", ROLE_KERNEL(6, 12)));
	assert_false(entries_wants_stack("deferred_split_huge_page", ROLE_KERNEL(6, 12)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_of_both_keys),
		cmocka_unit_test(test_bad_text),
		cmocka_unit_test(test_deep_stack),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_sums_by_role_side_and_path),
		cmocka_unit_test(test_sides_without_stacks),
		cmocka_unit_test(test_missed_probes),
		cmocka_unit_test(test_missed_without_interrupts),
		cmocka_unit_test(test_whose_stack_is_wanted),
	};

	return cmocka_run_group_tests_name("entries", tests, NULL, NULL);
}
