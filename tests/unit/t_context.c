// SPDX-License-Identifier: GPL-2.0-or-later
/* The failure slot and the cancel flag. */
#include "base/context.h"

#include <errno.h>
#include <string.h>

#include "tap.h"

static void test_failure(void)
{
	struct context cx, child;
	char longer[2 * FAILURE_TEXT_MAX];

	context_init(&cx);
	is_str(cx.failure, "", "no failure at first");
	is_int(fail(&cx, -EIO, "read of block %d", 7), -EIO,
	       "fail() returns the number it was given");
	is_str(cx.failure, "read of block 7", "and keeps the text");

	context_child(&cx, &child);
	is_str(child.failure, "", "a child starts without failure");
	fail(&child, -ENOMEM, "table of segments");
	is_str(cx.failure, "read of block 7", "a child's failure is its own");
	context_adopt(&cx, &child);
	is_str(cx.failure, "table of segments", "until it is adopted");

	fail_said(&child, -ENOENT, "checkpoint %d: does not exist", 7);
	is_int(child.said, -ENOENT, "a reason that was said is known");
	context_adopt(&cx, &child);
	is_int(cx.said, -ENOENT, "also to who adopts it");
	fail(&cx, -ENOENT, "open");
	is_int(cx.said, 0, "the next failure has said none");

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	fail(&cx, -EIO, "%s", longer);
	is_int(strlen(cx.failure), FAILURE_TEXT_MAX - 1,
	       "a long text is cut to the slot");
	fail_clear(&cx);
	is_str(cx.failure, "", "fail_clear() empties the slot");
}

static void test_cancel(void)
{
	volatile sig_atomic_t stop = 0;
	struct context cx;

	context_init(&cx);
	is_int(context_cancelled(&cx), 0, "no flag: never cancelled");
	cx.cancel = &stop;
	is_int(context_cancelled(&cx), 0, "flag down: not cancelled");
	stop = 1;
	is_int(context_cancelled(&cx), -EINTR, "flag up: -EINTR");
}

int main(void)
{
	test_failure();
	test_cancel();
	return tap_done();
}
