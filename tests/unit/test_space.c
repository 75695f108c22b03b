/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The model of an address space. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "common/cleanup.h"
#include "traces/space.h"

#define PAGE 0x1000ULL
#define HUGE_PAGE 0x200000ULL

static int setup(void **state)
{
	struct space *space;

	if (space_new(&space) < 0)
		return -1;
	*state = space;
	return 0;
}

static int teardown(void **state)
{
	space_free(*state);
	return 0;
}

static void map(struct space *space, uint64_t start, uint64_t end, uint32_t tag)
{
	const struct region r = {
		.start = start,
		.end = end,
		.prot = PROT_READ | PROT_WRITE,
		.map_flags = MAP_PRIVATE,
		.tag = tag,
	};

	assert_int_equal(space_map(space, &r), 0);
}

static void touch_all(struct space *space, uint64_t start, uint64_t end)
{
	uint64_t added;

	assert_int_equal(space_touch_range(space, start, end, &added), 0);
}

/* Region number i in address order. */
static const struct region *region_at(const struct space *space, size_t i)
{
	const struct region *r = space_find(space, 0);

	while (r && i--)
		r = space_find(space, r->end);
	assert_non_null(r);
	return r;
}

/* "10-30:1 30-40:2" in pages and tags. */
static void regions_are(const struct space *space, const char *expected)
{
	char text[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < space_count(space); i++) {
		const struct region *r = region_at(space, i);

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu-%llu:%u",
		                         i ? " " : "", (unsigned long long)(r->start / PAGE),
		                         (unsigned long long)(r->end / PAGE), r->tag);
	}
	assert_string_equal(text, expected);
}

static void test_regions_stay_in_order(void **state)
{
	map(*state, 30 * PAGE, 40 * PAGE, 3);
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	map(*state, 20 * PAGE, 30 * PAGE, 2);
	regions_are(*state, "10-20:1 20-30:2 30-40:3");
}

static void test_alike_neighbours_stay_apart(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	map(*state, 20 * PAGE, 30 * PAGE, 1);
	regions_are(*state, "10-20:1 20-30:1");
}

static void test_map_replaces_the_middle(void **state)
{
	map(*state, 10 * PAGE, 40 * PAGE, 1);
	map(*state, 20 * PAGE, 30 * PAGE, 2);
	regions_are(*state, "10-20:1 20-30:2 30-40:1");
}

static void test_map_replaces_several(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	map(*state, 22 * PAGE, 24 * PAGE, 2);
	map(*state, 30 * PAGE, 40 * PAGE, 3);
	map(*state, 15 * PAGE, 35 * PAGE, 4);
	regions_are(*state, "10-15:1 15-35:4 35-40:3");
}

static void test_map_forgets_touches(void **state)
{
	map(*state, 10 * PAGE, 40 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 40 * PAGE);
	map(*state, 20 * PAGE, 30 * PAGE, 2);
	assert_int_equal(space_resident_pages(*state), 20);
}

static void test_unmap_over_holes(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	map(*state, 30 * PAGE, 40 * PAGE, 2);
	assert_int_equal(space_unmap(*state, 5 * PAGE, 35 * PAGE), 0);
	regions_are(*state, "35-40:2");
}

static void test_backward_range_does_nothing(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	assert_int_equal(space_unmap(*state, 15 * PAGE, 12 * PAGE), 0);
	regions_are(*state, "10-20:1");
}

static void test_split_keeps_file_offsets(void **state)
{
	const struct region r = {
		.start = 10 * PAGE, .end = 20 * PAGE, .offset = 7 * PAGE, .file = 1
	};

	assert_int_equal(space_map(*state, &r), 0);
	assert_int_equal(space_unmap(*state, 12 * PAGE, 15 * PAGE), 0);
	assert_int_equal(region_at(*state, 0)->offset, 7 * PAGE);
	assert_int_equal(region_at(*state, 1)->offset, 12 * PAGE);
}

static void test_protect_splits(void **state)
{
	map(*state, 10 * PAGE, 40 * PAGE, 1);
	assert_int_equal(space_protect(*state, 20 * PAGE, 30 * PAGE, PROT_NONE), 0);
	regions_are(*state, "10-20:1 20-30:1 30-40:1");
	assert_int_equal(region_at(*state, 1)->prot, PROT_NONE);
	assert_int_equal(region_at(*state, 2)->prot, PROT_READ | PROT_WRITE);
}

static void test_lock_marks_only_its_range(void **state)
{
	map(*state, 10 * PAGE, 40 * PAGE, 1);
	assert_int_equal(space_lock(*state, 10 * PAGE, 20 * PAGE, true), 0);
	assert_true(region_at(*state, 0)->locked);
	assert_false(region_at(*state, 1)->locked);
}

static void test_move_shrinks_in_place(void **state)
{
	map(*state, 10 * PAGE, 40 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 40 * PAGE);
	assert_int_equal(space_move(*state, 10 * PAGE, 30 * PAGE, 10 * PAGE, 5 * PAGE, false), 0);
	regions_are(*state, "10-15:1");
	assert_int_equal(space_resident_pages(*state), 5);
}

static void test_move_grows_in_place(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 20 * PAGE);
	assert_int_equal(space_move(*state, 10 * PAGE, 10 * PAGE, 10 * PAGE, 30 * PAGE, false), 0);
	regions_are(*state, "10-40:1");
	assert_int_equal(space_resident_pages(*state), 10);
}

static void test_move_carries_touches(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	touch_all(*state, 12 * PAGE, 14 * PAGE);
	assert_int_equal(space_move(*state, 10 * PAGE, 10 * PAGE, 1000 * PAGE, 20 * PAGE, false),
	                 0);
	regions_are(*state, "1000-1020:1");
	assert_int_equal(space_touched_pages(*state, 1002 * PAGE, 1004 * PAGE), 2);
	assert_int_equal(space_resident_pages(*state), 2);
}

static void test_move_shrinks_on_the_way(void **state)
{
	map(*state, 10 * PAGE, 30 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 30 * PAGE);
	assert_int_equal(space_move(*state, 10 * PAGE, 20 * PAGE, 50 * PAGE, 5 * PAGE, false), 0);
	regions_are(*state, "50-55:1");
	assert_int_equal(space_resident_pages(*state), 5);
}

static void test_move_of_a_part_keeps_the_rest(void **state)
{
	map(*state, 10 * PAGE, 30 * PAGE, 1);
	assert_int_equal(space_move(*state, 15 * PAGE, 5 * PAGE, 50 * PAGE, 5 * PAGE, false), 0);
	regions_are(*state, "10-15:1 20-30:1 50-55:1");
}

static void test_move_of_several_regions(void **state)
{
	map(*state, 10 * PAGE, 12 * PAGE, 1);
	map(*state, 14 * PAGE, 16 * PAGE, 2);
	assert_int_equal(space_move(*state, 10 * PAGE, 8 * PAGE, 50 * PAGE, 8 * PAGE, false), 0);
	regions_are(*state, "50-52:1 54-56:2");
}

static void test_move_dontunmap_leaves_an_empty_region(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 20 * PAGE);
	assert_int_equal(space_move(*state, 10 * PAGE, 10 * PAGE, 50 * PAGE, 10 * PAGE, true), 0);
	regions_are(*state, "10-20:1 50-60:1");
	assert_int_equal(space_touched_pages(*state, 10 * PAGE, 20 * PAGE), 0);
	assert_int_equal(space_touched_pages(*state, 50 * PAGE, 60 * PAGE), 10);
}

static void test_move_of_length_zero_maps_again(void **state)
{
	const struct region r = { .start = 10 * PAGE, .end = 20 * PAGE, .file = 1, .tag = 9 };

	assert_int_equal(space_map(*state, &r), 0);
	touch_all(*state, 10 * PAGE, 20 * PAGE);
	assert_int_equal(space_move(*state, 14 * PAGE, 0, 50 * PAGE, 6 * PAGE, false), 0);
	regions_are(*state, "10-20:9 50-56:9");
	assert_int_equal(region_at(*state, 1)->offset, 4 * PAGE);
	assert_int_equal(space_resident_pages(*state), 10);
}

static void test_move_over_itself_is_impossible(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	assert_int_equal(space_move(*state, 10 * PAGE, 10 * PAGE, 15 * PAGE, 10 * PAGE, false),
	                 SPACE_IMPOSSIBLE);
	assert_int_equal(space_move(*state, UINT64_MAX, 10 * PAGE, 0, 10 * PAGE, false),
	                 SPACE_IMPOSSIBLE);
	regions_are(*state, "10-20:1");
}

static void test_find_gives_the_next_above(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	assert_int_equal(space_find(*state, 0)->tag, 1);
	assert_int_equal(space_find(*state, 20 * PAGE - 1)->tag, 1);
	assert_null(space_find(*state, 20 * PAGE));
}

static void test_mapped_bytes_are_clipped(void **state)
{
	map(*state, 10 * PAGE, 20 * PAGE, 1);
	map(*state, 30 * PAGE, 40 * PAGE, 2);
	assert_int_equal(space_mapped_bytes(*state, 15 * PAGE, 32 * PAGE), 7 * PAGE);
	assert_true(space_mapped(*state, 12 * PAGE, 20 * PAGE));
	assert_false(space_mapped(*state, 12 * PAGE, 21 * PAGE));
}

static void test_touch_counts_a_page_once(void **state)
{
	assert_int_equal(space_touch(*state, 5 * PAGE + 1), 1);
	assert_int_equal(space_touch(*state, 5 * PAGE + 7), 0);
	assert_true(space_touched(*state, 5 * PAGE));
	assert_false(space_touched(*state, 6 * PAGE));
}

static void test_discard_clears_part_of_a_huge_page(void **state)
{
	touch_all(*state, HUGE_PAGE, 6 * HUGE_PAGE);
	assert_int_equal(space_discard(*state, HUGE_PAGE, HUGE_PAGE + 0x7fb000), 0);
	assert_int_equal(space_resident_pages(*state), 5 * 512 - 0x7fb);
	assert_true(space_touched(*state, HUGE_PAGE + 0x7fb000));
}

static void test_far_pages_do_not_mix(void **state)
{
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(space_touch(*state, i << 36), 1);
	assert_int_equal(space_touched_pages(*state, 10ULL << 36, 20ULL << 36), 10);
	assert_int_equal(space_discard(*state, 0, 500ULL << 36), 0);
	assert_int_equal(space_resident_pages(*state), 500);
}

static void test_other_page_size(void **state)
{
	space_set_page_size(*state, 65536);
	assert_int_equal(space_touch(*state, 65536), 1);
	assert_int_equal(space_touch(*state, 65536 + 5 * PAGE), 0);
}

static void test_fork_copies_regions_and_touches(void **state)
{
	struct space *child;

	map(*state, 10 * PAGE, 20 * PAGE, 1);
	touch_all(*state, 10 * PAGE, 12 * PAGE);
	assert_int_equal(space_fork(*state, &child), 0);
	assert_int_equal(space_unmap(*state, 10 * PAGE, 11 * PAGE), 0);
	touch_all(child, 15 * PAGE, 16 * PAGE);
	regions_are(child, "10-20:1");
	regions_are(*state, "11-20:1");
	assert_int_equal(space_resident_pages(child), 3);
	assert_int_equal(space_resident_pages(*state), 1);
	space_free(child);
}

static void test_fork_protect_stays_apart(void **state)
{
	struct space *child;

	map(*state, 10 * PAGE, 20 * PAGE, 1);
	assert_int_equal(space_fork(*state, &child), 0);
	assert_int_equal(space_protect(child, 10 * PAGE, 20 * PAGE, PROT_NONE), 0);
	assert_int_equal(region_at(*state, 0)->prot, PROT_READ | PROT_WRITE);
	space_free(child);
}

/* Against a plain array of pages, with operations drawn from a fixed sequence. */
#define MODEL_PAGES 1500

struct naive {
	uint8_t tag[MODEL_PAGES]; /* 0: not mapped */
	bool touched[MODEL_PAGES];
};

static uint64_t draw(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (*seed >> 33) % below;
}

static void naive_move(struct naive *n, unsigned old, unsigned old_len, unsigned to)
{
	struct naive before = *n;

	for (unsigned i = 0; i < old_len; i++) {
		n->tag[to + i] = before.tag[old + i];
		n->touched[to + i] = before.touched[old + i];
	}
	for (unsigned i = 0; i < old_len; i++) {
		n->tag[old + i] = 0;
		n->touched[old + i] = false;
	}
}

static void step(struct space *space, struct naive *n, uint64_t *seed)
{
	unsigned at = (unsigned)draw(seed, MODEL_PAGES), to = (unsigned)draw(seed, MODEL_PAGES);
	unsigned most = MODEL_PAGES - (at > to ? at : to);
	/* Mostly short ranges, so that there are many regions. */
	unsigned len = 1 + (unsigned)draw(seed, most < 6 || !draw(seed, 100) ? most : 6);
	uint8_t tag = 1 + (uint8_t)draw(seed, 200);

	switch (draw(seed, 5)) {
	case 0:
		map(space, at * PAGE, (at + len) * PAGE, tag);
		memset(n->tag + at, tag, len);
		memset(n->touched + at, 0, len);
		break;
	case 1:
		assert_int_equal(space_unmap(space, at * PAGE, (at + len) * PAGE), 0);
		memset(n->tag + at, 0, len);
		memset(n->touched + at, 0, len);
		break;
	case 2:
		assert_int_equal(space_discard(space, at * PAGE, (at + len) * PAGE), 0);
		memset(n->touched + at, 0, len);
		break;
	case 3:
		assert_int_equal(space_touch(space, at * PAGE), !n->touched[at]);
		n->touched[at] = true;
		break;
	case 4:
		if (space_move(space, at * PAGE, len * PAGE, to * PAGE, len * PAGE, false) == 0 &&
		    to != at)
			naive_move(n, at, len, to);
		break;
	}
}

static void same(const struct space *space, const struct naive *n)
{
	uint64_t end = 0;
	size_t count = 0;

	for (unsigned i = 0; i < MODEL_PAGES; i++) {
		const struct region *r = space_find(space, i * PAGE);
		unsigned tag = r && r->start <= i * PAGE ? r->tag : 0;

		assert_int_equal(tag, n->tag[i]);
		assert_int_equal(space_touched(space, i * PAGE), n->touched[i]);
	}
	for (const struct region *r = space_find(space, 0); r; r = space_find(space, r->end)) {
		assert_true(r->start >= end && r->start < r->end);
		end = r->end;
		count++;
	}
	assert_int_equal(count, space_count(space));
}

/* A space and, now and then, its fork change in turns. */
static void test_agrees_with_a_plain_array(void **state)
{
	struct naive n[2] = { 0 };
	struct space *copy;
	uint64_t seed = 1;

	assert_int_equal(space_fork(*state, &copy), 0);
	for (unsigned i = 0; i < 40000; i++) {
		bool second = draw(&seed, 2);

		step(second ? copy : *state, &n[second], &seed);
		if (i % 256 == 0) {
			same(*state, &n[0]);
			same(copy, &n[1]);
		}
		if (i % 2048 == 0) {
			space_free(copy);
			assert_int_equal(space_fork(*state, &copy), 0);
			n[1] = n[0];
		}
	}
	assert_true(space_count(*state) > 200);
	space_free(copy);
}

static void test_many_regions_come_and_go(void **state)
{
	const uint64_t count = 100000;
	uint64_t at = 0;

	for (uint64_t i = 0; i < count; i++) {
		at = (at + 38197) % count; /* prime to count: every place once, out of order */
		map(*state, 2 * at * PAGE, (2 * at + 1) * PAGE, 1);
	}
	assert_int_equal(space_count(*state), count);
	assert_int_equal(space_unmap(*state, PAGE, (2 * count - 3) * PAGE), 0);
	regions_are(*state, "0-1:1 199998-199999:1");
}

#define SPACE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SPACE_TEST(test_regions_stay_in_order),
		SPACE_TEST(test_alike_neighbours_stay_apart),
		SPACE_TEST(test_map_replaces_the_middle),
		SPACE_TEST(test_map_replaces_several),
		SPACE_TEST(test_map_forgets_touches),
		SPACE_TEST(test_unmap_over_holes),
		SPACE_TEST(test_backward_range_does_nothing),
		SPACE_TEST(test_split_keeps_file_offsets),
		SPACE_TEST(test_protect_splits),
		SPACE_TEST(test_lock_marks_only_its_range),
		SPACE_TEST(test_move_shrinks_in_place),
		SPACE_TEST(test_move_grows_in_place),
		SPACE_TEST(test_move_carries_touches),
		SPACE_TEST(test_move_shrinks_on_the_way),
		SPACE_TEST(test_move_of_a_part_keeps_the_rest),
		SPACE_TEST(test_move_of_several_regions),
		SPACE_TEST(test_move_dontunmap_leaves_an_empty_region),
		SPACE_TEST(test_move_of_length_zero_maps_again),
		SPACE_TEST(test_move_over_itself_is_impossible),
		SPACE_TEST(test_find_gives_the_next_above),
		SPACE_TEST(test_mapped_bytes_are_clipped),
		SPACE_TEST(test_touch_counts_a_page_once),
		SPACE_TEST(test_discard_clears_part_of_a_huge_page),
		SPACE_TEST(test_far_pages_do_not_mix),
		SPACE_TEST(test_other_page_size),
		SPACE_TEST(test_fork_copies_regions_and_touches),
		SPACE_TEST(test_fork_protect_stays_apart),
		SPACE_TEST(test_agrees_with_a_plain_array),
		SPACE_TEST(test_many_regions_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
