// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fsck -y under power cuts: at every write and flush of its commit, torn or
 * reordered up to a flush.
 *
 * Whenever the power goes off, what is left is the old state or the new one: a
 * second check finds what the first one found, or nothing, and all files read
 * back.
 */
#include <stdlib.h>
#include <string.h>

#include "fsck_rig.h"
#include "fsck_run.h"
#include "tap.h"

static const struct options yes = { .mode = OPTIONS_YES };

static int repair(void *arg, struct context *cx, struct dev *dev)
{
	(void)arg;
	return fsck_run(cx, dev, &yes);
}

static enum cut_state judge(void *arg)
{
	int left = rig_judge(arg);

	if (left && left != SESSION_UNCORRECTED)
		return CUT_BAD;
	return left ? CUT_OLD : CUT_NEW;
}

static void test_cuts(struct rig *r)
{
	const struct cut cut = rig_cut(r, repair, judge, r);
	struct cut_counts c[CUT_WAYS];
	unsigned int i;

	cut_all(&cut, c);
	for (i = 0; i < CUT_WAYS; i++) {
		is_int(c[i].bad, 0, cut_ways[i].how);
		ok(c[i].old && c[i].new,
		   "the old state %u times, the new one %u times", c[i].old,
		   c[i].new);
	}
	is_int(c[0].ret, SESSION_REPAIRED, "without a cut it is repaired");
	is_int(rig_judge(r), 0, "and clean");
}

static void test_untouched(struct rig *r)
{
	const struct fault_plan plan = {
		.kind = FAULT_NONE, .counted = FAULT_WRITES | FAULT_FLUSHES,
	};
	const struct cut cut = rig_cut(r, repair, judge, r);
	char *repaired = malloc(r->size);
	struct cut_end end;

	memcpy(r->bytes, r->before, r->size);
	end = cut_run(&cut, &plan);
	is_int(end.ret, SESSION_REPAIRED, "a repair");
	memcpy(repaired, r->bytes, r->size);
	end = cut_run(&cut, &plan);
	is_int(end.ret, 0, "a second one has nothing to do");
	is_int(end.counted, 0, "and writes nothing");
	ok(!memcmp(r->bytes, repaired, r->size), "and changes nothing");
	free(repaired);
}

int main(void)
{
	struct rig r;

	rig_open(&r);
	test_cuts(&r);
	test_untouched(&r);
	rig_close(&r);
	return tap_done();
}
