// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Damage and internal errors: a number read from the volume can be wrong, one
 * of our own cannot, and says that it is an internal error.
 */
#include "check/damage.h"

#include <string.h>

#include "tap.h"

static void test_numbers(void)
{
	struct sparse s = { 0 };
	struct context cx;

	context_init(&cx);
	is_int(sparse_init(&s, &cx, 100), 0, "a set of 100 numbers");
	is_int(damage_add(&s, &cx, 99), 1, "its last one");
	is_int(damage_add(&s, &cx, 99), 0, "once more");
	is_int(damage_add(&s, &cx, 100), -EUCLEAN, "a number past it is damage");
	is_int(damage_forgive(&cx, -EUCLEAN), 0, "which can be forgiven");
	is_int(damage_forgive(&cx, -EINVAL), -EINVAL, "an internal error not");
	sparse_fini(&s);
}

static void test_text(void)
{
	struct context cx;

	context_init(&cx);
	fail(&cx, -EINVAL, "block map: block 3 after 4");
	is_int(damage_failed(&cx, -EINVAL), -EINVAL, "an internal error");
	ok(!strcmp(cx.failure, "internal error: block map: block 3 after 4"),
	   "says that it is one");
	fail(&cx, -EIO, "block 5");
	is_int(damage_failed(&cx, -EIO), -EIO, "another failure");
	ok(!strcmp(cx.failure, "block 5"), "is as it was");
}

int main(void)
{
	test_numbers();
	test_text();
	return tap_done();
}
