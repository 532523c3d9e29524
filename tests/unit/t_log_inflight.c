// SPDX-License-Identifier: GPL-2.0-or-later
/* Blocks on their way to the device: who has to wait, and for how long. */
#include "log/inflight.h"

#include "tap.h"

static void test_ranges(struct context *cx)
{
	struct inflight f;
	struct inflight_log *a, *b;

	ok(!inflight_init(&f, cx, 2), "a list of two logs");
	ok(!inflight_has(&f, 0) && !inflight_has(&f, 100),
	   "nothing is on its way at first");
	a = inflight_enter(&f, 100, 8);
	b = inflight_enter(&f, 108, 1);
	ok(a && b, "two logs leave");
	ok(!inflight_enter(&f, 300, 1), "there is no room for a third");
	ok(!inflight_has(&f, 99) && inflight_has(&f, 100) &&
	   inflight_has(&f, 107) && inflight_has(&f, 108) &&
	   !inflight_has(&f, 109),
	   "their blocks, and no others, are waited for");
	inflight_arrived(&f, a, false);
	ok(!inflight_has(&f, 107) && inflight_has(&f, 108),
	   "one has arrived");
	a = inflight_enter(&f, 300, 2);
	ok(a && inflight_has(&f, 301), "its room is another's");
	inflight_arrived(&f, a, false);
	inflight_arrived(&f, b, false);
	ok(!inflight_has(&f, 108) && !inflight_has(&f, 300), "all have");
	inflight_fini(&f);
}

/* A reader of what was to be there must hear of it. */
static void test_lost(struct context *cx)
{
	struct inflight f;
	struct inflight_log *a;

	inflight_init(&f, cx, 1);
	a = inflight_enter(&f, 5, 1);
	inflight_arrived(&f, a, true);
	ok(inflight_has(&f, 5) && inflight_has(&f, 6),
	   "once one is lost, whoever reads asks what happened");
	inflight_fini(&f);
}

int main(void)
{
	struct context cx;

	context_init(&cx);
	test_ranges(&cx);
	test_lost(&cx);
	return tap_done();
}
