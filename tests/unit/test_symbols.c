/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel symbols by address, from a /proc of our own, and sums by role over stacks of them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "capture/stack_roles.h"
#include "capture/symbols.h"
#include "capture/sysfile.h"
#include "common/cleanup.h"

static char root[] = "/tmp/mmtape-test-symbols-XXXXXX";

static void put_table(const char *text)
{
	char full[512];
	FILE *f;

	assert_int_equal(sysfile_path(full, sizeof(full), "/proc/kallsyms"), 0);
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int make_root(void **state)
{
	char path[128];

	if (!mkdtemp(root))
		return -1;
	sysfile_set_root(root);
	snprintf(path, sizeof(path), "%s/proc", root);
	return mkdir(path, 0700);
}

static int remove_root(void **state)
{
	char path[128];

	sysfile_set_root("");
	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	unlink(path);
	snprintf(path, sizeof(path), "%s/proc", root);
	rmdir(path);
	return rmdir(root);
}

#define TABLE                                                                                      \
	"0000000000000000 A per_cpu_start\n"                                                       \
	"ffffffff81001000 t _raw_spin_lock_irqsave\n"                                              \
	"ffffffff81003000 T folio_batch_move_lru\n"                                                \
	"ffffffff81002000 t folio_lruvec_lock_irqsave\n"                                           \
	"ffffffff81004000 t alias_local\n"                                                         \
	"ffffffff81004000 T alias_global\n"                                                        \
	"ffffffff81005000 t __folio_batch_add_and_move\n"                                          \
	"ffffffff81006000 T __x64_sys_madvise\n"                                                   \
	"ffffffff81007000 t _raw_spin_unlock_irqrestore\n"                                         \
	"ffffffff81008000 t nobody_knows\n"                                                        \
	"ffffffff81009000 T _etext\n"                                                              \
	"ffffffff82000000 D some_data\n"                                                           \
	"ffffffffc0001000 t module_function\t[module]\n"

static struct symbols *load(const char *text)
{
	struct symbols *s = NULL;

	put_table(text);
	assert_int_equal(symbols_new(&s), 0);
	return s;
}

static void test_find(void **state)
{
	struct symbols *s = load(TABLE);

	assert_null(symbols_find(s, 0));
	assert_null(symbols_find(s, 0xffffffff81000fff));
	assert_string_equal(symbols_find(s, 0xffffffff81001000), "_raw_spin_lock_irqsave");
	assert_string_equal(symbols_find(s, 0xffffffff81002fff), "folio_lruvec_lock_irqsave");
	assert_string_equal(symbols_find(s, 0xffffffff81004010), "alias_global");
	assert_string_equal(symbols_find(s, 0xffffffff82000000), "_etext");
	assert_string_equal(symbols_find(s, UINT64_MAX), "module_function");
	assert_int_equal(symbols_start(s, 0xffffffff81002fff), 0xffffffff81002000);
	assert_int_equal(symbols_start(s, 5), 0);
	symbols_free(s);
}

static void test_hidden(void **state)
{
	struct symbols *s;
	char why[256];

	put_table("0000000000000000 T _stext\n0000000000000000 t other\n");
	assert_int_equal(symbols_new(&s), -EPERM);
	assert_int_equal(symbols_explain(why, sizeof(why)), -EPERM);
	assert_non_null(strstr(why, "kptr_restrict"));
}

static void test_low_data_is_not_hidden(void **state)
{
	char text[8192] = "", why[256];

	for (int i = 0; i < 100; i++)
		strcat(text, "0000000000000000 A per_cpu_thing\n");
	strcat(text, "ffffffff81000000 T _stext\n");
	put_table(text);
	assert_int_equal(symbols_explain(why, sizeof(why)), 0);
}

static void test_nonsense(void **state)
{
	static const char *const bad[] = { "x\n",
		                           "ffffffff81000000\n",
		                           "ffffffff81000000 T\n",
		                           "ffffffff81000000 T \n",
		                           "ffffffff81000000 TT x\n",
		                           "fffffffffffffffff T x\n" };
	struct symbols *s;
	char why[256];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		put_table(bad[i]);
		assert_int_equal(symbols_new(&s), -EBADMSG);
		assert_int_equal(symbols_explain(why, sizeof(why)), -EBADMSG);
	}
	put_table("");
	assert_int_equal(symbols_new(&s), -ENOENT);
}

static const struct stack_sum *place(struct stack_roles *roles, const uint64_t *chain, size_t count)
{
	int r = stack_roles_place(roles, chain, count);

	assert_true(r >= 0);
	return stack_roles_sum(roles, (size_t)r);
}

static void test_roles_of_stacks(void **state)
{
	const uint64_t lock[] = { 0xffffffff81001010, 0xffffffff81002010, 0xffffffff81003010,
		                  0xffffffff81006010 };
	const uint64_t unlock[] = { 0xffffffff81007010, 0xffffffff81003010 };
	const uint64_t lost[] = { 0xffffffff81007010, 0xffffffff81005010 };
	const uint64_t taken[] = { 0xffffffff81001010, 0xffffffff81005010 };
	const uint64_t unknown[] = { 0xffffffff81001010, 0xffffffff81008010 };
	struct symbols *s = load(TABLE);
	struct stack_roles *roles;

	assert_int_equal(stack_roles_new(&roles, s, ROLE_KERNEL(6, 12)), 0);
	assert_string_equal(place(roles, lock, 4)->role, "lru");
	assert_string_equal(place(roles, lock, 4)->path, "madvise");
	assert_true(place(roles, lock, 4)->in_lock);
	assert_false(place(roles, lock + 1, 3)->in_lock);
	assert_string_equal(place(roles, unlock, 2)->role, "lru");
	assert_string_equal(place(roles, lost, 2)->role, "lru");
	assert_string_equal(place(roles, taken, 2)->role, "lru");
	assert_string_equal(place(roles, unknown, 2)->role, "unresolved");
	assert_string_equal(place(roles, lock, 0)->role, "unresolved");
	assert_false(place(roles, lock, 0)->in_lock);
	stack_roles_free(roles);
	symbols_free(s);
}

/* A return address may be the first byte of the next function. */
static void test_return_addresses(void **state)
{
	const uint64_t chain[] = { 0xffffffff81001010, 0xffffffff81003000 };
	struct symbols *s = load(TABLE);
	struct stack_roles *roles;

	assert_int_equal(stack_roles_new(&roles, s, ROLE_KERNEL(6, 12)), 0);
	assert_string_equal(place(roles, chain, 2)->role, "lru");
	stack_roles_free(roles);
	symbols_free(s);
}

static void fill(struct lock_figure *f, const struct stack_sum *sum, const void *context)
{
	f->contentions = (f->contentions < 0 ? 0 : f->contentions) + (double)sum->count;
}

static double count_of(const struct stack_sum *sum)
{
	return (double)sum->count;
}

static void test_unresolved_is_named_by_the_innermost_function(void **state)
{
	const uint64_t unknown[] = { 0xffffffff81001010, 0xffffffff81008010 };
	const uint64_t nameless[] = { 0x1000 }, lru[] = { 0xffffffff81001010, 0xffffffff81002010 };
	struct symbols *s = load(TABLE);
	struct lock_figures f = { 0 };
	struct stack_roles *roles;

	assert_int_equal(stack_roles_new(&roles, s, ROLE_KERNEL(6, 12)), 0);
	for (int i = 0; i < 2; i++) {
		stack_roles_sum(roles, (size_t)stack_roles_place(roles, unknown, 2))->count += 3;
		stack_roles_sum(roles, (size_t)stack_roles_place(roles, lru, 2))->count += 5;
	}
	stack_roles_sum(roles, (size_t)stack_roles_place(roles, nameless, 1))->count = 0;
	assert_int_equal(stack_roles_unresolved(roles, &f, count_of), 0);
	assert_int_equal(f.name_count, 1);
	assert_string_equal(f.names[0].name, "nobody_knows");
	assert_true(f.names[0].amount == 6);
	lock_figures_clear(&f);
	stack_roles_free(roles);
	symbols_free(s);
}

static void test_figures(void **state)
{
	const uint64_t lock[] = { 0xffffffff81001010, 0xffffffff81002010 };
	struct symbols *s = load(TABLE);
	struct lock_figures f = { 0 };
	struct stack_roles *roles;
	int number;

	assert_int_equal(stack_roles_new(&roles, s, ROLE_KERNEL(6, 12)), 0);
	number = stack_roles_place(roles, lock, 2);
	stack_roles_sum(roles, (size_t)number)->count = 7;
	assert_int_equal(stack_roles_figures(roles, &f, fill, NULL), 0);
	assert_true(lock_figures_at(&f, "lru", ROLE_SIDE_NONE, NULL)->contentions == 7);
	assert_true(lock_figures_at(&f, "zone-free", ROLE_SIDE_NONE, NULL)->contentions == 0);
	lock_figures_clear(&f);
	stack_roles_reset(roles);
	assert_int_equal(stack_roles_sum(roles, (size_t)number)->count, 0);
	stack_roles_free(roles);
	symbols_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_low_data_is_not_hidden),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_roles_of_stacks),
		cmocka_unit_test(test_return_addresses),
		cmocka_unit_test(test_figures),
		cmocka_unit_test(test_unresolved_is_named_by_the_innermost_function),
	};

	return cmocka_run_group_tests(tests, make_root, remove_root);
}
